package jsonview

import (
	"io"

	"kolla.openstack.org/kolla/internal/base/foreign"
)

// terraformVersion is the release of Terraform whose options and JSON kolla's are like. Its
// clients ask for it before they use them.
const terraformVersion = "1.14.0"

// versionJSON is what `terraform version -json` prints, and the version of kolla.
type versionJSON struct {
	Kolla     string   `json:"kolla_version"`
	Terraform string   `json:"terraform_version"`
	Platform  string   `json:"platform"`
	Providers struct{} `json:"provider_selections"`
	Outdated  bool     `json:"terraform_outdated"`
}

// Version writes the version of kolla and its platform, such as linux_amd64.
func Version(w io.Writer, version, platform string) error {
	return foreign.JSON(w, versionJSON{version, terraformVersion, platform, struct{}{}, false}, "  ")
}

package jsonview

import (
	"io"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/present/report"
)

// validationVersion is the version of the format of `terraform validate -json`.
const validationVersion = "1.0"

// validationJSON contains the diagnostics of a configuration in that format.
type validationJSON struct {
	FormatVersion string            `json:"format_version"`
	Valid         bool              `json:"valid"`
	ErrorCount    int               `json:"error_count"`
	WarningCount  int               `json:"warning_count"`
	Diagnostics   []*diagnosticJSON `json:"diagnostics"`
}

// Validation writes the diagnostics of a configuration for programs. Files are by file
// name, as in configs.Config.Files; other files are not quoted.
func Validation(w io.Writer, diags hcl.Diagnostics, files map[string]*hcl.File) error {
	out := validationJSON{FormatVersion: validationVersion, Valid: !diags.HasErrors(), Diagnostics: []*diagnosticJSON{}}
	for _, d := range report.InFileOrder(diags) {
		if d.Severity == hcl.DiagWarning {
			out.WarningCount++
		} else {
			out.ErrorCount++
		}
		shown := ofConfiguration(d, files)
		shown.Summary = report.Headline(shown.Summary)
		out.Diagnostics = append(out.Diagnostics, shown)
	}
	return foreign.JSON(w, out, "  ")
}

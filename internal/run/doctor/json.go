package doctor

import (
	"io"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
)

// jsonFormat is the version of the JSON. A new minor version only adds keys.
const jsonFormat = "1.0"

type (
	reportJSON struct {
		Format     string      `json:"format_version"`
		Cloud      string      `json:"cloud"`
		Server     string      `json:"server"`
		Clean      bool        `json:"clean"`
		Errors     int         `json:"error_count"`
		Warnings   int         `json:"warning_count"`
		NotChecked int         `json:"not_checked_count"`
		Checks     []checkJSON `json:"checks"`
	}
	checkJSON struct {
		Name        string            `json:"name"`
		Description string            `json:"description"`
		NotChecked  string            `json:"not_checked,omitempty"`
		Findings    []cluster.Finding `json:"findings"`
	}
)

// JSON writes the report as JSON.
func (r Report) JSON(out io.Writer) error {
	doc := reportJSON{Format: jsonFormat, Cloud: r.Cloud, Server: r.Server, Clean: r.Clean(), Checks: []checkJSON{}}
	doc.Errors, doc.Warnings, doc.NotChecked = r.Count()
	for _, result := range r.Results {
		doc.Checks = append(doc.Checks, checkJSON{result.Check.Name, result.Check.Description, result.NotChecked, append([]cluster.Finding{}, result.Findings...)})
	}
	return foreign.JSON(out, doc, "  ")
}

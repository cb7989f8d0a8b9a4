package doctor

import (
	"io"

	"kolla.openstack.org/kolla/internal/base/foreign"
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
		Name        string        `json:"name"`
		Description string        `json:"description"`
		NotChecked  string        `json:"not_checked,omitempty"`
		Findings    []findingJSON `json:"findings"`
	}
	findingJSON struct {
		Severity Severity `json:"severity"`
		Subject  string   `json:"subject"`
		Problem  string   `json:"problem"`
		Reason   string   `json:"reason"`
		Next     string   `json:"next_step"`
	}
)

// JSON writes the report as JSON.
func (r Report) JSON(out io.Writer) error {
	doc := reportJSON{Format: jsonFormat, Cloud: r.Cloud, Server: r.Server, Clean: r.Clean(), Checks: []checkJSON{}}
	doc.Errors, doc.Warnings, doc.NotChecked = r.Count()
	for _, result := range r.Results {
		check := checkJSON{Name: result.Check.Name, Description: result.Check.Description, NotChecked: result.NotChecked, Findings: []findingJSON{}}
		for _, f := range result.Findings {
			check.Findings = append(check.Findings, findingJSON(f))
		}
		doc.Checks = append(doc.Checks, check)
	}
	return foreign.JSON(out, doc, "  ")
}

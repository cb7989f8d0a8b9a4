package view

import (
	"io"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/foreign"
)

// validationVersion is that of the shape of `terraform validate -json`.
const validationVersion = "1.0"

// validationJSON is a configuration's diagnostics in that shape.
type validationJSON struct {
	FormatVersion string            `json:"format_version"`
	Valid         bool              `json:"valid"`
	ErrorCount    int               `json:"error_count"`
	WarningCount  int               `json:"warning_count"`
	Diagnostics   []*diagnosticJSON `json:"diagnostics"`
}

// ValidationJSON writes what is wrong with a configuration for programs. Files are by
// file name, as in configs.Config.Files; what is not among them is not quoted.
func ValidationJSON(w io.Writer, diags hcl.Diagnostics, files map[string]*hcl.File) error {
	out := validationJSON{FormatVersion: validationVersion, Valid: !diags.HasErrors(), Diagnostics: []*diagnosticJSON{}}
	for _, d := range inFileOrder(diags) {
		if d.Severity == hcl.DiagWarning {
			out.WarningCount++
		} else {
			out.ErrorCount++
		}
		shown := ofConfiguration(d, files)
		shown.Summary = headline(shown.Summary)
		out.Diagnostics = append(out.Diagnostics, shown)
	}
	return writeJSON(w, out)
}

// writeJSON writes a document that people may read as well.
func writeJSON(w io.Writer, v any) error {
	return foreign.JSON(w, v, "  ")
}

package diag

import "github.com/hashicorp/hcl/v2"

// Fact describes the value of a reference in the expression of a diagnostic, as
// `terraform validate -json` does.
type Fact struct {
	Reference string `json:"traversal"` // as it is written: `var.sizes["small"]`
	Statement string `json:"statement"` // `is "x"`, `is list of 3 elements`, `has a sensitive value`
}

// Facts are the Extra of a diagnostic, in the order of their references. Renderers get facts
// instead of values, because they do not know which values are secret.
type Facts []Fact

// FactsOf returns the facts of a diagnostic.
func FactsOf(d *hcl.Diagnostic) Facts {
	found, _ := hcl.DiagnosticExtra[Facts](d)
	return found
}

package lang

import (
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/internal/diag"
)

// Advice reports whether a diagnostic is a warning about the configuration itself. Commands
// that only look something up do not show advice.
func Advice(d *hcl.Diagnostic) bool { return diag.Advice(d) }

// Quotable reports whether output may show the source lines of a diagnostic. It may not if
// they contain a secret.
func Quotable(d *hcl.Diagnostic) bool { return diag.Quotable(d) }

// Fact describes the value of a reference in the expression of a diagnostic.
type Fact = diag.Fact

// Facts are the Extra of a diagnostic, in the order of their references.
type Facts = diag.Facts

// FactsOf returns the facts of a diagnostic.
func FactsOf(d *hcl.Diagnostic) Facts { return diag.FactsOf(d) }

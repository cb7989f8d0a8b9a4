package eval

import (
	"fmt"

	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// Constant returns an environment without names. It evaluates the values that are needed before
// the order of evaluation is known.
func Constant(report *diag.Reporter, decisions *Decisions, memo *Memo, functions map[string]function.Function) *Env {
	return &Env{Report: report, Decisions: decisions, Memo: memo, Scope: NewScope(nil), Functions: functions}
}

// Literal evaluates a string argument in an environment without names. A reference in the
// argument is an error.
func Literal(e *Env, b *source.Block, name string) string {
	attr := b.Attributes[name]
	if attr != nil && len(attr.Expr.Variables()) > 0 {
		e.Report.Error(attr.Expr.Range(), fmt.Sprintf("Unsuitable value for %q", name), "It must be a plain string in quotes, because it is read before anything is evaluated.")
		return ""
	}
	return String(e, b, name)
}

package lang

import (
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// facts are what an expression of the evaluator's refers to.
func (e *evaluator) facts(expr hcl.Expression) diag.Facts {
	refs := e.memo.references(expr)
	ctx, ok := e.context(expr, refs)
	if !ok {
		return nil
	}
	return values.StoodFor(refs, ctx)
}

// unmetCondition says that a condition of a block is not met, with what it refers to. It is a
// warning or an error at a place of its own.
func (e *evaluator) unmetCondition(severity hcl.DiagnosticSeverity, at hcl.Range, b *source.Block, summary, detail string) {
	e.report.Report(severity, e.facts(b.Attributes["condition"].Expr), at, summary, detail)
}

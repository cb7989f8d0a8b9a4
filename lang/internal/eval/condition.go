package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// facts returns the values that an expression refers to.
func facts(e *Env, expr hcl.Expression) diag.Facts {
	refs := e.Memo.References(expr)
	ctx, ok := context(e, expr, refs)
	if !ok {
		return nil
	}
	return values.StoodFor(refs, ctx)
}

// UnmetCondition is a diagnostic about a condition that is not met, with the values that it
// refers to. It is a warning or an error, and has its own place.
func UnmetCondition(e *Env, severity hcl.DiagnosticSeverity, at hcl.Range, b *source.Block, summary, detail string) {
	e.Report.Report(severity, facts(e, b.Attributes["condition"].Expr), at, summary, detail)
}

// Condition evaluates the condition of a block, and returns a diagnostic if it is not met. A
// condition that is not known yet counts as met.
func Condition(e *Env, b *source.Block) (ok bool, message string) {
	condition, ok := Attribute(e, b, "condition", cty.Bool)
	condition, _ = condition.Unmark()
	if !ok || condition.True() {
		return true, ""
	}
	text, ok := Attribute(e, b, "error_message", cty.String)
	switch {
	case !ok:
		return false, "It does not meet the condition."
	case text.ContainsMarked():
		return false, "It does not meet the condition. The message is not shown, because it holds a sensitive value."
	}
	return false, text.AsString()
}

// Preconditions reports the preconditions of a block, or of the lifecycle block in it, that are
// not met. The block may be nil.
func Preconditions(e *Env, b *source.Block) {
	if b == nil {
		return
	}
	if l := b.One("lifecycle", ""); l != nil {
		b = l
	}
	for _, p := range b.All("precondition") {
		if ok, message := Condition(e, p); !ok {
			UnmetCondition(e, hcl.DiagError, p.AttributeRange("condition"), p, "Precondition not met", message)
		}
	}
}

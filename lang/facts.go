package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// Fact is what something stood for that the expression of a diagnostic refers to, as
// `terraform validate -json` has it.
type Fact struct {
	Reference string // as it is written: `var.sizes["small"]`
	Statement string // `is "x"`, `is list of 3 elements`, `has a sensitive value`
}

// Facts are on diagnostics, as Extra, in the order of their references. Renderers get them
// instead of values: here it is known what nobody may see.
type Facts []Fact

// FactsOf are those of a diagnostic.
func FactsOf(d *hcl.Diagnostic) Facts {
	found, _ := hcl.DiagnosticExtra[Facts](d)
	return found
}

// stoodFor says what references stand for; of those that have no value, nothing.
func stoodFor(refs []hcl.Traversal, ctx *hcl.EvalContext) Facts {
	var out Facts
	for _, t := range refs {
		reference := string(hclwrite.TokensForTraversal(t).Bytes())
		v, diags := t.TraverseAbs(ctx)
		if diags.HasErrors() || slices.ContainsFunc(out, func(f Fact) bool { return f.Reference == reference }) {
			continue
		}
		if statement := statementOf(t, v); statement != "" {
			out = append(out, Fact{reference, statement})
		}
	}
	slices.SortFunc(out, func(a, b Fact) int { return strings.Compare(a.Reference, b.Reference) })
	return out
}

// factLength is how many characters of a text a fact has.
const factLength = 60

// statementOf says what a reference stands for. Of what has parts it says only how many;
// where a name or a text looks like a secret, nothing.
func statementOf(t hcl.Traversal, v cty.Value) string {
	secretly := slices.ContainsFunc(t, func(step hcl.Traverser) bool {
		attr, ok := step.(hcl.TraverseAttr)
		return ok && isSecretName(attr.Name)
	})
	switch {
	case mark.IsDeferred(v):
		return "will be known only after the apply"
	case secretly, mark.IsSensitive(v), mark.IsGenerated(v):
		return "has a sensitive value"
	case !v.IsKnown(): // what that comes from was reported
		return ""
	}
	v, _ = v.Unmark()
	switch typ := v.Type(); {
	case v.IsNull():
		return "is null"
	case typ == cty.String && (credentialsInURL.MatchString(v.AsString()) || mark.HasToken(v.AsString())):
		return "has a sensitive value"
	case typ == cty.String:
		text := []rune(v.AsString())
		if len(text) > factLength {
			text = append(text[:factLength:factLength], '…')
		}
		return "is " + strconv.Quote(string(text))
	case typ.IsPrimitiveType():
		return "is " + textOf(v)
	case typ.IsObjectType():
		return "is object with " + counted(v.LengthInt(), "attribute")
	case typ.IsCapsuleType(): // of the language itself
		return ""
	case typ.IsMapType():
		return "is map with " + counted(v.LengthInt(), "element")
	case typ.IsSetType():
		return "is set of " + counted(v.LengthInt(), "element")
	}
	return "is list of " + counted(v.LengthInt(), "element")
}

// counted gives "1 element", "2 elements".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// facts are what an expression of the evaluator's refers to.
func (e *evaluator) facts(expr hcl.Expression) Facts {
	refs := e.memo.references(expr)
	ctx, ok := e.context(expr, refs)
	if !ok {
		return nil
	}
	return stoodFor(refs, ctx)
}

// unmetCondition says that a condition of a block is not met, with what it refers to. It is a
// warning or an error at a place of its own.
func (e *evaluator) unmetCondition(severity hcl.DiagnosticSeverity, at hcl.Range, b *source.Block, summary, detail string) {
	e.report.Report(severity, e.facts(b.Attributes["condition"].Expr), at, summary, detail)
}

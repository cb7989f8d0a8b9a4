package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Console evaluates expressions as if they stood in the configuration, outside of all blocks.
// In a configuration that could not be loaded every value is unknown.
type Console struct{ evaluator *eval.Env }

// Evaluate evaluates an expression. Name is the name of the file in the ranges of diagnostics.
// Parts of the value that must not be shown are marked; view.Value prints them accordingly.
func (c *Console) Evaluate(expression, name string) (cty.Value, hcl.Diagnostics) {
	expr, diags := syntax.Expression([]byte(expression), name, hcl.InitialPos)
	if diags.HasErrors() || c.evaluator == nil {
		return cty.DynamicVal, diags
	}
	return c.evaluateParsed(expr)
}

func (c *Console) evaluateParsed(expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	e := *c.evaluator
	e.Report, e.Decisions = diag.New(), eval.NewDecisions()
	e.Memo.RenewBudget()
	value := e.Value(expr)
	return value, e.Report.Sorted()
}

// EvaluateTyped is Evaluate for the console: type(X) returns the type of X as text, and no
// value. For all other expressions the type is empty.
func (c *Console) EvaluateTyped(expression, name string) (value cty.Value, typ string, diags hcl.Diagnostics) {
	expr, diags := syntax.Expression([]byte(expression), name, hcl.InitialPos)
	if diags.HasErrors() || c.evaluator == nil {
		return cty.DynamicVal, "", diags
	}
	call, ok := expr.(*hclsyntax.FunctionCallExpr)
	if at, wrong := typeWithout(expr); wrong {
		r := diag.New()
		r.Error(at, "A value in parentheses expected", "type(VALUE) gives the type of one value, such as type(cloud.name).")
		return cty.DynamicVal, "", r.All()
	}
	if !ok || call.Name != "type" {
		value, diags = c.evaluateParsed(expr)
		return value, "", diags
	}
	value, diags = c.evaluateParsed(call.Args[0])
	if diags.HasErrors() {
		return cty.DynamicVal, "", diags
	}
	var b strings.Builder
	values.WriteType(&b, value.Type(), value, 0)
	return value, b.String(), diags
}

// typeWithout reports a `type` that does not say of what one value.
func typeWithout(expr hclsyntax.Expression) (at hcl.Range, wrong bool) {
	switch expr := expr.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return expr.SrcRange, expr.Traversal.RootName() == "type"
	case *hclsyntax.FunctionCallExpr:
		return expr.Range(), expr.Name == "type" && (len(expr.Args) != 1 || expr.ExpandFinal)
	}
	return at, false
}

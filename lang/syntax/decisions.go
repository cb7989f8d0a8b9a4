package syntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/lang/internal/budget"
)

// Deciding is the name of an internal function. The parser wraps it around each expression
// whose value decides something in another expression: operands, conditions, indexes, and keys
// of `for` expressions. A configuration cannot contain the name, because it has spaces.
// Evaluation needs the function: it refuses a value that is not known yet, such as a generated
// secret, because a comparison would compare the secret's token. The wrapped expressions
// include those in loops and templates, whose variables exist only there.
const Deciding = "known before the apply"

// Constant evaluates an expression that refers to nothing and calls no function. All its values
// are known, so the Deciding function returns its argument unchanged.
func Constant(expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	ctx := &hcl.EvalContext{Functions: map[string]function.Function{Deciding: known}}
	b := budget.New()
	b.Into(ctx)
	v, diags := expr.Value(ctx)
	if at, err := b.Failure(expr.Range()); err != nil {
		return cty.DynamicVal, hcl.Diagnostics{TooLarge(at, err)}
	}
	for _, d := range diags {
		if d.Summary == "Unknown variable" {
			d.Summary, d.Detail = "Variables not allowed", "Variables may not be used here."
		}
		if _, called := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](d); called {
			d.Detail = "Functions may not be called here."
		}
	}
	return v, diags
}

// known returns its argument.
var known = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true}},
	Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
	Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0], nil },
})

// guardDecisions wraps the Deciding function around each deciding expression of a tree.
func guardDecisions(root hclsyntax.Node) {
	_ = hclsyntax.VisitAll(root, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.ConditionalExpr:
			n.Condition = deciding(n.Condition)
		case *hclsyntax.ForExpr:
			n.CondExpr, n.KeyExpr = deciding(n.CondExpr), deciding(n.KeyExpr)
		case *hclsyntax.BinaryOpExpr:
			n.LHS, n.RHS = deciding(n.LHS), deciding(n.RHS)
		case *hclsyntax.UnaryOpExpr:
			n.Val = deciding(n.Val)
		case *hclsyntax.IndexExpr:
			n.Key = deciding(n.Key)
		}
		return nil
	})
}

// deciding returns a call of the Deciding function with expr as its argument. It returns expr
// itself if expr is a literal or an operation: the operands of an operation are guarded, so
// that its result never contains a generated secret.
func deciding(expr hclsyntax.Expression) hclsyntax.Expression {
	inner := expr
	for {
		parentheses, ok := inner.(*hclsyntax.ParenthesesExpr)
		if !ok {
			break
		}
		inner = parentheses.Expression
	}
	switch x := inner.(type) {
	case nil, *hclsyntax.LiteralValueExpr, *hclsyntax.BinaryOpExpr, *hclsyntax.UnaryOpExpr:
		return expr
	case *hclsyntax.TemplateExpr:
		if x.IsStringLiteral() {
			return expr
		}
	case *hclsyntax.FunctionCallExpr:
		if x.Name == Deciding {
			return expr
		}
	}
	at := expr.Range()
	return &hclsyntax.FunctionCallExpr{
		Name: Deciding, Args: []hclsyntax.Expression{expr},
		NameRange: expr.StartRange(), OpenParenRange: expr.StartRange(), CloseParenRange: at,
	}
}

// Decides reports whether the Deciding function caused a diagnostic.
func Decides(d *hcl.Diagnostic) bool {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
	return ok && call.CalledFunctionName() == Deciding
}

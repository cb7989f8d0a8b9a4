package syntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Deciding is the name of a function that is around every expression whose value decides
// something in another: operands, conditions, indexes, and keys of `for` expressions. Nobody can write it, and
// evaluation needs it. It refuses what nobody knows yet, such as the value of a generated
// secret, in whose place a token would be compared; and it does so wherever that stands,
// in loops and templates too, with names that only they know.
const Deciding = "known before the apply"

// Constant evaluates an expression that refers to nothing and calls no function. It needs no
// more than that, since what is known decides as it is.
func Constant(expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	v, diags := expr.Value(&hcl.EvalContext{Functions: map[string]function.Function{Deciding: known}})
	for _, d := range diags {
		if _, called := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](d); called {
			d.Detail = "Functions may not be called here."
		}
	}
	return v, diags
}

// known gives its argument.
var known = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true}},
	Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
	Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0], nil },
})

// guardDecisions puts the function around all that decides something in a tree.
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

// deciding is an expression as the function's argument. What operators give is never a
// generated secret, since their operands are none.
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

// Decides reports whether a complaint is that of the function.
func Decides(d *hcl.Diagnostic) bool {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
	return ok && call.CalledFunctionName() == Deciding
}

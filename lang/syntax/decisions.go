package syntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Deciding is the name of a function that is around every expression whose value decides
// something in another: operands, conditions, and keys. Nobody can write it, and
// evaluation needs it. It refuses what nobody knows yet, such as the value of a generated
// secret, in whose place a token would be compared; and it does so wherever that stands,
// in loops and templates too, with names that only they know.
const Deciding = "known before the apply"

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

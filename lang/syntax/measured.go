package syntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/internal/budget"
)

// measured is an expression within another one. Its value counts towards the budget of the
// evaluation, and has a limited size. HCL evaluates all of an expression at once, so that only
// its parts can stop it. The parentheses make the expression visible to walks over the tree.
type measured struct {
	*hclsyntax.ParenthesesExpr
	made   bool // its value takes memory of its own; else it is a part of another value
	branch bool // of a condition, which makes its branches the same type
}

// Value evaluates the expression, if the budget is not exceeded.
func (m *measured) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	b, own := budget.Of(ctx), false
	if b == nil {
		b, own = budget.New(), true
		ctx = ctx.NewChild()
		b.Into(ctx)
	}
	if b.Err() != nil {
		return cty.DynamicVal, nil // the error is reported once
	}
	v, diags := m.Expression.Value(ctx)
	err := taken(b, v, m.made, len(diags))
	if err == nil && m.branch {
		err = b.Unify(v)
	}
	switch {
	case b.Err() != nil && !own:
		b.Place(m.SrcRange)
		return cty.DynamicVal, diags
	case err != nil:
		return cty.DynamicVal, append(diags, TooLarge(m.SrcRange, err))
	}
	return v, diags
}

// taken takes the value of an expression from a budget.
func taken(b *budget.Budget, v cty.Value, made bool, failures int) error {
	if !made {
		return b.Pass(v, failures)
	}
	return b.Take(v, failures)
}

// Evaluate evaluates an expression within a budget. err says why its value is too large.
func Evaluate(expr hcl.Expression, ctx *hcl.EvalContext, b *budget.Budget) (v cty.Value, diags hcl.Diagnostics, err error) {
	b.Into(ctx)
	b.Start()
	v, diags = expr.Value(ctx)
	return v, diags, taken(b, v, makes(expr), len(diags))
}

// UnwrapExpression returns the expression inside, so that HCL finds its kind.
func (m *measured) UnwrapExpression() hcl.Expression { return m.Expression }

// TooLarge returns the diagnostic for a value that is larger than a value can be.
func TooLarge(at hcl.Range, err error) *hcl.Diagnostic {
	return syntaxError(at, "Value too large", "%s.", words.Sentence(err))
}

// Written returns a part of an expression as the source has it.
func Written(part hcl.Expression) hcl.Expression {
	if m, ok := part.(*measured); ok {
		return m.Expression
	}
	return part
}

// makes reports whether the value of an expression takes memory of its own: the expression is no
// literal and no reference.
func makes(expr hcl.Expression) bool {
	switch x := expr.(type) {
	case nil, *hclsyntax.LiteralValueExpr, *hclsyntax.ScopeTraversalExpr, *hclsyntax.RelativeTraversalExpr,
		*hclsyntax.IndexExpr, *hclsyntax.AnonSymbolExpr, *hclsyntax.ExprSyntaxError, *measured:
		return false
	case *hclsyntax.TemplateExpr:
		return !x.IsStringLiteral()
	case *hclsyntax.ParenthesesExpr:
		return makes(x.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return makes(x.Wrapped)
	}
	return true
}

// measureParts measures all parts of a tree that make values, and all that a loop repeats.
func measureParts(root hclsyntax.Node) {
	_ = hclsyntax.VisitAll(root, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.FunctionCallExpr:
			for i := range n.Args {
				n.Args[i] = measuredPart(n.Args[i])
			}
		case *hclsyntax.TemplateExpr:
			for i, part := range n.Parts {
				if _, literal := part.(*hclsyntax.LiteralValueExpr); !literal {
					n.Parts[i] = measure(part, true) // a reference, too, is copied into the text
				}
			}
		case *hclsyntax.TemplateJoinExpr:
			n.Tuple = measuredPart(n.Tuple)
		case *hclsyntax.ConditionalExpr:
			n.TrueResult, n.FalseResult = measuredBranch(n.TrueResult), measuredBranch(n.FalseResult)
		case *hclsyntax.ForExpr:
			for _, part := range []*hclsyntax.Expression{&n.CollExpr, &n.KeyExpr, &n.CondExpr, &n.ValExpr} {
				if *part != nil {
					*part = measure(*part, makes(*part))
				}
			}
		case *hclsyntax.IndexExpr:
			n.Collection = measuredPart(n.Collection)
		case *hclsyntax.RelativeTraversalExpr:
			n.Source = measuredPart(n.Source)
		case *hclsyntax.SplatExpr:
			n.Source = measuredPart(n.Source)
		case *hclsyntax.TupleConsExpr:
			for i := range n.Exprs {
				n.Exprs[i] = measuredElement(n.Exprs[i])
			}
		case *hclsyntax.ObjectConsExpr:
			for i := range n.Items {
				n.Items[i].ValueExpr = measuredElement(n.Items[i].ValueExpr)
			}
		case *hclsyntax.ObjectConsKeyExpr:
			n.Wrapped = measuredPart(n.Wrapped)
		}
		return nil
	})
}

func measuredPart(expr hclsyntax.Expression) hclsyntax.Expression {
	if !makes(expr) {
		return expr
	}
	return measure(expr, true)
}

func measuredBranch(expr hclsyntax.Expression) hclsyntax.Expression {
	if _, literal := expr.(*hclsyntax.LiteralValueExpr); literal {
		return expr
	}
	return &measured{parentheses(expr), makes(expr), true}
}

// measuredElement measures an element of a list or map. A list or map in it is measured as a part
// of the whole.
func measuredElement(expr hclsyntax.Expression) hclsyntax.Expression {
	switch expr.(type) {
	case *hclsyntax.TupleConsExpr, *hclsyntax.ObjectConsExpr:
		return expr
	}
	return measuredPart(expr)
}

func measure(expr hclsyntax.Expression, made bool) hclsyntax.Expression {
	if m, ok := expr.(*measured); ok {
		return m
	}
	return &measured{parentheses(expr), made, false}
}

func parentheses(expr hclsyntax.Expression) *hclsyntax.ParenthesesExpr {
	return &hclsyntax.ParenthesesExpr{Expression: expr, SrcRange: expr.Range()}
}

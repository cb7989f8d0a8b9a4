package layers

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/syntax"
)

// LayerExpr is an expression of another layer, or of another module, in a block of the definition.
// The environment of that layer or module evaluates it (Env.Of).
type LayerExpr struct {
	hclsyntax.Expression
	Layer string // configs.LayerDefinition, LayerCloud or LayerService
	// Home is the module of an expression of LayerDefinition. Nil: it is the module of the
	// definition.
	Home *source.Module
	// Below is the expression of weaker layers, if both count: maps are merged by key, and lists
	// of names are joined.
	Below hclsyntax.Expression
}

// layered returns an expression as one of a layer.
func layered(expr hclsyntax.Expression, layer string) hclsyntax.Expression {
	if layer == configs.LayerDefinition {
		return expr // it may be a LayerExpr already
	}
	return &LayerExpr{Expression: expr, Layer: layer}
}

// stacked puts an expression over a weaker one, if both count.
func stacked(below, above hclsyntax.Expression) *LayerExpr {
	out := LayerExpr{Expression: above, Layer: configs.LayerDefinition}
	if x, ok := above.(*LayerExpr); ok {
		out = *x
	}
	if out.Below != nil {
		below = stacked(below, out.Below)
	}
	out.Below = below
	return &out
}

// inside replaces the expression of each layer of an expression.
func inside(expr hclsyntax.Expression, other func(hclsyntax.Expression) hclsyntax.Expression) hclsyntax.Expression {
	x, ok := expr.(*LayerExpr)
	if !ok {
		return other(expr)
	}
	out := *x
	out.Expression = other(x.Expression)
	if x.Below != nil {
		out.Below = inside(x.Below, other)
	}
	return &out
}

// UnwrapExpression returns the expression inside, so that HCL finds its kind. Two expressions have
// no kind.
func (x *LayerExpr) UnwrapExpression() hcl.Expression {
	if x.Below != nil {
		return nil
	}
	return x.Expression
}

// Variables returns the references in the expressions of all layers.
func (x *LayerExpr) Variables() []hcl.Traversal {
	if x.Below == nil {
		return x.Expression.Variables()
	}
	return append(x.Below.Variables(), x.Expression.Variables()...)
}

// IsStacked reports whether several layers of an expression count.
func IsStacked(expr hcl.Expression) bool {
	x, ok := expr.(*LayerExpr)
	return ok && x.Below != nil
}

// Of returns the expressions of an argument by layer, the weakest first. Each definition that the
// definition starts from is a layer of its own.
func Of(b *source.Block, name string) []*LayerExpr {
	attr := b.Attributes[name]
	if attr == nil {
		return nil
	}
	return layersOf(attr.Expr)
}

func layersOf(expr hclsyntax.Expression) []*LayerExpr {
	x, ok := expr.(*LayerExpr)
	switch {
	case !ok:
		return []*LayerExpr{{Expression: expr, Layer: configs.LayerDefinition}}
	case x.Below == nil:
		return []*LayerExpr{x}
	}
	return append(layersOf(x.Below), &LayerExpr{Expression: x.Expression, Layer: x.Layer, Home: x.Home})
}

// layerOf returns the layer of an expression.
func layerOf(expr hclsyntax.Expression) string {
	if x, ok := expr.(*LayerExpr); ok {
		return x.Layer
	}
	return configs.LayerDefinition
}

// DynamicExpr is an expression in a dynamic block. It can also read the element of the loop.
type DynamicExpr struct {
	hclsyntax.Expression
	Name    string // under which it reads the element
	Element cty.Value
}

// Value evaluates the expression with the element in scope.
func (x *DynamicExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	return x.Expression.Value(x.context(ctx))
}

func (x *DynamicExpr) context(ctx *hcl.EvalContext) *hcl.EvalContext {
	child := ctx.NewChild()
	child.Variables = map[string]cty.Value{x.Name: x.Element}
	return child
}

// Variables returns the references, except those to the element. A reference such as
// database[element.key] is one to the database with that name.
func (x *DynamicExpr) Variables() []hcl.Traversal {
	var out []hcl.Traversal
	for _, t := range x.Expression.Variables() {
		switch {
		case t.RootName() == x.Name:
		case len(t) == 1:
			out = append(out, x.named(t))
		default:
			out = append(out, t)
		}
	}
	return out
}

// named adds the index of a reference to it, if the index depends only on the element.
func (x *DynamicExpr) named(t hcl.Traversal) hcl.Traversal {
	_ = hclsyntax.VisitAll(x.Expression, func(n hclsyntax.Node) hcl.Diagnostics {
		index, ok := n.(*hclsyntax.IndexExpr)
		if !ok || index.Collection.Range() != t.SourceRange() {
			return nil
		}
		v, diags := syntax.Constant(&DynamicExpr{index.Key, x.Name, x.Element})
		if !diags.HasErrors() && v.Type() == cty.String && v.IsKnown() && !v.IsNull() && values.Plain(v) {
			t = append(slices.Clone(t), hcl.TraverseAttr{Name: v.AsString(), SrcRange: index.SrcRange})
		}
		return nil
	})
	return t
}

// WithElement returns an expression that can also read a value under a name, in each layer.
func WithElement(expr hclsyntax.Expression, name string, value cty.Value) hclsyntax.Expression {
	return inside(expr, func(expr hclsyntax.Expression) hclsyntax.Expression { return &DynamicExpr{expr, name, value} })
}

// UnwrapExpression returns the expression inside, so that HCL finds its kind.
func (x *DynamicExpr) UnwrapExpression() hcl.Expression { return x.Expression }

// Around wraps a part of this expression.
func (x *DynamicExpr) Around(inner hclsyntax.Expression) hclsyntax.Expression {
	return &DynamicExpr{inner, x.Name, x.Element}
}

// Rewritten returns a copy of a block with other expressions, at any depth.
func Rewritten(b *source.Block, expression func(hclsyntax.Expression) hclsyntax.Expression) *source.Block {
	out := b.WithoutBlocks()
	out.Attributes = maps.Clone(b.Attributes)
	for name, attr := range b.Attributes {
		copied := *attr
		copied.Expr = expression(attr.Expr)
		out.Attributes[name] = &copied
	}
	for _, child := range b.Blocks {
		out.Add(Rewritten(child, expression))
	}
	return out
}

// WrittenItems returns the entries of a map literal.
func WrittenItems(expr hcl.Expression) ([]hclsyntax.ObjectConsItem, bool) {
	switch expr := syntax.Written(expr).(type) {
	case *hclsyntax.ParenthesesExpr:
		return WrittenItems(expr.Expression)
	case *hclsyntax.ObjectConsExpr:
		return expr.Items, true
	case *DynamicExpr:
		items, ok := WrittenItems(expr.Expression)
		var out []hclsyntax.ObjectConsItem
		for _, item := range items {
			out = append(out, hclsyntax.ObjectConsItem{KeyExpr: expr.Around(item.KeyExpr), ValueExpr: expr.Around(item.ValueExpr)})
		}
		return out, ok
	}
	return nil, false
}

// IsNullLiteral reports whether an expression is the literal null.
func IsNullLiteral(expr hcl.Expression) bool {
	switch x := expr.(type) {
	case *LayerExpr:
		return x.Below == nil && IsNullLiteral(x.Expression)
	case *DynamicExpr:
		return IsNullLiteral(x.Expression)
	case *hclsyntax.LiteralValueExpr:
		return x.Val.IsNull()
	}
	return false
}

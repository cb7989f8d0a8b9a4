package lang

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// iterated is an expression in a dynamic block: it knows one name more.
type iterated struct {
	hclsyntax.Expression
	name  string
	value cty.Value
}

// Value evaluates the expression with the element in scope.
func (x *iterated) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	return x.Expression.Value(x.context(ctx))
}

func (x *iterated) context(ctx *hcl.EvalContext) *hcl.EvalContext {
	child := ctx.NewChild()
	child.Variables = map[string]cty.Value{x.name: x.value}
	return child
}

// Variables are the references to anything but the element.
func (x *iterated) Variables() []hcl.Traversal {
	var out []hcl.Traversal
	for _, t := range x.Expression.Variables() {
		if t.RootName() != x.name {
			out = append(out, t)
		}
	}
	return out
}

// UnwrapExpression lets HCL see what kind of expression it is.
func (x *iterated) UnwrapExpression() hcl.Expression { return x.Expression }

// around wraps an expression that is a part of this one.
func (x *iterated) around(inner hclsyntax.Expression) hclsyntax.Expression {
	return &iterated{inner, x.name, x.value}
}

// expanded is a block with the blocks that its dynamic blocks stand for.
func (e *evaluator) expanded(b *source.Block) *source.Block {
	if !b.HasDynamic {
		return b
	}
	out := b.WithoutBlocks()
	out.HasDynamic = false
	for _, child := range b.Blocks {
		if child.Type != schema.DynamicType {
			out.Add(e.expanded(child))
			continue
		}
		made, open := e.made(child)
		if open != cty.NilVal {
			out.Incomplete = open
		}
		for _, b := range made {
			if b.UniqueIn(e.report, out) {
				out.Add(b)
			}
		}
	}
	return out
}

// made are the blocks that a dynamic block stands for. open is what has to be known before
// it is known which they are; NilVal: these are all.
func (e *evaluator) made(b *source.Block) (out []*source.Block, open cty.Value) {
	if b.Attributes["for_each"] == nil {
		return nil, cty.DynamicVal // the decoder has said so
	}
	list := e.value(b.Attributes["for_each"].Expr)
	at := b.AttributeRange("for_each")
	switch {
	case !list.IsKnown():
		e.undecided(list, at, "\"for_each\"")
		return nil, list
	case list.IsNull() || !list.CanIterateElements():
		e.report.Error(at, "Unsuitable value for \"for_each\"", "It must be a list, set, map or object, and this is %s.", values.KindOf(list))
		return nil, cty.DynamicVal
	case !e.public(list, at, "for_each"):
		return nil, cty.DynamicVal
	}
	if !e.report.Spend(diag.Blocks, list.LengthInt(), b.Header, "Too many blocks", "The dynamic blocks of a configuration can stand for at most %d blocks, and with this one there are more. Correct what for_each goes over, here or in a block around.") {
		return nil, cty.DynamicVal
	}
	content, name := b.Blocks[0], e.iterator(b)
	for it := list.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if list.Type().IsSetType() {
			key = value
		}
		element := cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})
		wrap := func(expr hclsyntax.Expression) hclsyntax.Expression { return &iterated{expr, name, element} }
		made := rewritten(content, wrap)
		made.Header = b.Header
		if labels := b.Attributes["labels"]; labels != nil {
			if expr := wrap(labels.Expr); !e.labelOf(made, expr) {
				open = cty.DynamicVal
				if v := e.value(expr); !v.IsWhollyKnown() {
					open = v
				}
				continue
			}
		}
		out = append(out, e.expanded(made))
	}
	return out, open
}

// iterator is the name under which expressions read the element.
func (e *evaluator) iterator(b *source.Block) string {
	attr := b.Attributes["iterator"]
	if attr == nil {
		return b.Label
	}
	name := hcl.ExprAsKeyword(attr.Expr)
	if name == "" {
		e.report.Error(attr.Expr.Range(), "Unsuitable value for \"iterator\"", "It must be a name without quotes.")
		return b.Label
	}
	return name
}

// labelOf gives a block its label.
func (e *evaluator) labelOf(b *source.Block, expr hclsyntax.Expression) bool {
	v := e.value(expr)
	e.undecided(v, expr.Range(), "\"labels\"")
	if !v.IsWhollyKnown() || !e.public(v, expr.Range(), "a label") {
		return false
	}
	list, err := convert.Convert(v, cty.List(cty.String))
	if err != nil || list.IsNull() || list.LengthInt() != 1 || list.Index(cty.Zero).IsNull() {
		e.report.Error(expr.Range(), "Unsuitable value for \"labels\"", "It must be a list of one text, the name of the %s.", b.Type.Label)
		return false
	}
	b.Label, b.LabelRange = list.Index(cty.Zero).AsString(), expr.Range()
	return b.CheckLabel(e.report)
}

// rewritten is a block with other expressions, at any depth.
func rewritten(b *source.Block, expression func(hclsyntax.Expression) hclsyntax.Expression) *source.Block {
	out := b.WithoutBlocks()
	out.Attributes = maps.Clone(b.Attributes)
	for name, attr := range b.Attributes {
		copied := *attr
		copied.Expr = expression(attr.Expr)
		out.Attributes[name] = &copied
	}
	for _, child := range b.Blocks {
		out.Add(rewritten(child, expression))
	}
	return out
}

package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// Expanded returns the block with the blocks that its dynamic blocks stand for.
func Expanded(e *Env, b *source.Block) *source.Block {
	if !b.HasDynamic {
		return b
	}
	out := b.WithoutBlocks()
	out.HasDynamic = false
	for _, child := range b.Blocks {
		if child.Type != schema.DynamicType {
			out.Add(Expanded(e, child))
			continue
		}
		made, open := blocksMade(e, child)
		if open != cty.NilVal {
			out.Incomplete = open
		}
		for _, b := range made {
			if source.CheckUnique(e.Report, out, b) {
				out.Add(b)
			}
		}
	}
	return out
}

// blocksMade returns the blocks that a dynamic block stands for. open has the marks of the
// values that must be known before the list is complete; NilVal: the list is complete.
func blocksMade(e *Env, b *source.Block) (out []*source.Block, open cty.Value) {
	if b.Attributes["for_each"] == nil {
		return nil, cty.DynamicVal // the decoder has said so
	}
	list := e.Value(b.Attributes["for_each"].Expr)
	at := b.AttributeRange("for_each")
	switch {
	case !list.IsKnown():
		ReportDeferred(e, list, at, "\"for_each\"")
		return nil, list
	case list.IsNull() || !list.CanIterateElements():
		e.Report.Error(at, "Unsuitable value for \"for_each\"", "It must be a list, set, map or object, and this is %s.", values.KindOf(list))
		return nil, cty.DynamicVal
	case !CheckNotSecret(e, list, at, "for_each"):
		return nil, cty.DynamicVal
	}
	if !e.Report.Spend(diag.Blocks, list.LengthInt(), b.Header, "Too many blocks", "The dynamic blocks of a configuration can stand for at most %d blocks, and with this one there are more. Correct what for_each goes over, here or in a block around.") {
		return nil, cty.DynamicVal
	}
	content, name := b.Blocks[0], iteratorOf(e, b)
	for it := list.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if list.Type().IsSetType() {
			key = value
		}
		element := cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})
		wrap := func(expr hclsyntax.Expression) hclsyntax.Expression {
			return layers.WithElement(expr, name, element)
		}
		made := layers.Rewritten(content, wrap)
		made.Header = b.Header
		if labels := b.Attributes["labels"]; labels != nil {
			if expr := wrap(labels.Expr); !setLabel(e, made, expr) {
				open = cty.DynamicVal
				if v := e.Value(expr); !v.IsWhollyKnown() {
					open = v
				}
				continue
			}
		}
		out = append(out, Expanded(e, made))
	}
	return out, open
}

// iteratorOf returns the name under which expressions read the element.
func iteratorOf(e *Env, b *source.Block) string {
	attr := b.Attributes["iterator"]
	if attr == nil {
		return b.Label
	}
	name := hcl.ExprAsKeyword(attr.Expr)
	if name == "" {
		e.Report.Error(attr.Expr.Range(), "Unsuitable value for \"iterator\"", "It must be a name without quotes.")
		return b.Label
	}
	return name
}

// setLabel gives a block its label.
func setLabel(e *Env, b *source.Block, expr hclsyntax.Expression) bool {
	v := e.Value(expr)
	ReportDeferred(e, v, expr.Range(), "\"labels\"")
	if !v.IsWhollyKnown() || !CheckNotSecret(e, v, expr.Range(), "a label") {
		return false
	}
	list, err := budget.Convert(v, cty.List(cty.String))
	if err != nil || list.IsNull() || list.LengthInt() != 1 || list.Index(cty.Zero).IsNull() {
		e.Report.Error(expr.Range(), "Unsuitable value for \"labels\"", "It must be a list of one string, the name of the %s.", b.Type.Label)
		return false
	}
	b.Label, b.LabelRange = list.Index(cty.Zero).AsString(), expr.Range()
	return source.CheckLabel(e.Report, b)
}

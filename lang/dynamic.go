package lang

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/schema"
)

// dynamic checks a dynamic block; nil when it cannot be used. The block that it
// gives has one block in it, of the type that it stands for and with its content.
func (d decoder) dynamic(parent *schema.BlockType, source sourceBlock) *block {
	if len(source.labels) != 1 {
		d.report.Error(source.header, "Wrong number of labels", "A dynamic block has one label, the type of the blocks that it stands for: `dynamic %q {`.", parent.DynamicNames()[0])
		return nil
	}
	out := &block{typ: schema.DynamicType, label: source.labels[0], labelRange: source.labelRanges[0], header: source.header, whole: source.whole}
	typ := parent.Block(out.label)
	if typ == nil || typ.IsStatic() {
		d.report.Undeclared(out.labelRange, "block", out.label, parent.DynamicNames())
		return nil
	}
	attributes, blocks := d.content(schema.DynamicType, source.body)
	d.body(out, &hclsyntax.Body{Attributes: attributes})
	if (out.attributes["labels"] != nil) != (typ.Label != "") {
		what := "its argument labels is left out"
		if typ.Label != "" {
			what = "it needs the argument labels = [NAME]"
		}
		d.report.Error(source.header, "Labels of a dynamic block", "A %s block has %s: %s.", typ.Name, labelled(typ), what)
		return nil
	}
	for _, b := range blocks {
		switch {
		case b.typ != "content":
			d.unknownBlock(schema.DynamicType, b)
		case len(out.blocks) > 0:
			d.report.Error(b.header, "Second content block", "There can be only one content block here.")
		default:
			content := &block{typ: typ, header: b.header, whole: b.whole}
			decoder{d.report, d.overriding || parent == schema.ServiceType}.body(content, b.body)
			out.add(content)
		}
	}
	if len(out.blocks) == 0 {
		d.report.Error(source.header, "Missing block", "A dynamic block needs a block `content {` with what stands in each of the blocks.")
		return nil
	}
	return out
}

func labelled(typ *schema.BlockType) string {
	if typ.Label == "" {
		return "no label"
	}
	return "a label, the name of the " + typ.Label
}

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
func (e *evaluator) expanded(b *block) *block {
	if !b.grows {
		return b
	}
	out := b.withoutBlocks()
	out.grows = false
	for _, child := range b.blocks {
		if child.typ != schema.DynamicType {
			out.add(e.expanded(child))
			continue
		}
		made, open := e.made(child)
		if open != cty.NilVal {
			out.open = open
		}
		for _, b := range made {
			if b.uniqueIn(e.report, out) {
				out.add(b)
			}
		}
	}
	return out
}

// made are the blocks that a dynamic block stands for. open is what has to be known before
// it is known which they are; NilVal: these are all.
func (e *evaluator) made(b *block) (out []*block, open cty.Value) {
	if b.attributes["for_each"] == nil {
		return nil, cty.DynamicVal // the decoder has said so
	}
	list := e.value(b.attributes["for_each"].Expr)
	at := b.attributeRange("for_each")
	switch {
	case !list.IsKnown():
		e.undecided(list, at, "\"for_each\"")
		return nil, list
	case list.IsNull() || !list.CanIterateElements():
		e.report.Error(at, "Unsuitable value for \"for_each\"", "It must be a list, set, map or object, and this is %s.", kindOf(list))
		return nil, cty.DynamicVal
	case !e.public(list, at, "for_each"):
		return nil, cty.DynamicVal
	}
	if !e.report.Spend(diag.Blocks, list.LengthInt(), b.header, "Too many blocks", "The dynamic blocks of a configuration can stand for at most %d blocks, and with this one there are more. Correct what for_each goes over, here or in a block around.") {
		return nil, cty.DynamicVal
	}
	content, name := b.blocks[0], e.iterator(b)
	for it := list.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if list.Type().IsSetType() {
			key = value
		}
		element := cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})
		wrap := func(expr hclsyntax.Expression) hclsyntax.Expression { return &iterated{expr, name, element} }
		made := rewritten(content, wrap)
		made.header = b.header
		if labels := b.attributes["labels"]; labels != nil {
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
func (e *evaluator) iterator(b *block) string {
	attr := b.attributes["iterator"]
	if attr == nil {
		return b.label
	}
	name := hcl.ExprAsKeyword(attr.Expr)
	if name == "" {
		e.report.Error(attr.Expr.Range(), "Unsuitable value for \"iterator\"", "It must be a name without quotes.")
		return b.label
	}
	return name
}

// labelOf gives a block its label.
func (e *evaluator) labelOf(b *block, expr hclsyntax.Expression) bool {
	v := e.value(expr)
	e.undecided(v, expr.Range(), "\"labels\"")
	if !v.IsWhollyKnown() || !e.public(v, expr.Range(), "a label") {
		return false
	}
	list, err := convert.Convert(v, cty.List(cty.String))
	if err != nil || list.IsNull() || list.LengthInt() != 1 || list.Index(cty.Zero).IsNull() {
		e.report.Error(expr.Range(), "Unsuitable value for \"labels\"", "It must be a list of one text, the name of the %s.", b.typ.Label)
		return false
	}
	b.label, b.labelRange = list.Index(cty.Zero).AsString(), expr.Range()
	return b.checkLabel(e.report)
}

// rewritten is a block with other expressions, at any depth.
func rewritten(b *block, expression func(hclsyntax.Expression) hclsyntax.Expression) *block {
	out := b.withoutBlocks()
	out.attributes = maps.Clone(b.attributes)
	for name, attr := range b.attributes {
		copied := *attr
		copied.Expr = expression(attr.Expr)
		out.attributes[name] = &copied
	}
	for _, child := range b.blocks {
		out.add(rewritten(child, expression))
	}
	return out
}

package lang

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// A service overrides blocks of its definition with blocks of the same type and label,
// and adds others. overlaid puts the two together before anything is evaluated: what
// the service says is then an expression like the definition's own, but for a mark that
// says who evaluates it.

// said is an expression of the service, or of the cloud's defaults, in a block of the
// definition. The evaluator of that layer evaluates it.
type said struct {
	hclsyntax.Expression
	layer string // configs.LayerService or configs.LayerCloud
}

// UnwrapExpression lets HCL see what kind of expression it is.
func (x *said) UnwrapExpression() hcl.Expression { return x.Expression }

// stacked is the expression of a layer over a weaker one, where both count: maps by key,
// and lists of names one after the other.
type stacked struct {
	hclsyntax.Expression
	below hclsyntax.Expression
	layer string // of Expression
}

func isStacked(expr hcl.Expression) bool {
	_, ok := expr.(*stacked)
	return ok
}

// Variables are the references in both.
func (x *stacked) Variables() []hcl.Traversal {
	return append(x.below.Variables(), x.Expression.Variables()...)
}

// overlaid is a definition with what a service says over it, and the blocks of the
// service that override nothing and are not complete: something in them is misspelt.
func overlaid(definition, service *source.Block) (out *source.Block, strays []stray) {
	if !slices.ContainsFunc(service.Blocks, overrides) {
		return definition, nil
	}
	return over(definition, service, overrides)
}

// stray is a block of a service that overrides nothing, and is not complete.
type stray struct {
	block *source.Block
	known []string // labels of the blocks that it could override
}

// overrides reports whether a block of a service overrides one of its definition, or
// takes a place beside them.
func overrides(b *source.Block) bool {
	return schema.DefinitionType.Block(b.Type.Name) == b.Type && b.Type != schema.InputType && (b.Type != schema.SecretType || !isKept(b.Label))
}

// over puts a block over another one of its type.
func over(base, top *source.Block, counts func(*source.Block) bool) (out *source.Block, strays []stray) {
	merged := base.WithoutBlocks()
	for _, child := range base.Blocks {
		if above := top.One(child.Type.Name, child.Label); above != nil && counts(above) && (child.Label != "" || child.Type.Single) {
			inner, lost := overBlock(child, above)
			child, strays = inner, append(strays, lost...)
		}
		merged.Add(child)
	}
	for _, child := range top.Blocks {
		switch {
		case !counts(child) || (child.Label != "" || child.Type.Single) && base.One(child.Type.Name, child.Label) != nil:
		case len(lacking(child)) > 0:
			strays = append(strays, stray{child, base.Labels(child.Type.Name)})
		default:
			merged.Add(own(child))
		}
	}
	if top.Incomplete != cty.NilVal {
		merged.Incomplete = top.Incomplete
	}
	return merged, strays
}

// overBlock puts a block of a service over one of its definition.
func overBlock(base, top *source.Block) (out *source.Block, strays []stray) {
	out, strays = over(base, top, func(b *source.Block) bool { return b.Type.Name != schema.LifecycleType.Name })
	out.Base, out.Top = base, top
	out.Header, out.Whole = top.Header, top.Whole
	out.Attributes = maps.Clone(base.Attributes)
	if out.Attributes == nil {
		out.Attributes = map[string]*hclsyntax.Attribute{}
	}
	dropAlternatives(out, top)
	overAttributes(out, top, configs.LayerService)
	return out, strays
}

// overAttributes puts what a layer says over the attributes of a block, which are a copy.
func overAttributes(out, top *source.Block, layer string) {
	for name, attr := range top.Attributes {
		copied := *attr
		below := out.Attributes[name]
		switch {
		case below != nil && out.Type.Attribute(name) != nil && stacks(out.Type.Attribute(name)):
			copied.Expr = &stacked{attr.Expr, below.Expr, layer}
		default:
			copied.Expr = &said{attr.Expr, layer}
		}
		out.Attributes[name] = &copied
	}
}

// own is a block that only the service has.
func own(b *source.Block) *source.Block {
	out := rewritten(b, func(expr hclsyntax.Expression) hclsyntax.Expression { return &said{expr, configs.LayerService} })
	out.Top = b
	return out
}

// stacks reports whether values of both count, the service's and the definition's.
func stacks(a *schema.Attribute) bool {
	switch a.Type {
	case schema.TypeMap, schema.TypeTexts, schema.TypeSettings, schema.TypeObject, schema.TypeTolerations:
		return true
	case schema.TypeList:
		return a.Names != ""
	}
	return false
}

// dropAlternatives takes away what the definition says of several arguments of which
// only one counts, where the service says another one.
func dropAlternatives(out, top *source.Block) {
	said := func(name string) bool {
		attr := top.Attributes[name]
		return attr != nil && !isNullLiteral(attr.Expr)
	}
	if !slices.ContainsFunc(out.Type.Alternatives, func(group []string) bool { return slices.ContainsFunc(group, said) }) {
		return
	}
	for _, group := range out.Type.Alternatives {
		if slices.ContainsFunc(group, said) {
			continue
		}
		for _, name := range group {
			delete(out.Attributes, name)
		}
	}
}

// lacking are the arguments that a block needs and does not have, nor in another
// spelling.
func lacking(b *source.Block) []string {
	var out []string
	for _, a := range b.Type.Attributes {
		if a.Required && b.Attributes[a.Name] == nil && b.Attributes[a.Unless] == nil && !b.Misspelt(a.Name) {
			out = append(out, a.Name)
		}
	}
	return out
}

// part is an expression and who evaluates it, on its way to be merged with others.
type part struct {
	layer string // configs.LayerDefinition or configs.LayerService
	expr  hclsyntax.Expression
	eval  *evaluator
}

// parts are what an argument is made of, the weakest first.
func (e *evaluator) parts(b *source.Block, name string) []part {
	attr := b.Attributes[name]
	if attr == nil {
		return nil
	}
	return e.partsOf(attr.Expr)
}

func (e *evaluator) partsOf(expr hclsyntax.Expression) []part {
	switch x := expr.(type) {
	case *said:
		return []part{{x.layer, x.Expression, e.of(x.layer)}}
	case *stacked:
		return append(e.partsOf(x.below), part{x.layer, x.Expression, e.of(x.layer)})
	}
	return []part{{configs.LayerDefinition, expr, e}}
}

// of is the evaluator of what a layer says in blocks of the definition.
func (e *evaluator) of(layer string) *evaluator {
	out := e.ofService
	if layer == configs.LayerCloud {
		out = e.ofCloud
	}
	if out == nil {
		return e
	}
	return out
}

// sayer is the evaluator of an argument.
func (e *evaluator) sayer(b *source.Block, name string) *evaluator {
	if attr := b.Attributes[name]; attr != nil {
		switch x := attr.Expr.(type) {
		case *said:
			return e.of(x.layer)
		case *stacked:
			return e.of(x.layer)
		}
	}
	return e
}

// overlaidValue evaluates an expression that a service says, alone or over its
// definition's.
func (e *evaluator) overlaidValue(expr hcl.Expression) (v cty.Value, ok bool) {
	switch x := expr.(type) {
	case *said:
		return e.of(x.layer).value(x.Expression), true
	case *stacked:
		return joinedValues(e.value(x.below), e.of(x.layer).value(x.Expression)), true
	}
	return cty.NilVal, false
}

// joinedValues is one value over another one: maps are merged by key, and lists joined.
// null takes all away. A value of another type takes the place of the first.
func joinedValues(below, above cty.Value) cty.Value {
	switch {
	case !above.IsKnown() || above.IsNull():
		return above
	case !below.IsKnown():
		return below
	case below.IsNull():
		return above
	case values.IsMap(below) && values.IsMap(above):
		merged := map[string]cty.Value{}
		for _, v := range []cty.Value{below, above} {
			for _, m := range mark.Members(v) {
				merged[m.Key] = m.Value
			}
		}
		maps.DeleteFunc(merged, func(_ string, v cty.Value) bool { return v.IsNull() })
		return cty.ObjectVal(merged)
	case values.IsList(below) && values.IsList(above):
		var all []cty.Value
		for _, v := range slices.Concat(mark.Elements(below), mark.Elements(above)) {
			if !slices.ContainsFunc(all, v.RawEquals) {
				all = append(all, v)
			}
		}
		return cty.TupleVal(all)
	}
	return above
}

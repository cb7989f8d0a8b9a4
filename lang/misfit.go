package lang

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/mark"
)

// misfit is a part of a value that is not what the type of a variable says.
type misfit struct {
	at  hcl.Range
	why string // a sentence without its period
	// surplus: nothing is wrong but that it has no effect.
	surplus bool
}

// place is a part of a value: its name, and what it is written as.
type place struct {
	name string // var.nodes["a"].disk[2]
	// expr is what is written, as far as it is written out; else nil.
	expr hcl.Expression
	// key is what stands before it: a name, or what the whole is the value of.
	key hcl.Range
	// literal: it is written out, so that nothing is in it by chance.
	literal bool
}

// at is where the place is: where that goes over several lines, its start.
func (p place) at() hcl.Range {
	if p.expr == nil {
		return p.key
	}
	if r := p.expr.Range(); r.Start.Line == r.End.Line {
		return r
	}
	return p.key
}

// attribute is a place in this one.
func (p place) attribute(name string) place {
	suffix := "." + name
	if !hclsyntax.ValidIdentifier(name) {
		suffix = fmt.Sprintf("[%q]", name)
	}
	return p.inner(suffix, name)
}

func (p place) element(key string) place { return p.inner(fmt.Sprintf("[%q]", key), key) }

func (p place) inner(suffix, name string) place {
	inner := place{name: p.name + suffix, key: p.key, literal: p.literal && p.expr == nil}
	object, ok := unwrapped(p.expr).(*hclsyntax.ObjectConsExpr)
	if !ok {
		return inner
	}
	for _, item := range object.Items {
		if key, ok := staticKey(item.KeyExpr); ok && key == name {
			inner.expr, inner.key = item.ValueExpr, item.KeyExpr.Range()
			inner.literal = p.literal
		}
	}
	return inner
}

func (p place) index(n int) place {
	inner := place{name: fmt.Sprintf("%s[%d]", p.name, n), key: p.key, literal: p.literal && p.expr == nil}
	if list, ok := unwrapped(p.expr).(*hclsyntax.TupleConsExpr); ok && n < len(list.Exprs) {
		inner.expr, inner.literal = list.Exprs[n], p.literal
		inner.key = inner.expr.StartRange()
	}
	return inner
}

// complete reports whether a value is all that is written there: nothing comes from
// elsewhere.
func (p place) complete() bool {
	if p.expr == nil {
		return p.literal
	}
	_, ok := unwrapped(p.expr).(*hclsyntax.ObjectConsExpr)
	return ok
}

func unwrapped(expr hcl.Expression) hcl.Expression {
	for {
		inner, ok := expr.(*hclsyntax.ParenthesesExpr)
		if !ok {
			return expr
		}
		expr = inner.Expression
	}
}

// misfits finds all in a value that does not fit a type. The value has no marks.
func misfits(v cty.Value, want cty.Type, p place) []misfit {
	switch {
	case want == cty.DynamicPseudoType || !v.IsKnown() || v.IsNull():
		return nil
	case want.IsObjectType():
		return objectMisfits(v, want, p)
	case want.IsMapType():
		if !isMap(v) {
			return []misfit{wrongKind(v, p, "a map, { KEY = VALUE }")}
		}
		var out []misfit
		for _, m := range mark.Members(v) {
			out = append(out, misfits(m.Value, want.ElementType(), p.element(m.Key))...)
		}
		return out
	case want.IsTupleType():
		if types := want.TupleElementTypes(); !isList(v) || len(types) != v.LengthInt() {
			if isList(v) {
				return []misfit{{at: p.at(), why: fmt.Sprintf("%s must be a list of exactly %d, and this is one of %d", p.name, len(types), v.LengthInt())}}
			}
			return []misfit{wrongKind(v, p, fmt.Sprintf("a list of exactly %d", len(types)))}
		}
	case want.IsListType() || want.IsSetType():
		if !isList(v) {
			return []misfit{wrongKind(v, p, "a list, [VALUE, VALUE]")}
		}
	default:
		if _, err := convert.Convert(v, want); err != nil {
			return []misfit{wrongKind(v, p, "a "+want.FriendlyName())}
		}
		return nil
	}
	var out []misfit
	for i, element := range mark.Elements(v) {
		var typ cty.Type
		if want.IsTupleType() {
			typ = want.TupleElementType(i)
		} else {
			typ = want.ElementType()
		}
		out = append(out, misfits(element, typ, p.index(i))...)
	}
	return out
}

func wrongKind(v cty.Value, p place, want string) misfit {
	return misfit{at: p.at(), why: fmt.Sprintf("%s must be %s, and this is %s", p.name, want, kindOf(v))}
}

// objectMisfits finds what is wrong with the attributes of an object. One that is not
// there is where the name stands that was probably meant for it.
func objectMisfits(v cty.Value, want cty.Type, p place) []misfit {
	known := keysOf(want.AttributeTypes())
	if !isMap(v) {
		return []misfit{wrongKind(v, p, fmt.Sprintf("an object with %s", words.Sorted(known)))}
	}
	given := map[string]cty.Value{}
	var surplus []string
	for _, m := range mark.Members(v) {
		given[m.Key] = m.Value
		if !want.HasAttribute(m.Key) {
			surplus = append(surplus, m.Key)
		}
	}
	var out []misfit
	meant := map[string]bool{}
	for _, name := range known {
		value, ok := given[name]
		switch {
		case ok:
			out = append(out, misfits(value, want.AttributeType(name), p.attribute(name))...)
		case !want.AttributeOptional(name):
			if other := words.Nearest(name, surplus); other != "" {
				meant[other] = true
				out = append(out, misfit{at: p.attribute(other).key, why: fmt.Sprintf("%s has no attribute %q, and needs one that is called %q", p.name, other, name)})
				continue
			}
			out = append(out, misfit{at: p.key, why: fmt.Sprintf("%s needs an attribute %q", p.name, name)})
		}
	}
	for _, name := range surplus {
		if !meant[name] && p.complete() {
			out = append(out, misfit{
				at: p.attribute(name).key, surplus: true,
				why: words.WithHint(words.DidYouMean(name, known), fmt.Sprintf("%s has no attribute %q, so that it is ignored. It has: %s", p.name, name, words.Sorted(known))),
			})
		}
	}
	return out
}

// pathText is a path as it is written behind a name.
func pathText(path cty.Path) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			b.WriteString("." + step.Name)
		case cty.IndexStep:
			if step.Key.Type() == cty.String {
				b.WriteString("[" + strconv.Quote(step.Key.AsString()) + "]")
			} else {
				b.WriteString("[" + step.Key.AsBigFloat().String() + "]")
			}
		}
	}
	return b.String()
}

// fit converts a value to a variable's type. What does not fit is reported part by part
// with summary, and after the words in before; what has no effect is warned of.
func (l *loader) fit(v *variable, value cty.Value, p place, summary, before string) (converted cty.Value, ok bool) {
	converted, err := v.convert(value)
	if v.Sensitive || value.ContainsMarked() {
		if err != nil {
			l.report.Error(p.at(), summary, "%s%s must be of type %s. What is wrong is not shown, because the value is sensitive.", before, p.name, v.Type)
		}
		return converted, err == nil
	}
	found := misfits(value, v.constraint, p)
	wrong := 0
	for _, m := range found {
		if m.surplus {
			l.report.Warn(m.at, "Unknown attribute", "%s%s.", before, m.why)
			continue
		}
		wrong++
		l.report.Error(m.at, summary, "%s%s.%s", before, m.why, v.typeAt())
	}
	if err != nil && wrong == 0 {
		name := p.name
		var inside cty.PathError
		if errors.As(err, &inside) {
			name += pathText(inside.Path)
		}
		l.report.Error(p.at(), summary, "%s%s does not fit: %s.%s", before, name, err, v.typeAt())
	}
	return converted, err == nil
}

// typeAt says where a type is that is too long to be repeated.
func (v *variable) typeAt() string {
	attr := v.block.Attributes["type"]
	if attr == nil || v.constraint.IsPrimitiveType() {
		return ""
	}
	return fmt.Sprintf(" The type of the %s is at %s.", v.block.Type.Label, diag.Position(attr.NameRange))
}

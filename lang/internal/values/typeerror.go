package values

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/syntax"
)

// TypeError is a difference between a value and the declared type of a variable.
type TypeError struct {
	At  hcl.Range
	Why string // a sentence without its period
	// Surplus: the attribute has no effect, and nothing else is wrong.
	Surplus bool
}

// Place is a part of a value, with its name and its source.
type Place struct {
	Name string // var.nodes["a"].disk[2]
	// Expr is the expression of the part; nil: the source has no expression for it.
	Expr hcl.Expression
	// Key is the range of the name before the value.
	Key hcl.Range
	// Literal: the value is written out, so that every attribute was meant.
	Literal bool
}

// At returns the range of the value, or of its name if the value has several lines.
func (p Place) At() hcl.Range {
	if p.Expr == nil {
		return p.Key
	}
	if r := p.Expr.Range(); r.Start.Line == r.End.Line {
		return r
	}
	return p.Key
}

// attribute returns the place of an attribute.
func (p Place) attribute(name string) Place {
	suffix := "." + name
	if !hclsyntax.ValidIdentifier(name) {
		suffix = fmt.Sprintf("[%q]", name)
	}
	return p.inner(suffix, name)
}

func (p Place) element(key string) Place { return p.inner(fmt.Sprintf("[%q]", key), key) }

func (p Place) inner(suffix, name string) Place {
	inner := Place{Name: p.Name + suffix, Key: p.Key, Literal: p.Literal && p.Expr == nil}
	object, ok := unwrapped(p.Expr).(*hclsyntax.ObjectConsExpr)
	if !ok {
		return inner
	}
	for _, item := range object.Items {
		if key, ok := StaticKey(item.KeyExpr); ok && key == name {
			inner.Expr, inner.Key = item.ValueExpr, item.KeyExpr.Range()
			inner.Literal = p.Literal
		}
	}
	return inner
}

func (p Place) index(n int) Place {
	inner := Place{Name: fmt.Sprintf("%s[%d]", p.Name, n), Key: p.Key, Literal: p.Literal && p.Expr == nil}
	if list, ok := unwrapped(p.Expr).(*hclsyntax.TupleConsExpr); ok && n < len(list.Exprs) {
		inner.Expr, inner.Literal = list.Exprs[n], p.Literal
		inner.Key = inner.Expr.StartRange()
	}
	return inner
}

// complete reports whether the source shows all attributes of the value.
func (p Place) complete() bool {
	if p.Expr == nil {
		return p.Literal
	}
	_, ok := unwrapped(p.Expr).(*hclsyntax.ObjectConsExpr)
	return ok
}

func unwrapped(expr hcl.Expression) hcl.Expression {
	for {
		expr = syntax.Written(expr)
		inner, ok := expr.(*hclsyntax.ParenthesesExpr)
		if !ok {
			return expr
		}
		expr = inner.Expression
	}
}

// TypeErrors finds all differences between a value and a type. The value has no marks.
func TypeErrors(v cty.Value, want cty.Type, p Place) []TypeError {
	switch {
	case want == cty.DynamicPseudoType || !v.IsKnown() || v.IsNull():
		return nil
	case want.IsObjectType():
		return objectErrors(v, want, p)
	case want.IsMapType():
		if !IsMap(v) {
			return []TypeError{wrongKind(v, p, "a map, { KEY = VALUE }")}
		}
		var out []TypeError
		for _, m := range mark.Members(v) {
			out = append(out, TypeErrors(m.Value, want.ElementType(), p.element(m.Key))...)
		}
		return out
	case want.IsTupleType():
		if types := want.TupleElementTypes(); !IsList(v) || len(types) != v.LengthInt() {
			if IsList(v) {
				return []TypeError{{At: p.At(), Why: fmt.Sprintf("%s must be a list of exactly %d, and this is one of %d", p.Name, len(types), v.LengthInt())}}
			}
			return []TypeError{wrongKind(v, p, fmt.Sprintf("a list of exactly %d", len(types)))}
		}
	case want.IsListType() || want.IsSetType():
		if !IsList(v) {
			return []TypeError{wrongKind(v, p, "a list, [VALUE, VALUE]")}
		}
	default:
		if _, err := budget.Convert(v, want); err != nil {
			return []TypeError{wrongKind(v, p, "a "+want.FriendlyName())}
		}
		return nil
	}
	var out []TypeError
	for i, element := range mark.Elements(v) {
		var typ cty.Type
		if want.IsTupleType() {
			typ = want.TupleElementType(i)
		} else {
			typ = want.ElementType()
		}
		out = append(out, TypeErrors(element, typ, p.index(i))...)
	}
	return out
}

func wrongKind(v cty.Value, p Place, want string) TypeError {
	return TypeError{At: p.At(), Why: fmt.Sprintf("%s must be %s, and this is %s", p.Name, want, KindOf(v))}
}

// objectErrors compares the attributes of an object. The error about a missing attribute
// stands at the name that was probably meant.
func objectErrors(v cty.Value, want cty.Type, p Place) []TypeError {
	known := slices.Sorted(maps.Keys(want.AttributeTypes()))
	if !IsMap(v) {
		return []TypeError{wrongKind(v, p, fmt.Sprintf("an object with %s", words.Sorted(known)))}
	}
	given := map[string]cty.Value{}
	var surplus []string
	for _, m := range mark.Members(v) {
		given[m.Key] = m.Value
		if !want.HasAttribute(m.Key) {
			surplus = append(surplus, m.Key)
		}
	}
	var out []TypeError
	meant := map[string]bool{}
	for _, name := range known {
		value, ok := given[name]
		switch {
		case ok:
			out = append(out, TypeErrors(value, want.AttributeType(name), p.attribute(name))...)
		case !want.AttributeOptional(name):
			if other := words.Nearest(name, surplus); other != "" {
				meant[other] = true
				out = append(out, TypeError{At: p.attribute(other).Key, Why: fmt.Sprintf("%s has no attribute %q, and needs one that is called %q", p.Name, other, name)})
				continue
			}
			out = append(out, TypeError{At: p.Key, Why: fmt.Sprintf("%s needs an attribute %q", p.Name, name)})
		}
	}
	for _, name := range surplus {
		if !meant[name] && p.complete() {
			out = append(out, TypeError{
				At: p.attribute(name).Key, Surplus: true,
				Why: words.WithHint(words.DidYouMean(name, known), fmt.Sprintf("%s has no attribute %q, so that it is ignored. It has: %s", p.Name, name, words.Sorted(known))),
			})
		}
	}
	return out
}

// PathText returns the text of a path after a name: `.disk[2]`.
func PathText(path cty.Path) string {
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

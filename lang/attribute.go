package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// attribute evaluates an attribute and converts it. It is not ok when there is no
// value: not written, null, or wrong, which was reported.
func (e *evaluator) attribute(b *source.Block, name string, want cty.Type) (v cty.Value, ok bool) {
	attr := b.Attributes[name]
	if attr == nil {
		return cty.NilVal, false
	}
	v = e.value(attr.Expr)
	if !v.IsKnown() {
		return v, false
	}
	if v.IsNull() {
		if typ := b.Type.Attribute(name); typ.Required && !e.given(b, typ.Unless) {
			e.report.Error(attr.Expr.Range(), "Missing value", "%s needs a value for %q; this one is null.", b.Described(), name)
		}
		return v, false
	}
	converted, err := convert.Convert(v, want)
	if err != nil {
		e.unsuitable(b, name, "It %s", mismatch(b.Type.Attribute(name).Type, v, err))
		return v, false
	}
	return converted, converted.IsWhollyKnown()
}

// settled reports whether all is known of some arguments of a block that a check compares:
// what depends on something that is not known, or is wrong, must not be found wrong because
// of that.
func (e *evaluator) settled(b *source.Block, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		attr := b.Attributes[name]
		return attr != nil && !e.value(attr.Expr).IsWhollyKnown()
	})
}

// awaited are the marks of what an attribute waits for.
func (e *evaluator) awaited(b *source.Block, name string) cty.ValueMarks {
	attr := b.Attributes[name]
	if attr == nil {
		return nil
	}
	return values.Deferrals(e.value(attr.Expr))
}

// given reports whether an attribute has a value: it is written and not null.
func (e *evaluator) given(b *source.Block, name string) bool {
	attr := b.Attributes[name]
	return attr != nil && !e.value(attr.Expr).IsNull()
}

// mismatch says why a value does not fit.
func mismatch(want schema.AttributeType, v cty.Value, err error) string {
	bare, _ := v.Unmark()
	if bare.Type().IsPrimitiveType() || values.IsList(bare) != (want == schema.TypeList) {
		return fmt.Sprintf("must be a %s, and this is %s.", want, values.KindOf(bare))
	}
	return fmt.Sprintf("must be a %s: %s.", want, err)
}

func (e *evaluator) unsuitable(b *source.Block, name, detail string, args ...any) {
	e.report.Error(b.AttributeRange(name), fmt.Sprintf("Unsuitable value for %q", name), detail, args...)
}

// public reports values that would have to be kept secret in places where they
// would be shown.
func (e *evaluator) public(v cty.Value, at hcl.Range, what string) bool {
	if values.Plain(v) {
		return true
	}
	_, marks := v.UnmarkDeep()
	return e.publicMarks(marks, at, what)
}

func (e *evaluator) publicMarks(marks cty.ValueMarks, at hcl.Range, what string) bool {
	for m := range marks {
		if made, ok := m.(mark.Generated); ok {
			ref := configs.SecretRef(made)
			e.report.Error(at, "A secret would be shown", "The value of %s cannot be used in %s%s", ref.Describe(), what, instead(what, ref))
			return false
		}
	}
	if _, sensitive := marks[mark.Sensitive{}]; sensitive {
		e.report.Error(at, "A secret would be shown", "The value comes from a sensitive variable and cannot be used in %s, which is no secret. Put it into env or a config file, or say nonsensitive(...) if it may be seen.", what)
		return false
	}
	return true
}

// instead says where the value of a generated secret can be used.
func instead(what string, ref configs.SecretRef) string {
	if ref.Public() {
		return " as it is. This part of it is public, though: write nonsensitive(...), and it is read from the cluster."
	}
	if what == "a manifest" || what == "a patch" {
		return ". The Secret that holds it can be named, as secret.NAME.name or SERVICE-NAME, for pods to take it from there."
	}
	return ", which is no secret. Put it into env or a config file."
}

// publicAttribute is attribute for values that are shown.
func (e *evaluator) publicAttribute(b *source.Block, name string, want cty.Type) (cty.Value, bool) {
	v, ok := e.attribute(b, name, want)
	if !ok && !mark.IsDeferred(v) {
		return cty.NilVal, false
	}
	if !ok {
		e.undecided(v, b.AttributeRange(name), fmt.Sprintf("%q", name))
		return cty.NilVal, false
	}
	if !e.public(v, b.AttributeRange(name), fmt.Sprintf("%q", name)) {
		return cty.NilVal, false
	}
	return v, true
}

// string evaluates an attribute of TypeString; its default where there is no value, and
// nothing where the value is not known or wrong.
func (e *evaluator) string(b *source.Block, name string) string {
	typ := b.Type.Attribute(name)
	v, ok := e.publicAttribute(b, name, cty.String)
	if !ok {
		if e.given(b, name) {
			return ""
		}
		fallback, _ := typ.Default.(string)
		return fallback
	}
	s := v.AsString()
	if len(typ.OneOf) > 0 && !slices.Contains(typ.OneOf, s) {
		e.unsuitable(b, name, "%s", words.WithHint(words.DidYouMean(s, typ.OneOf), fmt.Sprintf("%q is not one of: %s.", s, strings.Join(typ.OneOf, ", "))))
		return ""
	}
	if !e.checkForm(b, name, "", s) {
		return ""
	}
	return s
}

// checkForm reports a string that does not look as it has to. where says which
// one of several it is.
func (e *evaluator) checkForm(b *source.Block, name, where, s string) bool {
	form := b.Type.Attribute(name).Form
	if form.Valid == nil || form.Valid(s) {
		return true
	}
	if root, rest, ok := strings.Cut(s, "."); ok && rest != "" && (slices.Contains(named, root) || root == "each" || root == "count") {
		e.unsuitable(b, name, "%q%s is a text, because it stands in quotes. To refer to something take them away: %s.", s, where, s)
		return false
	}
	e.unsuitable(b, name, "%q%s is not %s.", s, where, form.Expected)
	return false
}

// number evaluates an attribute of TypeNumber; its default where there is no value.
func (e *evaluator) number(b *source.Block, name string) int {
	typ := b.Type.Attribute(name)
	fallback, _ := typ.Default.(int)
	v, ok := e.publicAttribute(b, name, cty.Number)
	if !ok {
		return fallback
	}
	var n int
	err := gocty.FromCtyValue(v, &n)
	switch {
	case err != nil:
		e.unsuitable(b, name, "It must be a whole number.")
	case n < typ.Min || typ.Max > 0 && n > typ.Max:
		e.unsuitable(b, name, "It must be %s.", bounds(typ))
	default:
		return n
	}
	return fallback
}

func bounds(a *schema.Attribute) string {
	if a.Max == 0 {
		return fmt.Sprintf("at least %d", a.Min)
	}
	return fmt.Sprintf("from %d to %d", a.Min, a.Max)
}

// bool evaluates an attribute of TypeBool; its default where there is no value.
func (e *evaluator) bool(b *source.Block, name string) bool {
	fallback, _ := b.Type.Attribute(name).Default.(bool)
	v, ok := e.publicAttribute(b, name, cty.Bool)
	if !ok {
		return fallback
	}
	return v.True()
}

// list evaluates an attribute of TypeList.
func (e *evaluator) list(b *source.Block, name string) []string {
	attr := b.Attributes[name]
	if attr == nil {
		return nil
	}
	if out, ok := e.memo.lists[attr.Expr]; ok {
		return out
	}
	v, ok := e.publicAttribute(b, name, cty.List(cty.String))
	if !ok {
		return nil
	}
	items := mark.Elements(v)
	var out []string
	for i, item := range items {
		if item.IsNull() {
			e.unsuitable(b, name, "Element %d is null.", i)
			continue
		}
		if s := item.AsString(); e.checkForm(b, name, fmt.Sprintf(", element %d,", i), s) {
			out = append(out, s)
		}
	}
	if _, constant := e.memo.constants[attr.Expr]; constant && len(out) == len(items) {
		e.memo.lists[attr.Expr] = slices.Clip(out)
	}
	return out
}

// strings evaluates an attribute of TypeMap. Entries that are null are left out.
func (e *evaluator) strings(b *source.Block, name string) map[string]string {
	v, ok := e.publicAttribute(b, name, cty.Map(cty.String))
	if !ok {
		return nil
	}
	out := map[string]string{}
	for _, m := range mark.Members(v) {
		if m.Value.IsNull() {
			continue
		}
		if s := m.Value.AsString(); e.checkForm(b, name, fmt.Sprintf(", the value of %q,", m.Key), s) {
			out[m.Key] = s
		}
	}
	return out
}

// text evaluates an attribute that may hold secrets. It is given if it is written and not
// null.
func (e *evaluator) text(b *source.Block, name string) (text configs.Text, given bool) {
	v, ok := e.attribute(b, name, cty.String)
	if v == cty.NilVal || v.IsNull() {
		return nil, false
	}
	if !ok && !mark.IsDeferred(v) {
		return nil, true
	}
	return e.textOf(v, b.AttributeRange(name)), true
}

func (e *evaluator) textOf(v cty.Value, at hcl.Range) configs.Text {
	text, err := values.TextOf(v)
	if err != nil {
		e.report.Error(at, "Unsuitable value", "%s.", words.Sentence(err))
	}
	return text
}

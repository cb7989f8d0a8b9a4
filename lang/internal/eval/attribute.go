package eval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// Attribute evaluates an attribute and converts its value. ok is false if there is no value:
// the attribute is missing, null or wrong. Wrong values are reported.
func Attribute(e *Env, b *source.Block, name string, want cty.Type) (v cty.Value, ok bool) {
	attr := b.Attributes[name]
	if attr == nil {
		return cty.NilVal, false
	}
	v = e.Value(attr.Expr)
	if !v.IsKnown() {
		return v, false
	}
	if v.IsNull() {
		if typ := b.Type.Attribute(name); typ.Required && !IsSet(e, b, typ.Unless) {
			e.Report.Error(attr.Expr.Range(), "Missing value", "%s needs a value for %q; this one is null.", b.Described(), name)
		}
		return v, false
	}
	converted, err := budget.Convert(v, want)
	if err != nil {
		Unsuitable(e, b, name, "It %s", mismatch(b.Type.Attribute(name), v, err))
		return v, false
	}
	return converted, converted.IsWhollyKnown()
}

// AllKnown reports whether the values of some arguments of a block are known and right. Checks
// that compare arguments skip the others, so that one mistake is not reported twice.
func AllKnown(e *Env, b *source.Block, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		attr := b.Attributes[name]
		return attr != nil && !e.Value(attr.Expr).IsWhollyKnown()
	})
}

// Awaited returns the marks of the data that an attribute waits for.
func Awaited(e *Env, b *source.Block, name string) cty.ValueMarks {
	attr := b.Attributes[name]
	if attr == nil {
		return nil
	}
	return values.Deferrals(e.Value(attr.Expr))
}

// IsSet reports whether an attribute is there and not null.
func IsSet(e *Env, b *source.Block, name string) bool {
	attr := b.Attributes[name]
	return attr != nil && !e.Value(attr.Expr).IsNull()
}

// mismatch returns the reason why a value does not fit.
func mismatch(attr *schema.Attribute, v cty.Value, err error) string {
	bare, _ := v.Unmark()
	want, list := string(attr.Type), attr.Type == schema.TypeList
	switch {
	case attr.Value == "":
	case attr.Type == schema.TypeList:
		want = attr.Value
	case attr.Type == schema.TypeAny:
		want, list = attr.Value, values.IsList(bare) // "list of objects"
	}
	if bare.Type().IsPrimitiveType() || values.IsList(bare) != list {
		return fmt.Sprintf("must be a %s, and this is %s.", want, values.KindOf(bare))
	}
	return fmt.Sprintf("must be a %s: %s.", want, err)
}

// Unsuitable reports the value of an attribute.
func Unsuitable(e *Env, b *source.Block, name, detail string, args ...any) {
	e.Report.Error(b.AttributeRange(name), fmt.Sprintf("Unsuitable value for %q", name), detail, args...)
}

// CheckNotSecret reports secret values in places where everybody would see them.
func CheckNotSecret(e *Env, v cty.Value, at hcl.Range, what string) bool {
	if values.Plain(v) {
		return true
	}
	_, marks := v.UnmarkDeep()
	return PublicMarks(e, marks, at, what)
}

// PublicMarks does the same as Public, for the marks of a value.
func PublicMarks(e *Env, marks cty.ValueMarks, at hcl.Range, what string) bool {
	for m := range marks {
		if made, ok := m.(mark.Generated); ok {
			ref := configs.SecretRef(made)
			e.Report.Error(at, "A secret would be shown", "The value of %s cannot be used in %s%s", ref.Describe(), what, Instead(what, ref))
			return false
		}
	}
	if _, sensitive := marks[mark.Sensitive{}]; sensitive {
		e.Report.Error(at, "A secret would be shown", "The value comes from a sensitive variable and cannot be used in %s, which is no secret. Put it into env or a config file, or say nonsensitive(...) if it may be seen.", what)
		return false
	}
	return true
}

// Instead returns a text about the places where the value of a generated secret can be used.
func Instead(what string, ref configs.SecretRef) string {
	if ref.Public() {
		return " as it is. This part of it is public, though: write nonsensitive(...), and it is read from the cluster."
	}
	if what == "a manifest" || what == "a patch" {
		return ". The Secret that holds it can be named, as secret.NAME.name or SERVICE-NAME, for pods to take it from there."
	}
	return ", which is no secret. Put it into env or a config file."
}

// PublicAttribute is Attribute for values that everybody can see.
func PublicAttribute(e *Env, b *source.Block, name string, want cty.Type) (cty.Value, bool) {
	v, ok := Attribute(e, b, name, want)
	if !ok && !mark.IsDeferred(v) {
		return cty.NilVal, false
	}
	if !ok {
		ReportDeferred(e, v, b.AttributeRange(name), fmt.Sprintf("%q", name))
		return cty.NilVal, false
	}
	if !CheckNotSecret(e, v, b.AttributeRange(name), fmt.Sprintf("%q", name)) {
		return cty.NilVal, false
	}
	return v, true
}

// String evaluates an attribute of TypeString. It returns the default if there is no value, and
// an empty string if the value is unknown or wrong.
func String(e *Env, b *source.Block, name string) string {
	typ := b.Type.Attribute(name)
	v, ok := PublicAttribute(e, b, name, cty.String)
	if !ok {
		if IsSet(e, b, name) {
			return ""
		}
		fallback, _ := typ.Default.(string)
		return fallback
	}
	s := v.AsString()
	if len(typ.OneOf) > 0 && !slices.Contains(typ.OneOf, s) {
		Unsuitable(e, b, name, "%s", notOneOf(s, typ.OneOf))
		return ""
	}
	if !checkForm(e, b, name, "", s) {
		return ""
	}
	return s
}

// notOneOf says that a string is none of the allowed ones. A number, such as that of a release, is
// no misspelling of a greater or smaller one.
func notOneOf(s string, allowed []string) string {
	all := strings.Join(allowed, ", ")
	given, err := strconv.ParseFloat(s, 64)
	first, failed := strconv.ParseFloat(allowed[0], 64)
	last, alsoFailed := strconv.ParseFloat(allowed[len(allowed)-1], 64)
	switch {
	case err != nil || failed != nil || alsoFailed != nil:
		return words.WithHint(words.DidYouMean(s, allowed), fmt.Sprintf("%q is not one of: %s.", s, all))
	case given < first:
		return fmt.Sprintf("%q is too old: this version of kolla knows %s. A cloud of an older release is first upgraded by what deployed it.", s, all)
	case given > last:
		return fmt.Sprintf("%q is too new: this version of kolla knows %s. A later version of kolla may know it.", s, all)
	}
	return fmt.Sprintf("%q is not one of: %s.", s, all)
}

// checkForm reports a string without the required form. where names the element if there are
// several.
func checkForm(e *Env, b *source.Block, name, where, s string) bool {
	form := b.Type.Attribute(name).Form
	if form.Valid == nil || form.Valid(s) {
		return true
	}
	if root, rest, ok := strings.Cut(s, "."); ok && rest != "" && (slices.Contains(NamedKinds, root) || root == "each" || root == "count") {
		Unsuitable(e, b, name, "%q%s is a string, because it is in quotes. A reference has no quotes: %s.", s, where, s)
		return false
	}
	Unsuitable(e, b, name, "%q%s is not %s.", s, where, form.Expected)
	return false
}

// Number evaluates an attribute of TypeNumber. It returns the default if there is no value.
func Number(e *Env, b *source.Block, name string) int {
	typ := b.Type.Attribute(name)
	fallback, _ := typ.Default.(int)
	v, ok := PublicAttribute(e, b, name, cty.Number)
	if !ok {
		return fallback
	}
	var n int
	err := gocty.FromCtyValue(v, &n)
	switch {
	case err != nil:
		Unsuitable(e, b, name, "It must be a whole number.")
	case n < typ.Min || typ.Max > 0 && n > typ.Max:
		Unsuitable(e, b, name, "It must be %s.", bounds(typ))
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

// Bool evaluates an attribute of TypeBool. It returns the default if there is no value.
func Bool(e *Env, b *source.Block, name string) bool {
	fallback, _ := b.Type.Attribute(name).Default.(bool)
	v, ok := PublicAttribute(e, b, name, cty.Bool)
	if !ok {
		return fallback
	}
	return v.True()
}

// List evaluates an attribute of TypeList.
func List(e *Env, b *source.Block, name string) []string {
	attr := b.Attributes[name]
	if attr == nil {
		return nil
	}
	if out, ok := e.Memo.lists[attr.Expr]; ok {
		return out
	}
	v, ok := PublicAttribute(e, b, name, cty.List(cty.String))
	if !ok {
		return nil
	}
	items := mark.Elements(v)
	var out []string
	for i, item := range items {
		if item.IsNull() {
			Unsuitable(e, b, name, "Element %d is null.", i)
			continue
		}
		if s := item.AsString(); checkForm(e, b, name, fmt.Sprintf(", element %d,", i), s) {
			out = append(out, s)
		}
	}
	if _, constant := e.Memo.constants[attr.Expr]; constant && len(out) == len(items) {
		e.Memo.lists[attr.Expr] = slices.Clip(out)
	}
	return out
}

// Strings evaluates an attribute of TypeMap, without entries that are null.
func Strings(e *Env, b *source.Block, name string) map[string]string {
	v, ok := PublicAttribute(e, b, name, cty.Map(cty.String))
	if !ok {
		return nil
	}
	out := map[string]string{}
	for _, m := range mark.Members(v) {
		if m.Value.IsNull() {
			continue
		}
		if s := m.Value.AsString(); checkForm(e, b, name, fmt.Sprintf(", the value of %q,", m.Key), s) {
			out[m.Key] = s
		}
	}
	return out
}

// Text evaluates an attribute that may contain secrets. given is true if the attribute is there
// and not null.
func Text(e *Env, b *source.Block, name string) (text configs.Text, given bool) {
	v, ok := Attribute(e, b, name, cty.String)
	if v == cty.NilVal || v.IsNull() {
		return nil, false
	}
	if !ok && !mark.IsDeferred(v) {
		return nil, true
	}
	return TextOf(e, v, b.AttributeRange(name)), true
}

// TextOf converts a value that may contain secrets.
func TextOf(e *Env, v cty.Value, at hcl.Range) configs.Text {
	text, err := values.TextOf(v)
	if err != nil {
		e.Report.Error(at, "Unsuitable value", "%s.", words.Sentence(err))
	}
	return text
}

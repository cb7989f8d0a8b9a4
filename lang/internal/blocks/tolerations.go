package blocks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"k8s.io/apimachinery/pkg/util/validation"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema/forms"
)

// tolerationFields maps the fields of a toleration to their allowed values.
var tolerationFields = map[string][]string{
	"key": nil, "value": nil,
	"operator": {"Equal", "Exists"},
	"effect":   forms.TaintEffects,
}

// Tolerations evaluates an attribute of TypeTolerations.
func Tolerations(e *eval.Env, b *source.Block, name string) []configs.Toleration {
	attr := b.Attributes[name]
	if attr == nil {
		return nil
	}
	v := e.Value(attr.Expr)
	if !v.IsWhollyKnown() {
		eval.ReportDeferred(e, v, b.AttributeRange(name), fmt.Sprintf("%q", name))
		return nil
	}
	if v.IsNull() || !eval.CheckNotSecret(e, v, b.AttributeRange(name), fmt.Sprintf("%q", name)) {
		return nil
	}
	if !values.IsList(v) {
		eval.Unsuitable(e, b, name, "It must be a list of tolerations, [{ key = \"KEY\", effect = \"NoSchedule\" }], and this is %s.", values.KindOf(v))
		return nil
	}
	var out []configs.Toleration
	for i, item := range mark.Elements(v) {
		if t, ok := tolerationOf(e, b, name, i, item); ok && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// tolerationOf returns an element of the list.
func tolerationOf(e *eval.Env, b *source.Block, name string, i int, v cty.Value) (t configs.Toleration, ok bool) {
	if v.IsNull() || !values.IsMap(v) {
		eval.Unsuitable(e, b, name, "Element %d must be { key = \"KEY\", effect = \"NoSchedule\" }, and it is %s.", i, values.KindOf(v))
		return t, false
	}
	fields := map[string]string{}
	for _, m := range mark.Members(v) {
		allowed, known := tolerationFields[m.Key]
		text, err := convert.Convert(m.Value, cty.String)
		switch {
		case !known:
			eval.Unsuitable(e, b, name, "%s", words.WithHint(words.DidYouMean(m.Key, slices.Sorted(maps.Keys(tolerationFields))), fmt.Sprintf("Element %d has %q, and a toleration has key, operator, value and effect.", i, m.Key)))
			return t, false
		case err != nil:
			eval.Unsuitable(e, b, name, "Element %d: %s must be a string, and this is %s.", i, m.Key, values.KindOf(m.Value))
			return t, false
		case text.IsNull():
			continue
		case allowed != nil && !slices.Contains(allowed, text.AsString()):
			eval.Unsuitable(e, b, name, "Element %d: %s %q is not one of: %s.", i, m.Key, text.AsString(), strings.Join(allowed, ", "))
			return t, false
		}
		fields[m.Key] = text.AsString()
	}
	t = configs.Toleration{Key: fields["key"], Operator: fields["operator"], Value: fields["value"], Effect: fields["effect"]}
	if t.Operator == "" {
		t.Operator = "Equal"
	}
	if why := untolerable(t); why != "" {
		eval.Unsuitable(e, b, name, "Element %d: %s.", i, why)
		return t, false
	}
	return t, true
}

// untolerable returns the reason why the API server would refuse a toleration, or empty.
func untolerable(t configs.Toleration) string {
	switch {
	case t.Key == "" && t.Operator == "Equal":
		return `without a key it tolerates all taints, and that is operator = "Exists"`
	case t.Key != "" && len(validation.IsQualifiedName(t.Key)) > 0:
		return fmt.Sprintf("%q is not the key of a taint", t.Key)
	case t.Value != "" && t.Operator == "Exists":
		return `operator = "Exists" takes no value: any will do`
	case len(validation.IsValidLabelValue(t.Value)) > 0:
		return fmt.Sprintf("%q is not the value of a taint", t.Value)
	}
	return ""
}

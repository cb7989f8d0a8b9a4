package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"k8s.io/apimachinery/pkg/util/validation"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// Where the pods of a workload may run, and how they share the nodes.

// tolerationFields are the fields of a toleration, with the values that they may have.
var tolerationFields = map[string][]string{
	"key": nil, "value": nil,
	"operator": {"Equal", "Exists"},
	"effect":   schema.TaintEffects,
}

// tolerations evaluates an attribute of TypeTolerations.
func (e *evaluator) tolerations(b *source.Block, name string) []configs.Toleration {
	attr := b.Attributes[name]
	if attr == nil {
		return nil
	}
	v := e.value(attr.Expr)
	if !v.IsWhollyKnown() {
		e.undecided(v, b.AttributeRange(name), fmt.Sprintf("%q", name))
		return nil
	}
	if v.IsNull() || !e.public(v, b.AttributeRange(name), fmt.Sprintf("%q", name)) {
		return nil
	}
	if !values.IsList(v) {
		e.unsuitable(b, name, "It must be a list of tolerations, [{ key = \"KEY\", effect = \"NoSchedule\" }], and this is %s.", values.KindOf(v))
		return nil
	}
	var out []configs.Toleration
	for i, item := range mark.Elements(v) {
		if t, ok := e.toleration(b, name, i, item); ok && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// toleration is an element of the list.
func (e *evaluator) toleration(b *source.Block, name string, i int, v cty.Value) (t configs.Toleration, ok bool) {
	if v.IsNull() || !values.IsMap(v) {
		e.unsuitable(b, name, "Element %d must be { key = \"KEY\", effect = \"NoSchedule\" }, and it is %s.", i, values.KindOf(v))
		return t, false
	}
	fields := map[string]string{}
	for _, m := range mark.Members(v) {
		allowed, known := tolerationFields[m.Key]
		text, err := convert.Convert(m.Value, cty.String)
		switch {
		case !known:
			e.unsuitable(b, name, "%s", words.WithHint(words.DidYouMean(m.Key, keysOf(tolerationFields)), fmt.Sprintf("Element %d has %q, and a toleration has key, operator, value and effect.", i, m.Key)))
			return t, false
		case err != nil:
			e.unsuitable(b, name, "Element %d: %s must be a string, and this is %s.", i, m.Key, values.KindOf(m.Value))
			return t, false
		case text.IsNull():
			continue
		case allowed != nil && !slices.Contains(allowed, text.AsString()):
			e.unsuitable(b, name, "Element %d: %s %q is not one of: %s.", i, m.Key, text.AsString(), strings.Join(allowed, ", "))
			return t, false
		}
		fields[m.Key] = text.AsString()
	}
	t = configs.Toleration{Key: fields["key"], Operator: fields["operator"], Value: fields["value"], Effect: fields["effect"]}
	if t.Operator == "" {
		t.Operator = "Equal"
	}
	if why := untolerable(t); why != "" {
		e.unsuitable(b, name, "Element %d: %s.", i, why)
		return t, false
	}
	return t, true
}

// untolerable is the reason why the API server would refuse a toleration; empty: none.
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

// placement reads where the pods of a workload may run.
func (in *instance) placement(b *source.Block, w *configs.Workload) {
	e := in.inner
	w.Pod.Priority = e.string(b, "priority")
	w.Pod.Tolerations = e.tolerations(b, "tolerations")
	w.SpreadRequired = e.string(b, "spread") == "required"
	w.SpreadBy = e.string(b, "spread_by")
	if w.Kind != "DaemonSet" {
		return
	}
	for _, name := range []string{"spread", "spread_by"} {
		if e.given(b, name) {
			e.unsuitable(b, name, "A DaemonSet has one pod on each node of its role as it is.")
		}
	}
}

package live_test

import (
	"fmt"
	"reflect"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
)

// untrue says which values of an action disagree with the server; empty: none. Before must be part
// of the live object, after must be part of the answer, and both pairs must differ in the same
// fields.
func (v *verdict) untrue(a *plans.Action) string {
	if a == nil || v.answer == nil || a.Deferred() {
		return ""
	}
	values := a.Values
	switch {
	case values == nil:
		return "it has no values"
	case a.Verb == plans.Create:
		return missing("after", values.After.Values, v.answer)
	case a.Verb != plans.None && a.Verb != plans.Update && a.Verb != plans.Adopt, v.live == nil:
		return ""
	}
	before, after := values.Before, values.After
	if a.Verb == plans.None {
		after = before
	}
	if text := missing("before", before.Values, v.live); text != "" || len(v.added) > 0 {
		return text // the plan removes fields that others added; the answer still has them
	}
	if text := missing("after", after.Values, v.answer); text != "" || a.Ref.GVK.GroupKind() == kinds.Secret {
		return text // the values of Secrets are masked, so a difference is not visible
	}
	// managedFields show which lists have keys.
	is, err := fields.Diff(managedAs(before.Values, v.live), managedAs(after.Values, v.answer))
	if err != nil {
		return err.Error()
	}
	should, err := fields.Diff(v.live, v.answer)
	if err != nil {
		return err.Error()
	}
	return cmp.Diff(should, is)
}

func managedAs(values map[string]any, u *unstructured.Unstructured) *unstructured.Unstructured {
	out := (&unstructured.Unstructured{Object: values}).DeepCopy()
	out.SetManagedFields(u.GetManagedFields())
	return out
}

// missing says where a value differs from the object; empty: nowhere.
func missing(name string, part map[string]any, u *unstructured.Unstructured) string {
	if where := partOf(part, u.Object, name); where != "" {
		return fmt.Sprintf("%s is not so: it has %s, and the object is %s", where, inJSON(part), inJSON(u.Object))
	}
	return ""
}

// partOf finds the first field of part that whole lacks, with lists in the same order; empty: whole
// has all fields.
func partOf(part, whole any, path string) string {
	switch part := part.(type) {
	case map[string]any:
		fields, _ := whole.(map[string]any)
		for name, value := range part {
			other, has := fields[name]
			if !has {
				return path + "." + name
			}
			if where := partOf(value, other, path+"."+name); where != "" {
				return where
			}
		}
		return ""
	case []any:
		list, _ := whole.([]any)
		at := 0
		for i, element := range part {
			for at < len(list) && partOf(element, list[at], "-") != "" {
				at++
			}
			if at == len(list) {
				return fmt.Sprintf("%s[%d]", path, i)
			}
			at++
		}
		return ""
	}
	if part != plans.Masked && !reflect.DeepEqual(part, whole) {
		return path
	}
	return ""
}

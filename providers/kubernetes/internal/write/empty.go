package write

import (
	"context"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/dryrun"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// complete applies the object once more where that gives it what is to be empty. Of
// a map or list that is to be empty now, the server takes away the last field that
// the manager owned, and the map with it; it sets an empty one only if there was none
// before. Other empty ones it never keeps.
//
// So a dry run says first what the second apply would do. It is only made if it adds
// nothing but what is empty, and to the very version that was looked at. It takes
// what is missing from others who own the same: it is not for them to keep.
//
// The object is written by now, whatever comes of this: what goes wrong here leaves
// something missing, which the next plan finds. So do others who never stop writing to
// the object. It is returned as it was last seen.
func complete(ctx context.Context, a *resources.Access, where resources.Resource, object, live *unstructured.Unstructured, options providers.ApplyOptions) *unstructured.Unstructured {
	options.Force = true
	ref := providers.RefOf(object)
	target := a.At(where, ref.Namespace)
	for contention := providers.Contend(); ; {
		would, err := dryrun.Send(ctx, a.Connection, target, object, options.Manager, true)
		if err != nil {
			return live
		}
		if would.GetUID() == live.GetUID() && would.GetResourceVersion() == live.GetResourceVersion() {
			if !onlyEmpties(live, would) {
				return live
			}
			options.Precondition.ResourceVersion = live.GetResourceVersion()
			if again, err := write(ctx, a, ref, object, options); err == nil {
				return again
			}
		}
		if !contention.Again(ctx) {
			return live
		}
		now, err := a.Get(ctx, target, ref.Name)
		if err != nil || now.GetUID() != live.GetUID() {
			return live
		}
		live = now
	}
}

// onlyEmpties reports whether two versions of an object differ, and only in maps and
// lists that are empty.
func onlyEmpties(before, after *unstructured.Unstructured) bool {
	content := func(u *unstructured.Unstructured) map[string]any {
		object := u.DeepCopy().Object
		for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
			unstructured.RemoveNestedField(object, "metadata", field)
		}
		// It counts the changes of a DaemonSet's template, like the generation.
		unstructured.RemoveNestedField(object, "metadata", "annotations", appsv1.DeprecatedTemplateGeneration)
		return object
	}
	was, is := content(before), content(after)
	return !reflect.DeepEqual(was, is) && reflect.DeepEqual(withoutEmpties(was), withoutEmpties(is))
}

// withoutEmpties takes all that is empty out of a value; what is empty then, too.
func withoutEmpties(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if inner = withoutEmpties(inner); inner == nil {
				delete(value, name)
			} else {
				value[name] = inner
			}
		}
		if len(value) == 0 {
			return nil
		}
	case []any:
		for i := range value {
			value[i] = withoutEmpties(value[i])
		}
		if len(value) == 0 {
			return nil
		}
	}
	return value
}

// dropped reports whether something that is wanted empty is not there at all. For
// elements of lists it looks at those in the same place.
func dropped(wanted, live any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		live, ok := live.(map[string]any)
		if !ok || len(wanted) == 0 {
			return !ok
		}
		for name, value := range wanted {
			if dropped(value, live[name]) {
				return true
			}
		}
	case []any:
		live, ok := live.([]any)
		if !ok || len(wanted) == 0 {
			return !ok
		}
		for i := range min(len(wanted), len(live)) {
			if dropped(wanted[i], live[i]) {
				return true
			}
		}
	}
	return false
}

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

// complete applies the object once more if that adds missing empty maps and lists. When a map
// becomes empty, the server removes the last field that the manager owned, and the map with it.
// Only the next apply adds the empty map. Other empty maps and lists are never stored.
//
// A dry run shows the result of the second apply first. The second apply is made only if it adds
// nothing but empty maps and lists, and only to the version that the dry run saw. It forces
// conflicts about them.
//
// The first apply has succeeded already. If the second one fails, or if other programs never stop
// writing to the object, an empty field is missing, and the next plan shows it. complete returns
// the object as last seen.
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
			if !onlyEmptyFields(live, would) {
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

// onlyEmptyFields reports whether two versions of an object differ in empty maps and lists only.
// It is false for equal versions.
func onlyEmptyFields(before, after *unstructured.Unstructured) bool {
	content := func(u *unstructured.Unstructured) map[string]any {
		object := u.DeepCopy().Object
		for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
			unstructured.RemoveNestedField(object, "metadata", field)
		}
		// This annotation counts changes of the template of a DaemonSet, like the generation.
		unstructured.RemoveNestedField(object, "metadata", "annotations", appsv1.DeprecatedTemplateGeneration)
		return object
	}
	was, is := content(before), content(after)
	return !reflect.DeepEqual(was, is) && reflect.DeepEqual(withoutEmptyFields(was), withoutEmptyFields(is))
}

// withoutEmptyFields removes empty maps and lists from a value. It also removes the maps and
// lists that this leaves empty.
func withoutEmptyFields(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if inner = withoutEmptyFields(inner); inner == nil {
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
			value[i] = withoutEmptyFields(value[i])
		}
		if len(value) == 0 {
			return nil
		}
	}
	return value
}

// dropped reports whether an empty map or list that is wanted is missing. It compares elements
// of lists by their position.
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

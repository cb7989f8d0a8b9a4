// Package dryrun asks the API server for the result of an apply. Run is the dry run of a plan:
// under the object's own name, under a throw-away name, or in place of a given version. Nothing
// in this package changes an object.
package dryrun

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// Run asks the server for the result of an apply. If other managers own fields, the error is a
// *providers.ConflictError, unless Force is set. If the server finds a fault in the object, the
// error is an apierrors.APIStatus. With Surrogate, the answer and errors contain the object's own
// name and namespace.
func Run(ctx context.Context, a *resources.Access, object *unstructured.Unstructured, options providers.DryRunOptions) (*unstructured.Unstructured, error) {
	ref := providers.RefOf(object)
	if options.Warn != nil {
		ctx = connect.WarningsTo(ctx, options.Warn)
	}
	answer, err := ask(connect.About(ctx, ref), a, object, options)
	if err == nil {
		return answer, nil
	}
	if conflict := connect.ConflictOf(ref, err); conflict != nil {
		return nil, conflict
	}
	return nil, fmt.Errorf("dry run of %s: %w", ref, err)
}

// ask sends the dry run under the object's own name, under a throw-away name, or as a patch.
func ask(ctx context.Context, a *resources.Access, object *unstructured.Unstructured, options providers.DryRunOptions) (*unstructured.Unstructured, error) {
	where, err := a.Mapper.Find(ctx, object.GroupVersionKind(), resources.MissAge)
	if err != nil {
		return nil, err
	}
	if options.Over != nil {
		return dryRunOver(ctx, a.Connection, a.At(where, object.GetNamespace()), object, options)
	}
	if !options.Surrogate {
		target, err := a.Target(ctx, providers.RefOf(object))
		if err != nil {
			return nil, err
		}
		answer, err := Send(ctx, a.Connection, target, object, options.Manager, options.Force)
		if err != nil {
			return nil, err
		}
		return withTaints(ctx, a, target, object, answer, options.Manager)
	}
	namespace := ""
	if where.Namespaced {
		namespace = cmp.Or(options.Namespace, providers.SurrogateNamespace)
	}
	stand, err := newSurrogate(object, namespace)
	if err != nil {
		return nil, err
	}
	target := a.At(where, stand.object.GetNamespace())
	answer, err := Send(ctx, a.Connection, target, stand.object, options.Manager, options.Force)
	if err != nil {
		return nil, stand.restoreError(err)
	}
	return stand.restore(answer), nil
}

// dryRunOver asks for the result of replacing a version of the object. It sends a patch of
// all fields, which needs the same permission as an apply.
func dryRunOver(ctx context.Context, c *connect.Connection, target dynamic.ResourceInterface, object *unstructured.Unstructured, options providers.DryRunOptions) (*unstructured.Unstructured, error) {
	c.Secrets.AddObject(object.Object)
	patch, err := json.Marshal(replacing(options.Over, object))
	if err != nil {
		return nil, fmt.Errorf("write the patch: %w", err)
	}
	return connect.Call(ctx, c, connect.VerbDryRun, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return target.Patch(ctx, object.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{
			FieldManager: cmp.Or(options.Manager, providers.FieldManager), DryRun: []string{metav1.DryRunAll},
		})
	})
}

// Send sends one server-side apply that changes nothing, with the retries of connect.Call.
func Send(ctx context.Context, c *connect.Connection, target dynamic.ResourceInterface, object *unstructured.Unstructured, manager string, force bool) (*unstructured.Unstructured, error) {
	c.Secrets.AddObject(object.Object)
	return connect.Call(ctx, c, connect.VerbDryRun, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return target.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{
			FieldManager: cmp.Or(manager, providers.FieldManager), Force: force, DryRun: []string{metav1.DryRunAll},
		})
	})
}

// operation is one operation of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// replacing returns the patch that turns one object into the other, except for its status
// and the owners of its fields. The patch is a conflict if the object has another version by
// then.
func replacing(before, after *unstructured.Unstructured) []operation {
	var patch []operation
	if version := before.GetResourceVersion(); version != "" {
		patch = append(patch, operation{"add", "/metadata/resourceVersion", version})
	}
	replace := func(was, is map[string]any, at string, fields ...string) {
		for _, field := range fields {
			path := at + strings.NewReplacer("~", "~0", "/", "~1").Replace(field)
			_, existed := was[field]
			if value, there := is[field]; there {
				patch = append(patch, operation{"add", path, value})
			} else if existed {
				// Removing a field that is missing is an error. So the field is added first.
				patch = append(patch, operation{"add", path, struct{}{}}, operation{Op: "remove", Path: path})
			}
		}
	}
	fields := slices.AppendSeq(slices.Collect(maps.Keys(before.Object)), maps.Keys(after.Object))
	slices.Sort(fields)
	fields = slices.DeleteFunc(slices.Compact(fields), func(field string) bool {
		return slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, field)
	})
	replace(before.Object, after.Object, "/", fields...)
	was, _ := before.Object["metadata"].(map[string]any)
	is, _ := after.Object["metadata"].(map[string]any)
	replace(was, is, "/metadata/", "annotations", "labels", "ownerReferences")
	return patch
}

// withTaints adds the taints that an apply would leave to the answer of a dry run.
func withTaints(ctx context.Context, a *resources.Access, target dynamic.ResourceInterface, object, answer *unstructured.Unstructured, manager string) (*unstructured.Unstructured, error) {
	if object.GroupVersionKind().GroupKind() != kinds.Node || providers.Untainted(object, answer, manager) {
		return answer, nil
	}
	live, err := a.Get(ctx, target, object.GetName())
	if err != nil {
		return nil, err
	}
	change := providers.TaintingOf(live, object, manager)
	for _, step := range []func(*unstructured.Unstructured) ([]any, bool){change.Remove, change.Add} {
		if taints, changed := step(answer); changed {
			answer = answer.DeepCopy()
			setTaints(answer, taints)
		}
	}
	return answer, nil
}

func setTaints(node *unstructured.Unstructured, taints []any) {
	if len(taints) == 0 {
		unstructured.RemoveNestedField(node.Object, "spec", "taints")
		return
	}
	if err := unstructured.SetNestedSlice(node.Object, taints, "spec", "taints"); err != nil {
		panic(err) // spec of a Node is a map
	}
}

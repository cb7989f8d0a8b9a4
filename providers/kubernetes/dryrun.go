package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/providers"
)

// DryRun asks the server what an apply would make of the object. Fields that
// others own, without Force, are a *providers.ConflictError; what the server
// finds wrong with the object is an apierrors.APIStatus. With Surrogate the
// answer, and what is said about the object in an error, carry its own name and
// namespace.
func (c *Client) DryRun(ctx context.Context, object *unstructured.Unstructured, options providers.DryRunOptions) (*unstructured.Unstructured, error) {
	ref := providers.RefOf(object)
	if options.Warn != nil {
		ctx = warning(ctx, options.Warn)
	}
	answer, err := c.dryRun(about(ctx, ref), object, options)
	if err == nil {
		return answer, nil
	}
	if conflict := conflictOf(ref, err); conflict != nil {
		return nil, conflict
	}
	return nil, fmt.Errorf("dry run of %s: %w", ref, err)
}

func (c *Client) dryRun(ctx context.Context, object *unstructured.Unstructured, options providers.DryRunOptions) (*unstructured.Unstructured, error) {
	where, err := c.kinds.find(ctx, object.GroupVersionKind(), missAge)
	if err != nil {
		return nil, err
	}
	if options.Over != nil {
		return c.dryRunOver(ctx, c.at(where, object.GetNamespace()), object, options)
	}
	if !options.Surrogate {
		target, err := c.target(ctx, providers.RefOf(object))
		if err != nil {
			return nil, err
		}
		answer, err := c.apply(ctx, target, object, metav1.ApplyOptions{FieldManager: options.Manager, Force: options.Force, DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return nil, err
		}
		return c.withTaints(ctx, target, object, answer, options.Manager)
	}
	namespace := ""
	if where.namespaced {
		namespace = cmp.Or(options.Namespace, providers.SurrogateNamespace)
	}
	stand, err := newSurrogate(object, namespace)
	if err != nil {
		return nil, err
	}
	target := c.at(where, stand.object.GetNamespace())
	answer, err := c.apply(ctx, target, stand.object, metav1.ApplyOptions{FieldManager: options.Manager, Force: options.Force, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return nil, stand.restoreError(err)
	}
	return stand.restore(answer), nil
}

// dryRunOver asks what the object would be if it was written in the place of a version
// of it. It sends a patch of all its parts, for which the right is enough that an apply
// needs.
func (c *Client) dryRunOver(ctx context.Context, target dynamic.ResourceInterface, object *unstructured.Unstructured, options providers.DryRunOptions) (*unstructured.Unstructured, error) {
	patch, err := json.Marshal(replacing(options.Over, object))
	if err != nil {
		return nil, fmt.Errorf("write the patch: %w", err)
	}
	return call(ctx, c, verbDryRun, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return target.Patch(ctx, object.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{
			FieldManager: cmp.Or(options.Manager, providers.FieldManager), DryRun: []string{metav1.DryRunAll},
		})
	})
}

// operation is one of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// replacing is the patch that makes the one object of the other, but for its status and
// for who owns its fields. It is a conflict where the object has another version by then.
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
				// What is not there cannot be removed; it may have gone meanwhile.
				patch = append(patch, operation{"add", path, struct{}{}}, operation{Op: "remove", Path: path})
			}
		}
	}
	var fields []string
	for field := range before.Object {
		fields = append(fields, field)
	}
	for field := range after.Object {
		fields = append(fields, field)
	}
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

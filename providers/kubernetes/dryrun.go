package kubernetes

import (
	"cmp"
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// DryRun asks the server what an apply would make of the object. Fields that
// others own, without Force, are a *providers.ConflictError; what the server
// finds wrong with the object is an apierrors.APIStatus. With Surrogate the
// answer, and what is said about the object in an error, carry its own name and
// namespace.
func (c *Client) DryRun(ctx context.Context, object *unstructured.Unstructured, options providers.DryRunOptions) (*unstructured.Unstructured, error) {
	ref := providers.RefOf(object)
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
	if !options.Surrogate {
		target, err := c.target(ctx, providers.RefOf(object), missAge)
		if err != nil {
			return nil, err
		}
		return c.apply(ctx, target, object, metav1.ApplyOptions{FieldManager: options.Manager, Force: options.Force, DryRun: []string{metav1.DryRunAll}})
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

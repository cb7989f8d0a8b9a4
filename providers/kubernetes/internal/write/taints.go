package write

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// taintManager is the field manager that writes taints.
const taintManager = providers.FieldManager + "-taints"

// writeTainted applies a Node. It removes unwanted taints first and adds new ones last. So
// an apply that is killed in between leaves no taint that is missing in the annotation.
func writeTainted(ctx context.Context, a *resources.Access, ref providers.Ref, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	target, err := a.Target(ctx, ref)
	if err != nil {
		return nil, err
	}
	live, err := a.Get(ctx, target, ref.Name)
	switch {
	case apierrors.IsNotFound(err):
		return write(ctx, a, ref, object, options) // the apply reports the missing Node
	case err != nil:
		return nil, err
	}
	change := providers.TaintingOf(live, object, options.Manager)
	bound := options.Precondition
	same := (bound.UID == "" || bound.UID == live.GetUID()) && (bound.ResourceVersion == "" || bound.ResourceVersion == live.GetResourceVersion())
	if same { // else the apply reports the difference
		node, err := taint(ctx, a, target, live, change.Remove)
		if err != nil {
			return nil, err
		}
		if bound.ResourceVersion != "" {
			options.Precondition.ResourceVersion = node.GetResourceVersion()
		}
	}
	applied, err := write(ctx, a, ref, object, options)
	if err != nil {
		return nil, err
	}
	return taint(ctx, a, target, applied, change.Add)
}

// taint changes the taints of a node. It tries again if another program wrote the node in between.
func taint(ctx context.Context, a *resources.Access, target dynamic.ResourceInterface, node *unstructured.Unstructured, change func(*unstructured.Unstructured) ([]any, bool)) (*unstructured.Unstructured, error) {
	uid := node.GetUID()
	err := connect.Retry(ctx, func(ctx context.Context) (again bool, err error) {
		taints, changed := change(node)
		if !changed {
			return false, nil
		}
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"uid": uid, "resourceVersion": node.GetResourceVersion()},
			"spec":     map[string]any{"taints": taints},
		})
		if err != nil {
			return false, fmt.Errorf("write the patch: %w", err)
		}
		patched, err := connect.Call(ctx, a.Connection, connect.VerbPatch, func(ctx context.Context) (*unstructured.Unstructured, error) {
			return target.Patch(ctx, node.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: taintManager})
		})
		if err == nil {
			node = patched
			return false, nil
		}
		if !apierrors.IsConflict(err) {
			return false, err
		}
		live, unread := a.Get(ctx, target, node.GetName())
		switch {
		case unread != nil:
			return false, unread
		case live.GetUID() != uid:
			return false, &providers.PreconditionError{Ref: providers.RefOf(node), Gone: true}
		}
		node = live
		return true, err
	})
	return node, err
}

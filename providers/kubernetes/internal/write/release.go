package write

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// marks are the labels and annotations by which kolla recognizes its objects.
var marks = struct{ labels, annotations []string }{
	labels:      []string{providers.LabelCloud, providers.LabelService},
	annotations: []string{providers.AnnotationAddress, providers.AnnotationIntent, providers.AnnotationRevision, providers.AnnotationChecksum, providers.AnnotationNotAfter, providers.AnnotationRotated},
}

// Release removes kolla's labels and annotations from the object with exactly that UID, and the
// manager from the owners of its fields. Everything else stays as it is. An object that is gone
// already, or has another UID, is no error.
func (w *Writer) Release(ctx context.Context, ref providers.Ref, uid types.UID, manager string) error {
	target, err := w.access.Target(ctx, ref)
	if meta.IsNoMatchError(err) {
		return nil // the definition of the kind was deleted, and all objects with it
	}
	if err == nil {
		err = unmark(ctx, w.access, target, ref.Name, uid, manager)
	}
	if err != nil {
		return fmt.Errorf("release %s: %w", ref, err)
	}
	return nil
}

// unmark reads the object and writes it, until no other write comes between.
func unmark(ctx context.Context, a *resources.Access, target dynamic.ResourceInterface, name string, uid types.UID, manager string) error {
	err := connect.Retry(ctx, func(ctx context.Context) (again bool, err error) {
		live, err := a.Get(ctx, target, name)
		if err != nil {
			return false, err
		}
		if live.GetUID() != uid {
			return false, nil
		}
		patch, err := unmarking(live, manager)
		if err != nil {
			return false, err
		}
		_, err = connect.Call(ctx, a.Connection, connect.VerbPatch, func(ctx context.Context) (*unstructured.Unstructured, error) {
			return target.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
		})
		return apierrors.IsConflict(err), err
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// unmarking returns the merge patch that releases an object.
func unmarking(live *unstructured.Unstructured, manager string) ([]byte, error) {
	without := func(keys []string) map[string]any {
		fields := map[string]any{}
		for _, key := range keys {
			fields[key] = nil
		}
		return fields
	}
	others := slices.DeleteFunc(live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == manager })
	if len(others) == 0 {
		others = []metav1.ManagedFieldsEntry{{}} // an entry without fields means no owner; the server ignores an empty list
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":             live.GetUID(),
		"resourceVersion": live.GetResourceVersion(),
		"labels":          without(marks.labels),
		"annotations":     without(marks.annotations),
		"managedFields":   others,
	}})
	if err != nil {
		return nil, fmt.Errorf("write the patch: %w", err)
	}
	return patch, nil
}

package write

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// Claim makes the manager the only owner of fields of the object, without changing values. It
// returns the resulting object. It drops warnings, because the fields are about to be removed. It
// removes annotations that contain fields of another version of the kind (kinds.FieldBehind),
// because no server-side apply in this version removes them.
func (w *Writer) Claim(ctx context.Context, ref providers.Ref, precondition providers.Precondition, manager, fields string) (*unstructured.Unstructured, error) {
	ctx = connect.WarningsTo(ctx, func(string) {})
	live, err := claim(ctx, w.access, ref, precondition, manager, fields)
	if err != nil {
		return nil, fmt.Errorf("take over fields of %s: %w", ref, err)
	}
	return live, nil
}

// claim is Claim without its error context.
func claim(ctx context.Context, a *resources.Access, ref providers.Ref, precondition providers.Precondition, manager, fields string) (*unstructured.Unstructured, error) {
	claimed := fieldpath.NewSet()
	if err := claimed.FromJSON(strings.NewReader(fields)); err != nil {
		return nil, fmt.Errorf("read which fields they are: %w", err)
	}
	target, err := a.Target(ctx, ref)
	if err != nil {
		return nil, err
	}
	live, err := a.Get(ctx, target, ref.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &providers.PreconditionError{Ref: ref, Gone: true}
	case err != nil:
		return nil, err
	}
	if refused := unlike(live, precondition); refused != nil {
		return nil, refused
	}
	entries, err := claiming(live, manager, claimed)
	if err != nil {
		return nil, err
	}
	metadata := map[string]any{
		"uid":             live.GetUID(),
		"resourceVersion": live.GetResourceVersion(),
		"managedFields":   entries,
	}
	removed := map[string]any{}
	for name := range live.GetAnnotations() {
		if kinds.FieldBehind(name) != "" && claimed.Has(fieldpath.MakePathOrDie("metadata", "annotations", name)) {
			removed[name] = nil
		}
	}
	if len(removed) > 0 {
		metadata["annotations"] = removed
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, fmt.Errorf("write the patch: %w", err)
	}
	after, err := connect.Call(ctx, a.Connection, connect.VerbPatch, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return target.Patch(ctx, ref.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	})
	if !apierrors.IsConflict(err) {
		return after, err
	}
	// Another program wrote the object in between, or the answer to an earlier attempt was lost.
	if live, err = a.Get(ctx, target, ref.Name); err != nil {
		return nil, err
	}
	if refused := unlike(live, precondition); refused != nil {
		return nil, refused
	}
	return nil, &providers.PreconditionError{Ref: ref, Live: live}
}

// unlike returns the precondition that an object does not meet; nil: it meets all.
func unlike(live *unstructured.Unstructured, precondition providers.Precondition) error {
	switch {
	case live.GetUID() != precondition.UID:
		return &providers.PreconditionError{Ref: providers.RefOf(live), Gone: true}
	case precondition.ResourceVersion != "" && live.GetResourceVersion() != precondition.ResourceVersion:
		return &providers.PreconditionError{Ref: providers.RefOf(live), Live: live}
	}
	return nil
}

// claiming returns managedFields in which only the manager owns the fields.
func claiming(live *unstructured.Unstructured, manager string, claimed *fieldpath.Set) ([]metav1.ManagedFieldsEntry, error) {
	var entries []metav1.ManagedFieldsEntry
	found := false
	for _, entry := range live.GetManagedFields() {
		fields := fieldpath.NewSet()
		if entry.FieldsV1 == nil || fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
			continue
		}
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			fields, found = fields.Union(claimed), true
		} else {
			fields = fields.RecursiveDifference(claimed)
		}
		if fields.Empty() {
			continue
		}
		text, err := fields.ToJSON()
		if err != nil {
			return nil, fmt.Errorf("write down who owns the fields: %w", err)
		}
		entry.FieldsV1 = metav1.NewFieldsV1(string(text))
		entries = append(entries, entry)
	}
	if !found {
		text, err := claimed.ToJSON()
		if err != nil {
			return nil, fmt.Errorf("write down who owns the fields: %w", err)
		}
		now := metav1.Now()
		entries = append(entries, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: live.GetAPIVersion(),
			Time: &now, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(text)),
		})
	}
	return entries, nil
}

package dryrun

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/providers"
)

// Predict computes the result of an apply to a live object without the server. It merges
// the manifest into the live object, and removes the fields that only kolla owned and no
// longer declares. It knows nothing of defaults and webhooks. model has the schema of the
// kind, as for fields.Typed; it may be nil.
func Predict(live, model, manifest *unstructured.Unstructured, manager string) (*unstructured.Unstructured, error) {
	types, err := fields.Typed([]*unstructured.Unstructured{live, model}, fields.Stripped(live), fields.Stripped(manifest))
	if err != nil {
		return nil, err
	}
	before, wanted := types[0], types[1]
	set, err := wanted.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("list the declared fields: %w", err)
	}
	merged, err := before.Merge(wanted)
	if err != nil {
		return nil, fmt.Errorf("merge what is declared over what is live: %w", err)
	}
	owned := fields.OwnersOf(live, manager)
	dropped := owned.Own.Difference(set)
	for _, other := range owned.Others {
		dropped = dropped.Difference(other.Fields)
	}
	content, ok := merged.RemoveItems(dropped).AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, errors.New("merge what is declared over what is live: the result is no object")
	}
	after := (&unstructured.Unstructured{Object: content}).DeepCopy()
	after.SetName(live.GetName())
	after.SetNamespace(live.GetNamespace())
	after.SetResourceVersion(live.GetResourceVersion())
	return after, own(after, set, manager)
}

// AsApplied returns the manifest as if kolla had just applied it, and the server had added
// nothing.
func AsApplied(manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return AppliedBy(manifest, providers.FieldManager)
}

// AppliedBy is AsApplied with another field manager.
func AppliedBy(manifest *unstructured.Unstructured, manager string) (*unstructured.Unstructured, error) {
	types, err := fields.Typed(nil, fields.Stripped(manifest))
	if err != nil {
		return nil, err
	}
	fields, err := types[0].ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("list the declared fields: %w", err)
	}
	after := manifest.DeepCopy()
	return after, own(after, fields, manager)
}

// own writes into managedFields that the manager owns the fields.
func own(u *unstructured.Unstructured, fields *fieldpath.Set, manager string) error {
	text, err := fields.ToJSON()
	if err != nil {
		return fmt.Errorf("write down who owns the fields: %w", err)
	}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager:    manager,
		Operation:  metav1.ManagedFieldsOperationApply,
		APIVersion: u.GetAPIVersion(),
		FieldsType: "FieldsV1",
		FieldsV1:   metav1.NewFieldsV1(string(text)),
	}})
	return nil
}

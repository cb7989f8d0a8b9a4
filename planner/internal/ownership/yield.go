package ownership

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Yields finds the declared fields that are not sent: those in ignore_fields, and those of
// owners who may have them. idle are fields of autoscalers that no longer exist.
func Yields(o *outcome.Outcome, force bool, manifest *unstructured.Unstructured) (yields []plans.Yield, idle []plans.Reason, err error) {
	ignored := RulesOf(o.Object).Ignored()
	rivals := fields.WrittenThrough(o.Live, func(subresource string) bool { return subresource != "status" })
	if !rivals && len(ignored) == 0 && !o.Action.Scaled {
		return nil, nil, nil // true of most objects; saves parsing their owners
	}
	owners := fields.OwnersOf(o.Live, o.Manager)
	candidates, err := fields.Contested(manifest, owners, len(ignored) > 0)
	if err != nil {
		return nil, nil, err
	}
	if replicas := fieldpath.MakePathOrDie("spec", "replicas"); o.Action.Scaled && !slices.ContainsFunc(candidates, replicas.Equals) {
		if _, declared := fields.Lookup(manifest.Object, replicas); declared {
			candidates = append(candidates, replicas)
		}
	}
	for _, path := range candidates {
		by, taken := owners.Other(path)
		held := fields.Touches(owners.Own, path)
		y, err := newYield(o, manifest, path, by)
		switch {
		case err != nil:
			return nil, nil, err
		case fields.Covered(ignored, path):
			y.Declared = true
			if !taken && held && !hold(&y, o.Live, manifest, path) {
				continue
			}
		case held, !taken && !(o.Action.Scaled && y.Path == replicas):
			continue
		default:
			what, unused := decideField(o, force, by, path)
			if unused {
				idle = append(idle, plans.Reason{Kind: plans.ReasonIdle, Path: y.Path, Manager: y.Manager})
			}
			if what != leave {
				continue
			}
			y.Declared = RulesOf(o.Object).YieldsTo(by.Manager)
		}
		yields = append(yields, y)
	}
	return yields, idle, nil
}

// newYield leaves a field of the manifest to its owner.
func newYield(o *outcome.Outcome, manifest *unstructured.Unstructured, path fieldpath.Path, by fields.Owner) (plans.Yield, error) {
	text, err := fieldpath.NewSet(path).ToJSON()
	if err != nil {
		return plans.Yield{}, fmt.Errorf("write down which field %s is: %w", fields.Text(path), err)
	}
	y := plans.Yield{Path: fields.Text(path), Manager: by.Manager, Time: by.Time, Field: string(text)}
	y.Want, _ = fields.Lookup(manifest.Object, path)
	y.Live, _ = fields.Lookup(o.Live.Object, path)
	if fields.Sensitive(path, manifest.GroupVersionKind().GroupKind() == kinds.Secret) {
		y.Want, y.Live = fields.Mask(y.Want), fields.Mask(y.Live)
	}
	return y, nil
}

// hold notes the live value of a field that only kolla owns. It reports false if there is no
// value to keep: the field is as declared, or must not be stored.
func hold(y *plans.Yield, live, manifest *unstructured.Unstructured, path fieldpath.Path) bool {
	value, there := fields.Lookup(live.Object, path)
	wanted, _ := fields.Lookup(manifest.Object, path)
	secret := manifest.GroupVersionKind().GroupKind() == kinds.Secret
	if !there || fields.Sensitive(path, secret) || path[len(path)-1].FieldName == nil || reflect.DeepEqual(value, wanted) {
		return false
	}
	y.Value = value
	return true
}

// StartOver removes the drift from fields that a conflict would leave to their owners. A new
// object has them as declared until their owners set them again.
func StartOver(o *outcome.Outcome, force bool, differences []fields.Difference) {
	owners := fields.OwnersOf(o.Live, o.Manager)
	for i := range differences {
		d := &differences[i]
		if by, _ := owners.Other(d.At); d.Drift && by.Manager != "" {
			if what, _ := decideField(o, force, by, d.At); what == leave {
				d.Drift, d.Edited = false, false
			}
		}
	}
}

package decision

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/lifecycle"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	secretvalues "kolla.openstack.org/kolla/providers/secrets"
)

// newYield leaves a field of the manifest to its owner.
func (s *subject) newYield(manifest *unstructured.Unstructured, path fieldpath.Path, by fields.Owner) (plans.Yield, error) {
	text, err := fieldpath.NewSet(path).ToJSON()
	if err != nil {
		return plans.Yield{}, fmt.Errorf("write down which field %s is: %w", fields.Text(path), err)
	}
	y := plans.Yield{Path: fields.Text(path), Manager: by.Manager, Time: by.Time, Field: string(text)}
	y.Want, _ = fields.Lookup(manifest.Object, path)
	y.Live, _ = fields.Lookup(s.out.Live.Object, path)
	if fields.Sensitive(path, manifest.GroupVersionKind().GroupKind() == kinds.Secret) {
		y.Want, y.Live = fields.Mask(y.Want), fields.Mask(y.Live)
	}
	return y, nil
}

// sent returns the manifest to apply to the live object, and notes the fields that are left to
// others.
func (p *decider) sent(s *subject) (*unstructured.Unstructured, error) {
	manifest, err := p.resolve(s)
	if err != nil {
		return nil, err
	}
	s.idle = nil
	if s.out.Action.Yields, err = p.yields(s, manifest); err != nil {
		return nil, err
	}
	return fields.Trim(trust.WithToken(manifest, s.out.Action.Token), s.out.Action.Yields)
}

// yields finds the declared fields that are not sent: those in ignore_fields, and those of
// owners who may have them.
func (p *decider) yields(s *subject, manifest *unstructured.Unstructured) ([]plans.Yield, error) {
	ignored := lifecycle.Of(s.out.Object).Ignored()
	rivals := fields.WrittenThrough(s.out.Live, func(subresource string) bool { return subresource != "status" })
	if !rivals && len(ignored) == 0 && !s.out.Action.Scaled {
		return nil, nil // by far the most objects, and nothing of them has to be parsed
	}
	owners := fields.OwnersOf(s.out.Live, s.out.Manager)
	candidates, err := fields.Contested(manifest, owners, len(ignored) > 0)
	if err != nil {
		return nil, err
	}
	var yields []plans.Yield
	if replicas := fieldpath.MakePathOrDie("spec", "replicas"); s.out.Action.Scaled && !slices.ContainsFunc(candidates, replicas.Equals) {
		if _, declared := fields.Lookup(manifest.Object, replicas); declared {
			candidates = append(candidates, replicas)
		}
	}
	for _, path := range candidates {
		by, taken := owners.Other(path)
		held := fields.Touches(owners.Own, path)
		y, err := s.newYield(manifest, path, by)
		switch {
		case err != nil:
			return nil, err
		case fields.Covered(ignored, path):
			y.Declared = true
			if !taken && held && !hold(&y, s.out.Live, manifest, path) {
				continue
			}
		case held, !taken && !(s.out.Action.Scaled && y.Path == replicasPath):
			continue
		default:
			what, idle := p.policy.verdict(s, by, path)
			if idle {
				s.idle = append(s.idle, plans.Reason{Kind: plans.ReasonIdle, Path: y.Path, Manager: y.Manager})
			}
			if what != leave {
				continue
			}
			y.Declared = lifecycle.Of(s.out.Object).YieldsTo(by.Manager)
		}
		yields = append(yields, y)
	}
	return yields, nil
}

// startOver removes the drift from fields that a conflict would leave to their owners. A new
// object has them as declared until their owners set them again.
func (p *decider) startOver(s *subject, differences []fields.Difference) {
	owners := fields.OwnersOf(s.out.Live, s.out.Manager)
	for i := range differences {
		d := &differences[i]
		if by, _ := owners.Other(d.At); d.Drift && by.Manager != "" {
			if what, _ := p.policy.verdict(s, by, d.At); what == leave {
				d.Drift, d.Edited = false, false
			}
		}
	}
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

// freed returns the fields in this action that a former autoscaler owned.
func (s *subject) freed() []plans.Reason {
	return slices.DeleteFunc(slices.Clone(s.idle), func(r plans.Reason) bool {
		return !slices.ContainsFunc(s.out.Action.Changes, func(c plans.Change) bool { return c.Path == r.Path })
	})
}

// replacedValues says who replaced the values of a generated Secret. They stay, and everything
// derived from them is made again.
func (s *subject) replacedValues(live providers.Values) []plans.Reason {
	if !s.out.Object.Generated() || s.out.Adopts() || s.out.Object.Renews() != "" || !secretvalues.Replaced(s.out.Live, live) {
		return nil
	}
	owners := fields.OwnersOf(s.out.Live, s.out.Manager)
	var reasons []plans.Reason
	for _, key := range slices.Sorted(maps.Keys(s.out.Object.Data)) {
		path := fieldpath.MakePathOrDie("data", key)
		if by, taken := owners.Other(path); taken && !fields.Touches(owners.Own, path) {
			reasons = append(reasons, plans.Reason{Kind: plans.ReasonReplaced, Path: fields.Text(path), Manager: by.Manager, Time: by.Time})
		}
	}
	if len(reasons) == 0 {
		reasons = []plans.Reason{{Kind: plans.ReasonReplaced, Path: "data"}}
	}
	return reasons
}

// renewal says why existing generated values are renewed.
func (s *subject) renewal() []plans.Reason {
	why := s.out.Object.Renews()
	if why == "" || len(s.out.Pending) == 0 {
		return nil
	}
	return []plans.Reason{{Kind: plans.ReasonRenewed, Detail: why}}
}

// givenAnew reports whether the value of a sensitive variable differs from the applied one.
// The digest of the declaration does not contain it.
func (s *subject) givenAnew(answer *unstructured.Unstructured, held fields.Owners) bool {
	before, after := providers.ValuesOf(s.out.Live), providers.ValuesOf(answer)
	for key, data := range s.out.Object.Data {
		if data.Given() && fields.Touches(held.Own, fieldpath.MakePathOrDie("data", key)) && !bytes.Equal(before[key], after[key]) {
			return true
		}
	}
	return false
}

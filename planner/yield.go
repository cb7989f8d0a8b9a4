package planner

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/fields"
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
	y.Live, _ = fields.Lookup(s.live.Object, path)
	if fields.Sensitive(path, manifest.GroupVersionKind().GroupKind() == kinds.Secret) {
		y.Want, y.Live = fields.Mask(y.Want), fields.Mask(y.Live)
	}
	return y, nil
}

// sent is the manifest as it would be applied to the live object, and sets which
// fields of it are left to others.
func (p *planning) sent(s *subject) (*unstructured.Unstructured, error) {
	manifest, err := p.resolve(s)
	if err != nil {
		return nil, err
	}
	s.idle = nil
	if s.action.Yields, err = p.yields(s, manifest); err != nil {
		return nil, err
	}
	return fields.Trim(trust.WithToken(manifest, s.action.Token), s.action.Yields)
}

// yields finds the declared fields that are not to be sent: those that the object's
// lifecycle says to ignore, and those that somebody took who may have them.
func (p *planning) yields(s *subject, manifest *unstructured.Unstructured) ([]plans.Yield, error) {
	ignored := fields.Patterns(s.lifecycle().IgnoreFields)
	rivals := fields.WrittenThrough(s.live, func(subresource string) bool { return subresource != "status" })
	if !rivals && len(ignored) == 0 && !s.action.Scaled {
		return nil, nil // by far the most objects, and nothing of them has to be parsed
	}
	owners := fields.OwnersOf(s.live, s.manager)
	candidates, err := fields.Contested(manifest, owners, len(ignored) > 0)
	if err != nil {
		return nil, err
	}
	var yields []plans.Yield
	if replicas := fieldpath.MakePathOrDie("spec", "replicas"); s.action.Scaled && !slices.ContainsFunc(candidates, replicas.Equals) {
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
			if !taken && held && !hold(&y, s.live, manifest, path) {
				continue
			}
		case held, !taken && !(s.action.Scaled && y.Path == replicasPath):
			continue
		default:
			what, idle := p.policy.outcome(s, by, path)
			if idle {
				s.idle = append(s.idle, plans.Reason{Kind: plans.ReasonIdle, Path: y.Path, Manager: y.Manager})
			}
			if what != leave {
				continue
			}
			y.Declared = s.lifecycle().yieldsTo(by.Manager)
		}
		yields = append(yields, y)
	}
	return yields, nil
}

// startOver takes from differences of a replacement that a field drifted, where it
// would have been left to whoever has it: a new object has it as declared, until they
// set it again.
func (p *planning) startOver(s *subject, differences []fields.Difference) {
	owners := fields.OwnersOf(s.live, s.manager)
	for i := range differences {
		d := &differences[i]
		if by, _ := owners.Other(d.At); d.Drift && by.Manager != "" {
			if what, _ := p.policy.outcome(s, by, d.At); what == leave {
				d.Drift, d.Edited = false, false
			}
		}
	}
}

// hold writes the live value of a field that only kolla owns into the yield. It reports
// false if no value is to be kept: the field is as declared, or must not be stored.
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

// freed are those of the idle fields that the action changes.
func (s *subject) freed() []plans.Reason {
	return slices.DeleteFunc(slices.Clone(s.idle), func(r plans.Reason) bool {
		return !slices.ContainsFunc(s.action.Changes, func(c plans.Change) bool { return c.Path == r.Path })
	})
}

// replacedValues says who replaced the values of a generated Secret since kolla made
// them. They are kept, and what is derived from them is made again.
func (s *subject) replacedValues(live providers.Values) []plans.Reason {
	if !s.object.Generated() || s.adopts() || s.object.Renews() != "" || !secretvalues.Replaced(s.live, live) {
		return nil
	}
	owners := fields.OwnersOf(s.live, s.manager)
	var reasons []plans.Reason
	for _, key := range slices.Sorted(maps.Keys(s.object.Data)) {
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

// renewal says why generated values are made anew that are there.
func (s *subject) renewal() []plans.Reason {
	why := s.object.Renews()
	if why == "" || len(s.pending) == 0 {
		return nil
	}
	return []plans.Reason{{Kind: plans.ReasonRenewed, Detail: why}}
}

// givenAnew reports whether a value that comes from a sensitive variable is another
// one than kolla last applied, of which the digest of what is declared says nothing.
func (s *subject) givenAnew(answer *unstructured.Unstructured, held fields.Owners) bool {
	before, after := providers.ValuesOf(s.live), providers.ValuesOf(answer)
	for key, data := range s.object.Data {
		if data.Given() && fields.Touches(held.Own, fieldpath.MakePathOrDie("data", key)) && !bytes.Equal(before[key], after[key]) {
			return true
		}
	}
	return false
}

// treatment is an object's lifecycle, of which there is always one.
type treatment struct{ providers.Lifecycle }

func (s *subject) lifecycle() treatment {
	if s.object.Lifecycle == nil {
		return treatment{}
	}
	return treatment{*s.object.Lifecycle}
}

func (t treatment) yieldsTo(manager string) bool { return matchesAny(t.YieldTo, manager) }

func (t treatment) forces(manager string, path fieldpath.Path) bool {
	return t.ForceConflicts || matchesAny(t.ForceManagers, manager) || fields.Covered(fields.Patterns(t.ForceFields), path)
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return addrs.MatchesStar(pattern, name) })
}

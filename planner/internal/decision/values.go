package decision

import (
	"bytes"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	secretvalues "kolla.openstack.org/kolla/providers/secrets"
)

// sentManifest returns the manifest to apply to the live object, and notes the fields that are left
// to others.
func sentManifest(e *env, s *subject) (*unstructured.Unstructured, error) {
	manifest, err := resolve(e, s)
	if err != nil {
		return nil, err
	}
	if s.draft.Action.Yields, s.idle, err = ownership.Yields(&s.draft, e.inv.Input.ForceConflicts, manifest); err != nil {
		return nil, err
	}
	return fields.Trim(trust.WithToken(manifest, s.draft.Action.Token), s.draft.Action.Yields)
}

// freed keeps the fields among the changes that a former autoscaler owned.
func freed(idle []plans.Reason, changes []plans.Change) []plans.Reason {
	return slices.DeleteFunc(slices.Clone(idle), func(r plans.Reason) bool {
		return !slices.ContainsFunc(changes, func(c plans.Change) bool { return c.Path == r.Path })
	})
}

// replacedValues says who replaced the values of a generated Secret. They stay, and everything
// derived from them is made again.
func replacedValues(s *subject, live providers.Values) []plans.Reason {
	if !s.draft.Object.Generated() || s.draft.Adopts() || s.draft.Object.RenewalReason() != "" || !secretvalues.Replaced(s.draft.Live, live) {
		return nil
	}
	owners := fields.OwnersOf(s.draft.Live, s.draft.Manager)
	var reasons []plans.Reason
	for _, key := range slices.Sorted(maps.Keys(s.draft.Object.Data)) {
		path := fieldpath.MakePathOrDie("data", key)
		if by, taken := owners.Other(path); taken && !fields.Touches(owners.Own, path) {
			reasons = append(reasons, plans.Reason{Kind: plans.ReasonReplaced, Path: fields.Text(path), Manager: by.Manager, Time: by.Time})
		}
	}
	if len(reasons) == 0 {
		reason := plans.Reason{Kind: plans.ReasonReplaced, Path: "data"}
		if s.since.impersonated {
			reason.Manager, reason.Time = owners.Name, owners.Time
		}
		reasons = []plans.Reason{reason}
	}
	return reasons
}

// renewal says why existing generated values are renewed.
func renewal(s *subject) []plans.Reason {
	why := s.draft.Object.RenewalReason()
	if why == "" || len(s.draft.Pending) == 0 {
		return nil
	}
	kind := plans.ReasonRenewed
	if s.draft.Object.Rotates() {
		kind = plans.ReasonRotated
	}
	return []plans.Reason{{Kind: kind, Detail: why}}
}

// givenAnew reports whether the value of a sensitive variable differs from the applied one.
// The digest of the declaration does not contain it.
func givenAnew(s *subject, answer *unstructured.Unstructured, held fields.Owners) bool {
	before, after := providers.ValuesOf(s.draft.Live), providers.ValuesOf(answer)
	for key, data := range s.draft.Object.Data {
		if data.Given() && fields.Touches(held.Own, fieldpath.MakePathOrDie("data", key)) && !bytes.Equal(before[key], after[key]) {
			return true
		}
	}
	return false
}

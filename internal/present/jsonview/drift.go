package jsonview

import (
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// outside finds the changes that others made to the objects of a plan.
type outside struct {
	// reported are the fields that others added, and that foreign = "report" leaves in
	// place.
	reported map[addrs.Object][]plans.Drift
}

func outsideOf(plan *plans.Plan) outside {
	o := outside{reported: map[addrs.Object][]plans.Drift{}}
	for i := range plan.Foreign {
		f := &plan.Foreign[i]
		o.reported[f.Address] = append(o.reported[f.Address], f.Drift()...)
	}
	return o
}

// changes lists the changes that other clients made to an object, from kolla's value to the live
// value. It includes changes that an apply reverts, changes that the plan only reports, and
// replaced generated values, which kolla keeps.
func (o outside) changes(a *plans.Action) []plans.Change {
	var out []plans.Change
	for _, d := range slices.Concat(a.Drift(), o.reported[a.Address]) {
		out = append(out, d.Change)
	}
	return out
}

// drift returns the changes that other clients made to an object, in Terraform's format. ok is
// false if there are none.
func (o outside) drift(a *plans.Action) (r resourceChangeJSON, ok bool) {
	seen := *a
	seen.Verb, seen.Object, seen.Changes = plans.Update, nil, o.changes(a)
	if a.Has(plans.ReasonGone) {
		seen.Verb, seen.Partial, seen.Changes = plans.Delete, false, nil
	} else if len(seen.Changes) == 0 {
		return r, false
	}
	r = changeOf(&seen, driftValues(a))
	r.Reason, r.Change.Importing = "", nil
	r.Kolla = extension(a)
	r.Kolla.Changes = masked(seen.Changes)
	return r, true
}

package jsonview

import (
	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// outside finds the changes that others made to the objects of a plan.
type outside struct {
	// reported are the fields that others added, and that foreign = "report" leaves in
	// place.
	reported map[addrs.Object][]plans.Change
}

func outsideOf(plan *plans.Plan) outside {
	o := outside{reported: map[addrs.Object][]plans.Change{}}
	for _, f := range plan.Foreign {
		if f.Reported {
			o.reported[f.Address] = f.Fields
		}
	}
	return o
}

// changes lists the changes of others to an object, from the value that kolla wrote to the
// live value: changes that an apply undoes, changes that the plan only reports, and
// replaced generated values, which kolla keeps.
func (o outside) changes(a *plans.Action) []plans.Change {
	var out []plans.Change
	for _, c := range a.Changes {
		if !c.Drift {
			continue
		}
		// A plan that puts it back says it the other way round.
		if a.Verb != plans.None && a.Verb != plans.Refresh {
			c.Before, c.After = c.After, c.Before
		}
		out = append(out, c)
	}
	for _, c := range o.reported[a.Address] {
		c.Before, c.After, c.Drift = c.After, c.Before, true
		out = append(out, c)
	}
	return append(out, report.ReplacedValues(a)...)
}

// drift gives the changes of others to an object in Terraform's format; ok is false without
// any.
func (o outside) drift(a *plans.Action) (r resourceChangeJSON, ok bool) {
	seen := *a
	seen.Verb, seen.Object, seen.Changes = plans.Update, nil, o.changes(a)
	if report.HasReason(a, plans.ReasonGone) {
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

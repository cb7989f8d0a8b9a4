package view

import (
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// outside is what others did to the objects of a plan, for programs.
type outside struct {
	// reported is what others added and foreign = "report" leaves there.
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

// changes lists the changes that others made to an object, from the value that kolla wrote
// to the live value: changes that an apply undoes, changes that the plan only reports, and
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
	return append(out, replacedValues(a)...)
}

// drift is what others did to an object, in Terraform's shape; ok is false where they did
// nothing.
func (o outside) drift(a *plans.Action) (r resourceChangeJSON, ok bool) {
	seen := *a
	seen.Verb, seen.Object, seen.Changes = plans.Update, nil, o.changes(a)
	if hasReason(a, plans.ReasonGone) {
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

// replacedValues are the values of a Secret that kolla had generated and somebody
// replaced.
func replacedValues(a *plans.Action) []plans.Change {
	var changes []plans.Change
	for _, r := range a.Reasons {
		if r.Kind == plans.ReasonReplaced {
			changes = append(changes, plans.Change{
				Path: r.Path, Before: plans.Masked, After: plans.Masked,
				Sensitive: true, Drift: true, Manager: r.Manager, Time: r.Time,
			})
		}
	}
	return changes
}

package view

import (
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner"
)

// outside is what others did to the objects of a plan, for programs.
type outside struct {
	// reported is what others added and foreign = "report" leaves there.
	reported map[lang.Address][]planner.Change
}

func outsideOf(plan *planner.Plan) outside {
	o := outside{reported: map[lang.Address][]planner.Change{}}
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
func (o outside) changes(a *planner.Action) []planner.Change {
	var out []planner.Change
	for _, c := range a.Changes {
		if !c.Drift {
			continue
		}
		// A plan that puts it back says it the other way round.
		if a.Verb != planner.None && a.Verb != planner.Refresh {
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
func (o outside) drift(a *planner.Action) (r resourceChangeJSON, ok bool) {
	seen := *a
	seen.Verb, seen.Object, seen.Changes = planner.Update, nil, o.changes(a)
	if hasReason(a, planner.ReasonGone) {
		seen.Verb, seen.Partial, seen.Changes = planner.Delete, false, nil
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
func replacedValues(a *planner.Action) []planner.Change {
	var changes []planner.Change
	for _, r := range a.Reasons {
		if r.Kind == planner.ReasonReplaced {
			changes = append(changes, planner.Change{
				Path: r.Path, Before: planner.Masked, After: planner.Masked,
				Sensitive: true, Drift: true, Manager: r.Manager, Time: r.Time,
			})
		}
	}
	return changes
}

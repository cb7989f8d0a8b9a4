package outcome

import (
	"slices"
	"strings"

	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
)

// Refreshed turns the outcomes into the actions of a refresh-only plan, which does nothing to
// the cluster. The state forgets missing objects, and takes over the UID and the readiness of
// the others. It has no values: the changes of others are shown, from the declared values to
// the live ones, and stay.
//
// Declarations that were never applied are ignored. Objects that could not be compared are
// reported. The problems are warnings.
func Refreshed(inv *inventory.Inventory, outcomes []*Outcome) (actions []plans.Action, warnings []plans.Problem) {
	for _, o := range outcomes {
		if a, ok := refreshed(o, inv.Input.Cloud); ok {
			actions = append(actions, a)
		}
	}
	warnings = UnownedConflicts(inv.Input.Cloud, outcomes)
	for i := range warnings {
		warnings[i].Warning = true
	}
	return actions, warnings
}

// refreshed returns the action of a refresh-only plan on a declared object. ok is false if
// there is nothing to compare, or kolla did not make the object.
func refreshed(o *Outcome, cloud string) (a plans.Action, ok bool) {
	a = o.Action
	if o.Unowned && !o.Ours && o.Record != nil && o.Record.State.UID != "" && o.Record.Address == a.Address {
		return gone(o), true
	}
	if o.Withheld {
		return uncompared(o, cloud), o.Live != nil && o.Record != nil
	}
	a.Force, a.Pending = false, false
	a.Supersedes = plans.Action{}.Supersedes
	switch a.Verb {
	case plans.Create, plans.Run:
		if !missing(o) {
			return a, false
		}
		return gone(o), true
	case plans.Adopt:
		a.Verb = plans.Refresh
		return a, o.Ours && o.Record == nil && len(a.Changes) == 0
	case plans.None, plans.Update, plans.Replace:
		a.Changes = othersChanges(a.Changes)
		a.Reasons = slices.DeleteFunc(slices.Clone(a.Reasons), func(r plans.Reason) bool { return r.Kind != plans.ReasonDrift && r.Kind != plans.ReasonReplaced })
		a.Verb = plans.None
		if o.Live != nil && o.Record != nil && o.Record.Address == a.Address && (!o.Record.Is(o.Live) || !o.Record.State.Ready) {
			a.Verb = plans.Refresh
		}
		return a, true
	}
	return a, false
}

// ConfigChanges counts the objects that an ordinary plan would create or change because of
// the configuration. Objects that could not be compared are not counted.
func ConfigChanges(outcomes []*Outcome) int {
	n := 0
	for _, o := range outcomes {
		// Drift may change a default of another field too.
		onlyDrift := len(o.Action.Reasons) > 0 && !slices.ContainsFunc(o.Action.Reasons, func(r plans.Reason) bool { return r.Kind != plans.ReasonDrift })
		edited := slices.ContainsFunc(o.Action.Changes, func(c plans.Change) bool { return !c.Drift && !onlyDrift || c.Edited })
		switch a := &o.Action; {
		case o.Withheld:
		case a.Verb == plans.Create || a.Verb == plans.Run:
			if !missing(o) {
				n++
			}
		case a.Verb == plans.Adopt:
			if !o.Ours || o.Record != nil || edited {
				n++
			}
		case a.Verb == plans.Update || a.Verb == plans.Replace:
			if edited || len(a.Changes) == 0 {
				n++
			}
		}
	}
	return n
}

// missing reports whether the object of the state does not exist.
func missing(o *Outcome) bool {
	return o.Record != nil && o.Record.State.UID != "" && o.Record.Address == o.Action.Address
}

// uncompared returns the action of an object that could not be compared.
func uncompared(o *Outcome, cloud string) plans.Action {
	why := objection(o)
	if o.Unowned {
		why = unownedConflict(o, cloud).Summary
	}
	return plans.Action{
		Address: o.Action.Address, Verb: plans.None, Object: o.Action.Object, Ref: o.Action.Ref,
		Evidence: plans.Evidence{Kind: plans.Unverified, Detail: why},
	}
}

// gone forgets an object that no longer exists.
func gone(o *Outcome) plans.Action {
	return plans.Action{
		Address: o.Action.Address, Verb: plans.Forget, Ref: o.Action.Ref,
		Reasons: []plans.Reason{{Kind: o.Record.Absence()}}, Evidence: plans.Evidence{Kind: plans.Recorded},
	}
}

// othersChanges keeps the changes of others, from the declared values to the live ones.
func othersChanges(changes []plans.Change) []plans.Change {
	var out []plans.Change
	for _, c := range changes {
		if c.Drift {
			c.Before, c.After = c.After, c.Before
			out = append(out, c)
		}
	}
	return out
}

// objection returns why the object could not be compared.
func objection(o *Outcome) string {
	for _, problem := range o.Problems {
		if !problem.Warning {
			return strings.ReplaceAll(strings.TrimSpace(problem.Summary+": "+problem.Detail), "\n", " ")
		}
	}
	return "the reason is unknown"
}

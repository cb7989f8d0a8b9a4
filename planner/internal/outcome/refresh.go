package outcome

import (
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
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
		if a.Has(plans.ReasonRegistration) {
			a.Verb, a.Changes, a.Reasons = plans.None, othersChanges(a.Changes), nil
			return a, true
		}
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

// Changes counts the objects that an ordinary plan would create or change. Those in secrets use
// values of Secrets that others deleted or replaced, those in config change because of the
// configuration. Objects that could not be compared are not counted.
func Changes(outcomes []*Outcome) (config, secrets int) {
	changed, readers := changedSecrets(outcomes)
	for _, o := range outcomes {
		switch {
		case !changes(o) || changed[o.Object.Address]:
		case readers[o.Object.Address]:
			secrets++
		default:
			config++
		}
	}
	return config, secrets
}

// changes reports whether an ordinary plan would create or change the object, for another reason
// than that others changed it.
func changes(o *Outcome) bool {
	// Drift may change a default of another field too.
	onlyDrift := len(o.Action.Reasons) > 0 && !slices.ContainsFunc(o.Action.Reasons, func(r plans.Reason) bool { return r.Kind != plans.ReasonDrift })
	edited := slices.ContainsFunc(o.Action.Changes, func(c plans.Change) bool { return !c.Drift && !onlyDrift || c.Edited })
	switch a := &o.Action; {
	case o.Withheld:
		return false
	case a.Verb == plans.Create || a.Verb == plans.Run:
		return !missing(o)
	case a.Verb == plans.Adopt:
		return !o.Ours || o.Record != nil || edited
	case a.Verb == plans.Update || a.Verb == plans.Replace:
		return edited || len(a.Changes) == 0
	}
	return false
}

// changedSecrets returns the Secrets whose generated values others deleted or replaced, and the objects
// that use these values, directly or through other Secrets.
func changedSecrets(outcomes []*Outcome) (changed, readers map[addrs.Object]bool) {
	changed, readers = map[addrs.Object]bool{}, map[addrs.Object]bool{}
	for _, o := range outcomes {
		deleted := o.Action.Verb == plans.Create && missing(o) && o.Object.Generated()
		replaced := slices.ContainsFunc(o.Action.Reasons, func(r plans.Reason) bool { return r.Kind == plans.ReasonReplaced })
		if deleted || replaced {
			changed[o.Object.Address] = true
		}
	}
	for found := true; found; {
		found = false
		for _, o := range outcomes {
			at := o.Object.Address
			if changed[at] || readers[at] || !slices.ContainsFunc(o.Object.DependsOn, func(on addrs.Object) bool {
				return changed[on] || readers[on] && on.Kind == kinds.Secret.Kind
			}) {
				continue
			}
			readers[at], found = true, true
		}
	}
	return changed, readers
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

package decision

import (
	"context"
	"slices"

	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// replaceTriggered decides again about objects with replace_triggered_by if this plan changes the
// objects that they name. It repeats this until no further object is affected.
func replaceTriggered(ctx context.Context, e *env, outcomes []*outcome.Outcome) error {
	for again := !e.inv.Input.RefreshOnly; again; {
		again = false
		changed := changedObjects(outcomes)
		for i, o := range outcomes {
			if _, done := e.triggered[o.Object.Address]; done || e.inv.Unread(o.Action.Ref) != nil {
				continue
			}
			why, ok := triggeredBy(e, o, changed)
			if !ok {
				continue
			}
			e.triggered[o.Object.Address] = why
			next, err := decide(ctx, e, o.Object)
			if err != nil {
				return err
			}
			outcomes[i], again = next, true
		}
	}
	return nil
}

// changedObjects returns the objects that this plan creates, changes or replaces.
func changedObjects(outcomes []*outcome.Outcome) []inventory.Candidate {
	var out []inventory.Candidate
	for _, o := range outcomes {
		if o.Action.Alters() {
			out = append(out, inventory.CandidateOf(o.Object))
		}
	}
	return out
}

// triggeredBy returns why the object has to be replaced. ok is false if it need not be, or if it
// is created or replaced anyway.
func triggeredBy(e *env, o *outcome.Outcome, changed []inventory.Candidate) (why plans.Reason, ok bool) {
	if o.Live == nil && !o.Finished() {
		return plans.Reason{}, false
	}
	if verb := o.Action.Verb; verb != plans.None && verb != plans.Update && (verb != plans.Adopt || o.Adopts()) {
		return plans.Reason{}, false
	}
	names := inventory.TriggersOf(o.Object)
	targets := inventory.TargetsOf(names)
	for i, target := range targets {
		if slices.ContainsFunc(changed, func(c inventory.Candidate) bool { return c.NamedBy(target) }) {
			return plans.Reason{Kind: plans.ReasonTriggered, Detail: names[i]}, true
		}
	}
	if by, before := e.inv.Input.Triggered[o.Action.Family()]; before {
		return plans.Reason{Kind: plans.ReasonTriggered, Detail: by}, true
	}
	return plans.Reason{}, false
}

// demanded returns why an object has to be replaced although the server could update it: the
// operator named it, its replace_triggered_by names a changed object, or its pods have cleaned
// their nodes for a deletion that did not happen.
func demanded(e *env, object *providers.Object) (why plans.Reason, ok bool) {
	if inventory.CandidateOf(object).NamedBy(e.replaced...) {
		return plans.Reason{Kind: plans.ReasonRequested}, true
	}
	if r := e.inv.RecordForObject(object); r != nil && r.State.Cleaned {
		if live := e.inv.Input.Snapshot.Get(object.Ref()); live != nil && string(live.GetUID()) == r.State.UID {
			return plans.Reason{Kind: plans.ReasonCleaned}, true
		}
	}
	why, ok = e.triggered[object.Address]
	return why, ok
}

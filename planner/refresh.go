package planner

import (
	"slices"
	"strings"

	"kolla.openstack.org/kolla/planner/plans"
)

// refresh turns what was decided into what a refresh-only plan does: nothing to
// the cluster. The state forgets what is gone, and takes over the UID and the
// readiness of what is there. It holds no values: what others changed is shown,
// from what kolla wrote to what is live, and stays as it is.
//
// Declarations that were never applied are ignored. Objects that could not be compared are
// reported.
func (p *planning) refresh() {
	for _, s := range p.subjects {
		if a, ok := s.refreshed(p.Cloud); ok {
			p.actions = append(p.actions, a)
		}
	}
	for _, stranger := range p.strangers() {
		stranger.Warning = true
		p.problems = append(p.problems, stranger)
	}
	for i := range p.inv.Records {
		r := &p.inv.Records[i]
		declared := p.inv.DeclaredAs(r.Ref) != nil
		if !declared && p.chosen.Has(p.inv.Successor(r)) && p.Snapshot.Get(r.Ref) == nil && p.inv.Unread(r.Ref) == nil {
			p.forget(targetOf(r, p.Snapshot), plans.Reason{Kind: r.Absence()})
		}
	}
}

// refreshed is the action of a refresh-only plan on a desired object; ok is false
// where there is nothing to compare, or nothing that kolla made.
func (s *subject) refreshed(cloud string) (a plans.Action, ok bool) {
	a = s.action
	if s.stranger && !s.ours && s.record != nil && s.record.State.UID != "" && s.record.Address == a.Address {
		return s.gone(), true
	}
	a.Force, a.Pending = false, false
	a.Supersedes = plans.Action{}.Supersedes
	switch a.Verb {
	case "":
		if s.live == nil || s.record == nil {
			return a, false
		}
		why := s.objection()
		if s.stranger {
			why = s.strange(cloud).Summary
		}
		return plans.Action{
			Address: a.Address, Verb: plans.None, Object: a.Object, Ref: a.Ref,
			Evidence: plans.Evidence{Kind: plans.Unverified, Detail: why},
		}, true
	case plans.Create, plans.Run:
		if s.record == nil || s.record.State.UID == "" || s.record.Address != a.Address {
			return a, false
		}
		return s.gone(), true
	case plans.Adopt:
		a.Verb = plans.Refresh
		return a, s.ours && s.record == nil && len(a.Changes) == 0
	case plans.None, plans.Update, plans.Replace:
		a.Changes = othersChanges(a.Changes)
		a.Reasons = slices.DeleteFunc(slices.Clone(a.Reasons), func(r plans.Reason) bool { return r.Kind != plans.ReasonDrift && r.Kind != plans.ReasonReplaced })
		a.Verb = plans.None
		if s.live != nil && s.record != nil && s.record.Address == a.Address && (!s.recordedNow() || !s.record.State.Ready) {
			a.Verb = plans.Refresh
		}
		return a, true
	}
	return a, false
}

// gone drops from the state what is not in the cluster any more.
func (s *subject) gone() plans.Action {
	return plans.Action{
		Address: s.action.Address, Verb: plans.Forget, Ref: s.action.Ref,
		Reasons: []plans.Reason{{Kind: s.record.Absence()}}, Evidence: plans.Evidence{Kind: plans.Recorded},
	}
}

// othersChanges keeps what somebody else changed, seen from what kolla wrote.
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

// objection is why the object could not be compared.
func (s *subject) objection() string {
	for _, problem := range s.problems {
		if !problem.Warning {
			return strings.ReplaceAll(strings.TrimSpace(problem.Summary+": "+problem.Detail), "\n", " ")
		}
	}
	return "nobody knows why"
}

package decision

import (
	"context"
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// replaceTriggered decides again about objects with replace_triggered_by: this plan changes
// the objects that they name, or an earlier apply did not get to them. It repeats that until
// nothing new follows.
func (p *decider) replaceTriggered(ctx context.Context) error {
	p.triggered = map[addrs.Object]plans.Reason{}
	for again := !p.inv.Input.RefreshOnly; again; {
		again = false
		changed := p.changed()
		for i, s := range p.subjects {
			if _, done := p.triggered[s.out.Object.Address]; done || p.inv.Unread(s.out.Action.Ref) != nil {
				continue
			}
			why, ok := p.triggeredBy(s, changed)
			if !ok {
				continue
			}
			p.triggered[s.out.Object.Address] = why
			next, err := p.decide(ctx, s.out.Object)
			if err != nil {
				return err
			}
			p.subjects[i], again = next, true
		}
	}
	p.noteDebts()
	return nil
}

// noteDebts notes in each action which other objects it replaces. If the apply ends before
// that, or the selection leaves them out, they are still owed.
func (p *decider) noteDebts() {
	if p.inv.Input.RefreshOnly {
		return
	}
	type debtor struct {
		object  *providers.Object
		record  *inventory.Record
		targets []addrs.Target
	}
	var debtors []debtor
	for i := range p.inv.Input.Objects {
		o := &p.inv.Input.Objects[i]
		if r := p.inv.RecordOf(o); r != nil && len(inventory.TriggersOf(o)) > 0 {
			debtors = append(debtors, debtor{o, r, inventory.TargetsOf(inventory.TriggersOf(o))})
		}
	}
	decided := map[addrs.Object]*subject{}
	for _, s := range p.subjects {
		decided[s.out.Object.Address] = s
	}
	for _, d := range debtors {
		s := decided[d.object.Address]
		stays := s != nil && (s.out.Action.Verb == plans.None || s.out.Action.Verb == plans.Update || s.out.Action.Verb == plans.Adopt)
		if stays {
			s.out.Action.Owed = p.debts(s, d.targets)
		}
		for _, by := range p.subjects {
			if by == s || !by.out.Action.Alters() || !inventory.CandidateOf(by.out.Object).NamedBy(d.targets...) {
				continue
			}
			by.out.Action.Triggers = append(by.out.Action.Triggers, d.record.State.Address)
			if stays && !slices.Contains(s.out.Action.Owed, by.out.Action.Family()) {
				s.out.Action.Owed = append(s.out.Action.Owed, by.out.Action.Family())
			}
		}
	}
}

// debts returns the debts of an object that its declaration still names. An object that
// somebody else made since has none.
func (p *decider) debts(s *subject, targets []addrs.Target) []addrs.Object {
	if s.out.Record == nil || s.out.Live != nil && !s.out.Record.Is(s.out.Live) {
		return nil
	}
	var out []addrs.Object
	for _, text := range s.out.Record.State.Owed {
		if by, err := addrs.ParseObject(text); err == nil && (inventory.Candidate{Address: p.inv.Moved(by), Family: p.inv.Moved(by)}).NamedBy(targets...) {
			out = append(out, p.inv.Moved(by))
		}
	}
	return out
}

// changed returns the objects that this plan creates, changes or replaces.
func (p *decider) changed() []inventory.Candidate {
	var out []inventory.Candidate
	for _, s := range p.subjects {
		if s.out.Action.Alters() {
			out = append(out, inventory.CandidateOf(s.out.Object))
		}
	}
	return out
}

// triggeredBy returns why the object has to be replaced; not ok: it does not have to be, or is
// new anyway.
func (p *decider) triggeredBy(s *subject, changed []inventory.Candidate) (why plans.Reason, ok bool) {
	switch a := &s.out.Action; {
	case a.Verb != plans.None && a.Verb != plans.Update && (a.Verb != plans.Adopt || s.out.Adopts()), s.out.Live == nil && !s.out.Finished():
		return plans.Reason{}, false
	}
	names := inventory.TriggersOf(s.out.Object)
	targets := inventory.TargetsOf(names)
	for i, target := range targets {
		if slices.ContainsFunc(changed, func(c inventory.Candidate) bool { return c.NamedBy(target) }) {
			return plans.Reason{Kind: plans.ReasonTriggered, Detail: names[i]}, true
		}
	}
	debts := p.debts(s, targets)
	if len(debts) == 0 {
		return plans.Reason{}, false
	}
	i := slices.IndexFunc(targets, func(t addrs.Target) bool { return inventory.Candidate{Address: debts[0], Family: debts[0]}.NamedBy(t) })
	return plans.Reason{Kind: plans.ReasonOwed, Detail: names[i]}, true
}

// demanded returns why an object has to be replaced although the server could update it: the
// operator named it, replace_triggered_by does, or its pods have cleaned their nodes for a
// deletion that did not happen.
func (p *decider) demanded(object *providers.Object) (why plans.Reason, ok bool) {
	if inventory.CandidateOf(object).NamedBy(p.replaced...) {
		return plans.Reason{Kind: plans.ReasonRequested}, true
	}
	if r := p.inv.RecordOf(object); r != nil && r.State.Cleaned {
		if live := p.inv.Input.Snapshot.Get(object.Ref()); live != nil && string(live.GetUID()) == r.State.UID {
			return plans.Reason{Kind: plans.ReasonCleaned}, true
		}
	}
	why, ok = p.triggered[object.Address]
	return why, ok
}

package planner

import (
	"context"
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// replaceTriggered decides again about what is to be replaced because of what this plan
// does to others, about what is to be replaced because of that, and about what an earlier
// apply has left to be replaced.
func (p *planning) replaceTriggered(ctx context.Context) error {
	p.triggered = map[addrs.Object]plans.Reason{}
	for again := !p.RefreshOnly; again; {
		again = false
		changed := p.changed()
		for i, s := range p.subjects {
			if _, done := p.triggered[s.object.Address]; done || p.inv.Unread(s.action.Ref) != nil {
				continue
			}
			why, ok := p.triggeredBy(s, changed)
			if !ok {
				continue
			}
			p.triggered[s.object.Address] = why
			next, err := p.decide(ctx, s.object)
			if err != nil {
				return err
			}
			p.subjects[i], again = next, true
		}
	}
	p.noteDebts()
	return nil
}

// noteDebts has each action know what else is to be replaced because of it: an apply
// that ends before it comes to that, or has a selection without it, leaves it owed.
func (p *planning) noteDebts() {
	if p.RefreshOnly {
		return
	}
	type debtor struct {
		object  *providers.Object
		record  *inventory.Record
		targets []addrs.Target
	}
	var debtors []debtor
	for i := range p.Objects {
		o := &p.Objects[i]
		if r := p.inv.RecordOf(o); r != nil && len(inventory.TriggersOf(o)) > 0 {
			debtors = append(debtors, debtor{o, r, inventory.TargetsOf(inventory.TriggersOf(o))})
		}
	}
	decided := map[addrs.Object]*subject{}
	for _, s := range p.subjects {
		decided[s.object.Address] = s
	}
	for _, d := range debtors {
		s := decided[d.object.Address]
		stays := s != nil && (s.action.Verb == plans.None || s.action.Verb == plans.Update || s.action.Verb == plans.Adopt)
		if stays {
			s.action.Owed = p.debts(s, d.targets)
		}
		for _, by := range p.subjects {
			if by == s || !by.action.Alters() || !inventory.CandidateOf(by.object).NamedBy(d.targets...) {
				continue
			}
			by.action.Triggers = append(by.action.Triggers, d.record.State.Address)
			if stays && !slices.Contains(s.action.Owed, by.action.Family()) {
				s.action.Owed = append(s.action.Owed, by.action.Family())
			}
		}
	}
}

// debts are those of what is owed to an object that its declaration still names. To one
// that was made by somebody else since, nothing is.
func (p *planning) debts(s *subject, targets []addrs.Target) []addrs.Object {
	if s.record == nil || s.live != nil && !s.recordedNow() {
		return nil
	}
	var out []addrs.Object
	for _, text := range s.record.State.Owed {
		if by, err := addrs.ParseObject(text); err == nil && (inventory.Candidate{Address: p.inv.Moved(by), Family: p.inv.Moved(by)}).NamedBy(targets...) {
			out = append(out, p.inv.Moved(by))
		}
	}
	return out
}

// changed are the objects that this plan creates, changes or replaces.
func (p *planning) changed() []inventory.Candidate {
	var out []inventory.Candidate
	for _, s := range p.subjects {
		if s.action.Alters() {
			out = append(out, inventory.CandidateOf(s.object))
		}
	}
	return out
}

// triggeredBy says what the subject is to be replaced with; not ok: with nothing, or it is
// made anew in any case.
func (p *planning) triggeredBy(s *subject, changed []inventory.Candidate) (why plans.Reason, ok bool) {
	switch a := &s.action; {
	case a.Verb != plans.None && a.Verb != plans.Update && (a.Verb != plans.Adopt || s.adopts()), s.live == nil && !s.finished():
		return plans.Reason{}, false
	}
	names := inventory.TriggersOf(s.object)
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

// demanded says why an object is to be made again although it need not be: the
// operator named it, or something else changes, or was changed, that it is to be replaced
// with, or its pods have cleaned their nodes for a deletion that did not happen.
func (p *planning) demanded(object *providers.Object) (why plans.Reason, ok bool) {
	if inventory.CandidateOf(object).NamedBy(p.replaced...) {
		return plans.Reason{Kind: plans.ReasonRequested}, true
	}
	if r := p.inv.RecordOf(object); r != nil && r.State.Cleaned {
		if live := p.Snapshot.Get(object.Ref()); live != nil && string(live.GetUID()) == r.State.UID {
			return plans.Reason{Kind: plans.ReasonCleaned}, true
		}
	}
	why, ok = p.triggered[object.Address]
	return why, ok
}

package planner

import (
	"context"
	"fmt"
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// checkTriggers refuses a replace_triggered_by that names an object that is not
// declared. That its block is, the configuration was checked for.
func (p *planning) checkTriggers() []plans.Problem {
	var problems []plans.Problem
	looked := map[string]bool{} // all objects of a service say the same
	for i := range p.Objects {
		o := &p.Objects[i]
		for _, text := range triggersOf(o) {
			if looked[text] {
				continue
			}
			looked[text] = true
			target := targetsOf([]string{text})[0]
			if target.Whole() || slices.ContainsFunc(p.Objects, func(o providers.Object) bool {
				return candidate{o.Address, o.Family}.named(target)
			}) {
				continue
			}
			problem := p.undeclaredAs(o.Lifecycle.Source, target.Object)
			problem.Summary = fmt.Sprintf("replace_triggered_by names %s, which is not declared", target)
			problems = append(problems, problem)
		}
	}
	return problems
}

// triggersOf are the addresses of what an object is replaced with: of a service only
// what runs is, of a manifest everything.
func triggersOf(o *providers.Object) []string {
	if o.Lifecycle == nil || o.Partial || !kinds.RunsPods(o.Ref().GVK.GroupKind()) && !brought(o.Address) {
		return nil
	}
	return o.Lifecycle.ReplaceTriggeredBy
}

// replaceTriggered decides again about what is to be replaced because of what this plan
// does to others, about what is to be replaced because of that, and about what an earlier
// apply has left to be replaced.
func (p *planning) replaceTriggered(ctx context.Context) error {
	p.triggered = map[addrs.Object]plans.Reason{}
	for again := !p.RefreshOnly; again; {
		again = false
		changed := p.changed()
		for i, s := range p.subjects {
			if _, done := p.triggered[s.object.Address]; done || p.whyUnread(s.action.Ref) != nil {
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
		record  *record
		targets []addrs.Target
	}
	var debtors []debtor
	for i := range p.Objects {
		o := &p.Objects[i]
		if r := p.recordOf(o); r != nil && len(triggersOf(o)) > 0 {
			debtors = append(debtors, debtor{o, r, targetsOf(triggersOf(o))})
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
			if by == s || !by.action.Alters() || !namedBy(d.targets, by.candidate()) {
				continue
			}
			by.action.Triggers = append(by.action.Triggers, d.record.Address)
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
	for _, text := range s.record.Owed {
		if by, err := addrs.ParseObject(text); err == nil && namedBy(targets, candidate{p.moved(by), p.moved(by)}) {
			out = append(out, p.moved(by))
		}
	}
	return out
}

func namedBy(targets []addrs.Target, c candidate) bool {
	return slices.ContainsFunc(targets, c.named)
}

func (s *subject) candidate() candidate { return candidate{s.object.Address, s.object.Family} }

// changed are the objects that this plan creates, changes or replaces.
func (p *planning) changed() []candidate {
	var out []candidate
	for _, s := range p.subjects {
		if s.action.Alters() {
			out = append(out, s.candidate())
		}
	}
	return out
}

// triggeredBy says what the subject is to be replaced with; not ok: with nothing, or it is
// made anew in any case.
func (p *planning) triggeredBy(s *subject, changed []candidate) (why plans.Reason, ok bool) {
	switch a := &s.action; {
	case a.Verb != plans.None && a.Verb != plans.Update && (a.Verb != plans.Adopt || s.adopts()), s.live == nil && !s.finished():
		return plans.Reason{}, false
	}
	names := triggersOf(s.object)
	targets := targetsOf(names)
	for i, target := range targets {
		if slices.ContainsFunc(changed, func(c candidate) bool { return c.named(target) }) {
			return plans.Reason{Kind: plans.ReasonTriggered, Detail: names[i]}, true
		}
	}
	debts := p.debts(s, targets)
	if len(debts) == 0 {
		return plans.Reason{}, false
	}
	i := slices.IndexFunc(targets, candidate{debts[0], debts[0]}.named)
	return plans.Reason{Kind: plans.ReasonOwed, Detail: names[i]}, true
}

// demanded says why an object is to be made again although it need not be: the
// operator named it, or something else changes, or was changed, that it is to be replaced
// with, or its pods have cleaned their nodes for a deletion that did not happen.
func (p *planning) demanded(object *providers.Object) (why plans.Reason, ok bool) {
	if p.replaces(object) {
		return plans.Reason{Kind: plans.ReasonRequested}, true
	}
	if r := p.recordOf(object); r != nil && r.Cleaned {
		if live := p.Snapshot.Get(object.Ref()); live != nil && string(live.GetUID()) == r.UID {
			return plans.Reason{Kind: plans.ReasonCleaned}, true
		}
	}
	why, ok = p.triggered[object.Address]
	return why, ok
}

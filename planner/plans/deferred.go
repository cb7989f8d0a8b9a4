package plans

import (
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
)

// Divide splits a plan into the part that can be executed now, and the actions that have to
// wait: the deferred ones, and those that depend on them. Outputs are left for the end.
func (p *Plan) Divide() (now *Plan, later []*Action) {
	now = new(Plan)
	*now = *p
	now.Actions, now.Outputs = nil, nil
	waits := map[addrs.Object]bool{}
	for i := range p.Actions {
		a := &p.Actions[i]
		if a.Deferred() || a.Verb != None && slices.ContainsFunc(a.DependsOn, func(d addrs.Object) bool { return waits[d] }) {
			waits[a.Address] = true
			later = append(later, a)
			continue
		}
		now.Actions = append(now.Actions, *a)
	}
	return now, later
}

// Waiting lists the data for which the deferred actions of the plan wait.
func (p *Plan) Waiting() []string {
	var out []string
	for i := range p.Actions {
		if p.Actions[i].Deferred() {
			out = append(out, p.Actions[i].Object.Deferred...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Unannounced returns the actions of the next plan that the operator has not seen. later
// are the waiting actions of the first plan: the operator has seen these. An action on
// another object is unannounced, and so is another change of the same object. New versions
// of objects of a waiting block are expected, and so are the deletes of the versions that
// they replace.
func Unannounced(next *Plan, later []*Action) []*Action {
	announced := map[addrs.Object]*Action{}
	blocks := map[string]bool{}
	for _, a := range later {
		announced[a.Address] = a
		if a.Deferred() {
			announced[a.Object.Family] = a
			blocks[a.Address.Block] = true
		}
	}
	delete(announced, addrs.Object{})
	var out []*Action
	for i := range next.Actions {
		a := &next.Actions[i]
		shown := announced[a.Address]
		if shown == nil && a.Object != nil && a.Object.Family != (addrs.Object{}) {
			shown = announced[a.Object.Family]
		}
		switch {
		case a.Verb == None, a.Prunes() && blocks[a.Address.Block]: // changes nothing, or deletes an old version
		case shown == nil && (a.Verb == Create || a.Verb == Run) && blocks[a.Address.Block]: // a new object of a deferred block
		case shown == nil, !asShown(shown, a):
			out = append(out, a)
		}
	}
	return out
}

// asShown reports whether an action does no more than the one that was shown. An object
// that was to be created may be adopted only if an apply of this cloud has just created it.
func asShown(shown, next *Action) bool {
	switch {
	case next.AdoptsUnowned() && !shown.AdoptsUnowned():
		return false
	case next.Verb == shown.Verb, next.Verb == Adopt && len(next.Changes) == 0:
	case (shown.Verb == Create || shown.Verb == Run) && next.Verb == Adopt: // an apply has just created it
	default:
		return false
	}
	if shown.Deferred() || next.Verb == Delete {
		return true
	}
	paths := map[string]bool{}
	for _, c := range shown.Changes {
		paths[c.Path] = true
	}
	return !slices.ContainsFunc(next.Changes, func(c Change) bool { return !paths[c.Path] })
}

// Writes reports whether an action for which meant is true creates or changes an object.
func (p *Plan) Writes(meant func(*Action) bool) bool {
	return slices.ContainsFunc(p.Actions, func(a Action) bool {
		switch a.Verb {
		case Create, Run, Update, Replace:
			return meant(&a)
		}
		return a.Verb == Adopt && len(a.Changes) > 0 && meant(&a)
	})
}

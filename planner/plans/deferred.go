package plans

import (
	"slices"

	"kolla.openstack.org/kolla/lang"
)

// Deferred reports whether not all of what the action writes is known yet: an apply
// plans it again once the data that it waits for were read. See Divide.
func (a *Action) Deferred() bool {
	return a.Object != nil && len(a.Object.Deferred) > 0 && a.Verb != None && a.Verb != Refresh
}

// Divide splits a plan into what can be carried out now, and what has to wait: the
// deferred actions, and those that depend on one, of which all is known. Outputs are for
// the end.
func (p *Plan) Divide() (now *Plan, later []*Action) {
	now = new(Plan)
	*now = *p
	now.Actions, now.Outputs = nil, nil
	waits := map[lang.Address]bool{}
	for i := range p.Actions {
		a := &p.Actions[i]
		if a.Deferred() || a.Verb != None && slices.ContainsFunc(a.DependsOn, func(d lang.Address) bool { return waits[d] }) {
			waits[a.Address] = true
			later = append(later, a)
			continue
		}
		now.Actions = append(now.Actions, *a)
	}
	return now, later
}

// Waiting lists the data that the deferred actions of the plan wait for.
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

// Unannounced are the actions of a plan that the operator was not shown by later, which
// is what waited of the plan that was: other objects than those, or something else that
// is done to them. What is new in a block that waited, such as the version of a file
// that is known by now, and the versions that this takes the place of, were to be
// expected.
func Unannounced(next *Plan, later []*Action) []*Action {
	announced := map[lang.Address]*Action{}
	blocks := map[string]bool{}
	for _, a := range later {
		announced[a.Address] = a
		if a.Deferred() {
			announced[a.Object.Family] = a
			blocks[a.Address.Block] = true
		}
	}
	delete(announced, lang.Address{})
	var out []*Action
	for i := range next.Actions {
		a := &next.Actions[i]
		shown := announced[a.Address]
		if shown == nil && a.Object != nil && a.Object.Family != (lang.Address{}) {
			shown = announced[a.Object.Family]
		}
		switch {
		case a.Verb == None, a.Prunes() && blocks[a.Address.Block]:
		case shown == nil && (a.Verb == Create || a.Verb == Run) && blocks[a.Address.Block]:
		case shown == nil, !asShown(shown, a):
			out = append(out, a)
		}
	}
	return out
}

// Stranger reports whether the action takes over an object that kolla has not made.
func (a *Action) Stranger() bool {
	return a.Verb == Adopt && slices.ContainsFunc(a.Reasons, func(r Reason) bool { return r.Kind == ReasonUnowned })
}

// asShown reports whether an action does no more than the one that was shown. What was to
// be created is taken over only if it was an apply of this cloud that created it just now.
func asShown(shown, next *Action) bool {
	switch {
	case next.Stranger() && !shown.Stranger():
		return false
	case next.Verb == shown.Verb, next.Verb == Adopt && len(next.Changes) == 0:
	case (shown.Verb == Create || shown.Verb == Run) && next.Verb == Adopt: // it was written just now
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

// Writes reports whether the plan makes or changes an object by an action that is meant.
func (p *Plan) Writes(meant func(*Action) bool) bool {
	return slices.ContainsFunc(p.Actions, func(a Action) bool {
		switch a.Verb {
		case Create, Run, Update, Replace:
			return meant(&a)
		}
		return a.Verb == Adopt && len(a.Changes) > 0 && meant(&a)
	})
}

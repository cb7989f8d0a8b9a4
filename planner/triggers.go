package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
)

// checkTriggers refuses a replace_triggered_by that names an object that is not
// declared. That its block is, the configuration was checked for.
func (p *planning) checkTriggers() []Problem {
	var problems []Problem
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
	if o.Lifecycle == nil || o.Partial || !runsPods(o.Ref().GVK.GroupKind()) && !brought(o.Address) {
		return nil
	}
	return o.Lifecycle.ReplaceTriggeredBy
}

// replaceTriggered decides again about what is to be replaced because of what this plan
// does to others, and about what is to be replaced because of that.
func (p *planning) replaceTriggered(ctx context.Context) error {
	p.triggered = map[lang.Address]string{}
	for again := !p.RefreshOnly; again; {
		again = false
		changed := p.changed()
		for i, s := range p.subjects {
			by := s.triggeredBy(changed)
			if by == "" || p.triggered[s.object.Address] != "" || p.whyUnread(s.action.Ref) != nil {
				continue
			}
			p.triggered[s.object.Address] = by
			next, err := p.decide(ctx, s.object)
			if err != nil {
				return err
			}
			p.subjects[i], again = next, true
		}
	}
	return nil
}

// changed are the objects that this plan creates, changes or replaces.
func (p *planning) changed() []candidate {
	var out []candidate
	for _, s := range p.subjects {
		if s.action.changes() {
			out = append(out, candidate{s.object.Address, s.object.Family})
		}
	}
	return out
}

// changes reports whether the object is another one after the action, or has other
// fields, besides the note of its address.
func (a *Action) changes() bool {
	switch a.Verb {
	case Create, Run, Replace:
		return true
	case Update, Adopt:
		return slices.ContainsFunc(a.Changes, func(c Change) bool { return c.Path != annotationPath(providers.AnnotationAddress) })
	}
	return false
}

// triggeredBy is what the subject is to be replaced with; empty: nothing, or it is made
// anew in any case.
func (s *subject) triggeredBy(changed []candidate) string {
	if s.action.Verb != None && s.action.Verb != Update || s.live == nil && !s.finished() {
		return ""
	}
	names := triggersOf(s.object)
	for i, target := range targetsOf(names) {
		if slices.ContainsFunc(changed, func(c candidate) bool { return c.named(target) }) {
			return names[i]
		}
	}
	return ""
}

// demanded says why an object is to be made again although it need not be: the
// operator named it, or something else changes that it is to be replaced with.
func (p *planning) demanded(object *providers.Object) (why Reason, ok bool) {
	if p.replaces(object) {
		return Reason{Kind: ReasonRequested}, true
	}
	by, ok := p.triggered[object.Address]
	return Reason{Kind: ReasonTriggered, Detail: by}, ok
}

// triggerWords is why something is replaced, in the words of its declaration.
func triggerWords(r Reason) string { return strings.TrimSpace("replace_triggered_by " + r.Detail) }

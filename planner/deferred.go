package planner

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
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

// steps are those that decide about an object.
func (p *planning) steps(s *subject) []step {
	switch {
	case len(s.object.Deferred) == 0:
		return []step{p.unread, p.absent, p.leaving, p.foreign, p.requested, p.ran, p.proven, p.verified}
	case s.live == nil:
		return []step{p.deferred}
	}
	return []step{p.leaving, p.foreign, p.deferred}
}

// deferred decides about objects of which not all is known yet. The server cannot be
// asked about them; what is known of them is compared.
func (p *planning) deferred(ctx context.Context, s *subject) (bool, error) {
	waits := strings.Join(s.object.Deferred, ", ")
	if p.replaces(s.object) {
		s.refuse(fmt.Sprintf("%s cannot be replaced by this plan", s.action.Ref),
			fmt.Sprintf("It depends on %s, which is known only after the apply. Apply without -replace first.", waits))
		return true, nil
	}
	s.action.Evidence = Evidence{Kind: Unverified, Detail: fmt.Sprintf("it depends on %s, which is known after the apply", waits)}
	if why, ok := p.demanded(s.object); ok && s.live != nil && !s.adopts() {
		return true, p.replaceLater(ctx, s, why)
	}
	if s.live != nil {
		return true, p.updateLater(s)
	}
	manifest, err := p.resolve(s)
	if err != nil {
		return false, err
	}
	s.pending = append(s.pending, s.laterKeys()...)
	known := s.record != nil && s.record.UID != ""
	switch {
	case known && p.whyUnread(s.action.Ref) != nil:
		s.action.Verb, s.action.Reasons = Update, []Reason{{Kind: ReasonConfig}}
		s.action.Prior = providers.Precondition{UID: types.UID(s.record.UID)}
		return true, nil
	case known:
		s.action.Reasons = []Reason{{Kind: s.record.absence()}}
	default:
		s.action.Reasons = []Reason{{Kind: ReasonNew}}
	}
	s.action.Verb = Create
	if s.object.Run() {
		s.action.Verb = Run
	}
	if err := s.assume(manifest); err != nil {
		return false, err
	}
	differences, err := compare(nil, manifest)
	s.action.Changes = changesOf(s.withUnknown(differences))
	return true, err
}

// replaceLater plans to make an object again that is there. Whether the server would take
// the new one is asked when all of it is known.
func (p *planning) replaceLater(ctx context.Context, s *subject, why Reason) error {
	o, err := p.obstacle(ctx, s, why.Kind)
	if err != nil {
		return err
	}
	if o.stands() {
		s.refuse(o.about(s, []Reason{why}))
		return nil
	}
	if err := p.updateLater(s); err != nil {
		return err
	}
	s.action.Verb, s.action.Reasons, s.action.Holds = Replace, []Reason{why}, s.loses()
	s.action.Force, s.action.Yields = false, nil
	return nil
}

// updateLater plans to change an object that is there.
func (p *planning) updateLater(s *subject) error {
	manifest, err := p.sent(s)
	if err != nil {
		return err
	}
	s.pending = append(s.pending, s.laterKeys()...)
	if s.after, err = predict(s.live, nil, manifest, s.manager); err != nil {
		return err
	}
	differences, err := compare(s.live, s.after)
	if err != nil {
		return err
	}
	differences = s.withUnknown(differences)
	s.action.Verb = Update
	if s.adopts() {
		s.action.Verb = Adopt
	}
	s.action.Changes = changesOf(differences)
	s.action.Reasons = p.originOf(s, s.after).blame(differences)
	return nil
}

// laterKeys are the keys of a Secret whose values are not known yet.
func (s *subject) laterKeys() []string {
	var out []string
	for key, data := range s.object.Data {
		if slices.ContainsFunc(data.Parts, func(p providers.DataPart) bool {
			return strings.Contains(p.Literal+p.Sensitive, lang.KnownAfterApply)
		}) {
			out = append(out, key)
		}
	}
	return out
}

// isDeferred reports whether a version of something is not known yet.
func (s *subject) isDeferred() bool { return len(s.object.Deferred) > 0 }

// keys are the keys in the address of a block.
var keys = regexp.MustCompile(`\[("(\\.|[^"\\])*"|\d+)\]`)

// isUndecided reports whether it depends on what is known only after the apply what the
// block is; see Input.Undecided.
func (p *planning) isUndecided(block string) bool {
	if len(p.Undecided) == 0 {
		return false
	}
	bare := keys.ReplaceAllString(block, "")
	return slices.ContainsFunc(p.Undecided, func(u string) bool {
		module, all := strings.CutSuffix(u, "*")
		return bare == u || all && strings.HasPrefix(bare, module)
	})
}

// undecided are the candidates that a restricted plan leaves out. To a destroy it does
// not matter what is declared.
func (p *planning) undecided(candidates []candidate) []lang.Address {
	if p.Destroy {
		return nil
	}
	var out []lang.Address
	open := p.undecidedRoles()
	for _, c := range candidates {
		if p.isUndecided(c.address.Block) || open && p.desired[c.address] == nil && isLabelledNode(c.address) {
			out = append(out, c.address)
		}
	}
	return out
}

// undecidedRoles reports whether there may be roles that nobody can tell yet: which nodes
// have them, and with which labels.
func (p *planning) undecidedRoles() bool {
	return slices.ContainsFunc(p.Undecided, func(u string) bool {
		return strings.HasSuffix(u, "*") || lang.SplitBlock(u).Type == "role"
	})
}

// isLabelledNode reports whether an address is that of a node with the labels of all
// roles that it has. Such objects are of the cloud, and of no role.
func isLabelledNode(address lang.Address) bool {
	return address.Kind == nodeKind.Kind && lang.SplitBlock(address.Block).Type == "cloud"
}

// keepRoles has nodes keep the labels that they have of roles as long as there are roles
// that nobody can tell yet, which they may be of. Labels of other roles are still added:
// what an apply waits for may need them.
func (p *planning) keepRoles() {
	if p.Destroy || !p.Selection.Restricts() || !p.undecidedRoles() {
		return
	}
	manager := providers.ManagerOf(p.Cloud, true)
	for i := range p.Objects {
		o := &p.Objects[i]
		live := p.Snapshot.Get(o.Ref())
		if live == nil || !o.Partial || !isLabelledNode(o.Address) {
			continue
		}
		o.Manifest = o.Manifest.DeepCopy()
		labels, owned := o.Manifest.GetLabels(), ownershipOf(live, manager).kolla
		if labels == nil {
			labels = map[string]string{}
		}
		for key, value := range live.GetLabels() {
			if _, declared := labels[key]; !declared && owned.Has(fieldpath.MakePathOrDie("metadata", "labels", key)) {
				labels[key] = value
			}
		}
		o.Manifest.SetLabels(labels)
		providers.KeepTaints(o.Manifest, live, p.Cloud)
	}
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

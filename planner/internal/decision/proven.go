package decision

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// proven decides about objects that an apply certainly would not change, without a request. It
// leaves all other objects to the server. With VerifyAll it only notes its claim.
func (p *decider) proven(ctx context.Context, s *subject) (bool, error) {
	if p.inv.Rules == nil || s.out.Adopts() || p.crdOf(s) != nil {
		return false, nil
	}
	manifest, err := p.sent(s)
	if err != nil || len(s.out.Pending) > 0 {
		return false, err
	}
	p.check(s, manifest)
	switch {
	case s.asRecorded() && proof.SameValues(s.out.Live, manifest):
		s.claim = plans.Evidence{Kind: plans.Fingerprint}
	case p.inv.Rules.Undisturbed(s.out.Live, p.namespaceOf(s)) && proof.Holds(s.out.Live, manifest, s.out.Manager) && providers.Tainted(s.out.Live, s.out.Manager):
		s.holds = true
		added, err := p.mayBeAdded(ctx, s)
		if err != nil {
			return false, err
		}
		if !added {
			s.claim = plans.Evidence{Kind: plans.Ownership}
		}
	}
	if s.claim.Kind == "" || p.inv.Input.VerifyAll {
		return false, nil
	}
	s.matches(s.claim)
	return true, nil
}

// check compares the live object with its record.
func (p *decider) check(s *subject, manifest *unstructured.Unstructured) {
	s.check = p.inv.Rules.Check(s.out.Live, p.namespaceOf(s), s.out.Manager, p.terms(s))
	s.out.Action.Seen = s.check.Owned
	s.clean = s.out.Record.Is(s.out.Live) && s.check.Owned != "" && s.check.Owned == s.out.Record.State.Check.Owned
	s.altered = s.clean && !proof.SameValues(s.out.Live, manifest)
}

// reread reads a live object again that changed after the LIST. It reports whether the object
// is still the same one and could be read.
func (p *decider) reread(ctx context.Context, s *subject) (bool, error) {
	live, err := p.inv.Input.Reader.Get(ctx, s.out.Action.Ref)
	if err != nil || live.GetUID() != s.out.Live.GetUID() {
		return false, ctx.Err()
	}
	s.out.Live = live
	s.out.Action.Prior.ResourceVersion = live.GetResourceVersion()
	if s.check == (state.Check{}) {
		return true, nil
	}
	manifest, err := p.sent(s)
	if err == nil {
		p.check(s, manifest)
	}
	return true, err
}

// mayBeAdded reports whether the object has undeclared fields that somebody may have added.
func (p *decider) mayBeAdded(ctx context.Context, s *subject) (bool, error) {
	if s.clean || !s.out.Owned() || p.inv.Input.ForeignPolicy == plans.IgnoreForeign {
		return false, nil
	}
	fields, err := p.unremovable(ctx, s)
	if err != nil || len(fields) > 0 {
		return true, err
	}
	paths, err := p.undeclaredIn(ctx, s, s.out.Live, false)
	return len(paths) > 0, err
}

// namespaceOf returns the live namespace of the object; nil: it has none.
func (p *decider) namespaceOf(s *subject) *unstructured.Unstructured {
	return p.inv.Input.Snapshot.Get(providers.Ref{GVK: inventory.Namespaces, Name: s.out.Action.Ref.Namespace})
}

// asRecorded reports whether the last apply or check saw the same declaration, the same live
// object, the same rules, and the same fields left to the same others.
func (s *subject) asRecorded() bool {
	return s.out.Record != nil && s.out.Record.Is(s.out.Live) &&
		s.check.Known() && s.check == s.out.Record.State.Check &&
		s.out.Record.State.Desired == s.out.Object.Digest() &&
		slices.EqualFunc(s.out.Action.Yields, s.out.Record.State.Yields, func(y plans.Yield, known state.Yield) bool {
			return y.Path == known.Path && y.Manager == known.Manager
		})
}

// settle ends a decision. It notes the fingerprint by which the next plan may recognize the
// object, and compares the claim of the cheap steps with the answer of the server. A refusal
// of the server does not contradict a claim, because a policy or quota may be new.
func (p *decider) settle(s *subject) {
	evidence := s.out.Action.Evidence.Kind
	if s.out.Action.Verb == plans.None && !s.out.Action.Reported && (evidence == plans.Fingerprint || evidence == plans.Ownership || s.confirmed) {
		s.out.Action.Check = s.check
	}
	if s.claim.Kind == "" || s.raced || evidence == plans.Unverified || len(s.out.Action.Changes) == 0 {
		return
	}
	var paths []string
	for _, change := range s.out.Action.Changes {
		paths = append(paths, change.Path)
	}
	s.out.Problems = append(s.out.Problems, plans.ProblemOf(s.out.Object,
		fmt.Sprintf("kolla would have been wrong about %s", s.out.Action.Ref),
		fmt.Sprintf(`Without -verify=full, kolla would have taken it for unchanged, by the step %q, and the server says otherwise: it would change %s.
This is a bug of kolla's, unless somebody edited the state by hand. Please report it, with the versions of kolla and of the server, the declaration of the object, its part of the state, and what kubectl get -o yaml --show-managed-fields says of it; take secrets out first.
To get past it, change anything in the declaration, such as an annotation: kolla then has nothing to go by and asks the server.`,
			s.claim.Kind, strings.Join(paths, ", "))))
}

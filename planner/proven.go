package planner

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

// proven decides about objects that an apply would certainly not change, without
// asking the server. It only ever says that: what it cannot prove is for the server
// to decide. When everything is to be verified, it only makes its claim.
func (p *planning) proven(ctx context.Context, s *subject) (bool, error) {
	if p.inv.Rules == nil || s.adopts() || p.comingFor(s) != nil {
		return false, nil
	}
	manifest, err := p.sent(s)
	if err != nil || len(s.pending) > 0 {
		return false, err
	}
	p.check(s, manifest)
	switch {
	case s.asRecorded() && proof.SameValues(s.live, manifest):
		s.claim = plans.Evidence{Kind: plans.Fingerprint}
	case p.inv.Rules.Undisturbed(s.live, p.namespaceOf(s)) && proof.Holds(s.live, manifest, s.manager) && providers.Tainted(s.live, s.manager):
		s.holds = true
		added, err := p.mayBeAdded(ctx, s)
		if err != nil {
			return false, err
		}
		if !added {
			s.claim = plans.Evidence{Kind: plans.Ownership}
		}
	}
	if s.claim.Kind == "" || p.VerifyAll {
		return false, nil
	}
	s.matches(s.claim)
	return true, nil
}

// check compares the live object with what the state knows of it.
func (p *planning) check(s *subject, manifest *unstructured.Unstructured) {
	s.check = p.inv.Rules.Check(s.live, p.namespaceOf(s), s.manager, p.terms(s))
	s.action.Seen = s.check.Owned
	s.clean = s.recordedNow() && s.check.Owned != "" && s.check.Owned == s.record.State.Check.Owned
	s.altered = s.clean && !proof.SameValues(s.live, manifest)
}

// reread looks at the live object again, to which somebody wrote after it was listed. It
// reports whether it is still the same object, and could be read.
func (p *planning) reread(ctx context.Context, s *subject) (bool, error) {
	live, err := p.Reader.Get(ctx, s.action.Ref)
	if err != nil || live.GetUID() != s.live.GetUID() {
		return false, ctx.Err()
	}
	s.live = live
	s.action.Prior.ResourceVersion = live.GetResourceVersion()
	if s.check == (state.Check{}) {
		return true, nil
	}
	manifest, err := p.sent(s)
	if err == nil {
		p.check(s, manifest)
	}
	return true, err
}

// mayBeAdded reports whether there is anything in the object, beyond what is declared,
// that somebody may have added to it.
func (p *planning) mayBeAdded(ctx context.Context, s *subject) (bool, error) {
	if s.clean || !s.owned() || p.ForeignPolicy == plans.IgnoreForeign {
		return false, nil
	}
	fields, err := p.unremovable(ctx, s)
	if err != nil || len(fields) > 0 {
		return true, err
	}
	paths, err := p.undeclaredIn(ctx, s, s.live, false)
	return len(paths) > 0, err
}

// namespaceOf is the live namespace of a subject; nil of one that is in none.
func (p *planning) namespaceOf(s *subject) *unstructured.Unstructured {
	return p.Snapshot.Get(providers.Ref{GVK: inventory.Namespaces, Name: s.action.Ref.Namespace})
}

// warnHidden says why the server was asked about objects that did not change: for as
// long as the user may not list what may change them, that costs a request each,
// with every plan.
func (p *planning) warnHidden() {
	asked := slices.ContainsFunc(p.subjects, func(s *subject) bool {
		return s.action.Verb == plans.None && s.action.Evidence.Kind == plans.DryRun
	})
	if p.inv.Rules.Hidden() && asked && !p.VerifyAll {
		p.problems = append(p.problems, plans.Problem{
			Warning: true,
			Summary: "kolla may not list the mutating webhooks and policies of the cluster",
			Detail:  `So it asks the server about every object, which is slow. Give the user a ClusterRole with this rule: apiGroups: ["admissionregistration.k8s.io"], resources: ["mutatingwebhookconfigurations", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"], verbs: ["list"].`,
		})
	}
}

// asRecorded reports whether the object is what the last apply or check has seen:
// the same desired, the same live, under the same rules, and the same fields left to
// the same others.
func (s *subject) asRecorded() bool {
	return s.record != nil && s.recordedNow() &&
		s.check.Known() && s.check == s.record.State.Check &&
		s.record.State.Desired == s.object.Digest() &&
		slices.EqualFunc(s.action.Yields, s.record.State.Yields, func(y plans.Yield, known state.Yield) bool {
			return y.Path == known.Path && y.Manager == known.Manager
		})
}

// settle ends a decision: it says what the object may be known by from now on, and
// holds the cheap steps to what the server has said. That it does not take the
// object, by a policy or a quota that is new, is no word on what would change.
func (p *planning) settle(s *subject) {
	evidence := s.action.Evidence.Kind
	if s.action.Verb == plans.None && !s.action.Reported && (evidence == plans.Fingerprint || evidence == plans.Ownership || s.confirmed) {
		s.action.Check = s.check
	}
	if s.claim.Kind == "" || s.raced || evidence == plans.Unverified || len(s.action.Changes) == 0 {
		return
	}
	var paths []string
	for _, change := range s.action.Changes {
		paths = append(paths, change.Path)
	}
	s.problems = append(s.problems, plans.ProblemOf(s.object,
		fmt.Sprintf("kolla would have been wrong about %s", s.action.Ref),
		fmt.Sprintf(`Without -verify=full, kolla would have taken it for unchanged, by the step %q, and the server says otherwise: it would change %s.
This is a bug of kolla's, unless somebody edited the state by hand. Please report it, with the versions of kolla and of the server, the declaration of the object, its part of the state, and what kubectl get -o yaml --show-managed-fields says of it; take secrets out first.
To get past it, change anything in the declaration, such as an annotation: kolla then has nothing to go by and asks the server.`,
			s.claim.Kind, strings.Join(paths, ", "))))
}

package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/state"
)

// proven decides about objects that an apply would certainly not change, without
// asking the server. It only ever says that: what it cannot prove is for the server
// to decide. When everything is to be verified, it only makes its claim.
func (p *planning) proven(_ context.Context, s *subject) (bool, error) {
	if p.rules == nil || s.adopts() || p.comingFor(s) != nil {
		return false, nil
	}
	manifest, err := p.sent(s)
	if err != nil || len(s.pending) > 0 {
		return false, err
	}
	s.check = p.rules.Check(s.live, s.manager)
	mutators, steady := p.rules.Admission(s.action.Ref.GVK)
	switch {
	case s.asRecorded() && proof.SameValues(s.live, manifest):
		s.claim = Evidence{Kind: Fingerprint}
	case mutators == "" && steady && proof.Holds(s.live, manifest, s.manager):
		s.claim = Evidence{Kind: Ownership}
	}
	if s.claim.Kind == "" || p.VerifyAll {
		return false, nil
	}
	s.matches(s.claim)
	return true, nil
}

// asRecorded reports whether the object is what the last apply or check has seen:
// the same desired, the same live, under the same rules, and the same fields left to
// the same others.
func (s *subject) asRecorded() bool {
	return s.record != nil && s.recordedNow() &&
		s.check != (state.Check{}) && s.check == s.record.Check &&
		s.record.Desired == s.object.Digest() &&
		slices.EqualFunc(s.action.Yields, s.record.Yields, func(y Yield, known state.Yield) bool {
			return y.Path == known.Path && y.Manager == known.Manager
		})
}

// settle ends a decision: it says what the object may be known by from now on, and
// holds the cheap steps to what the server has said.
func (p *planning) settle(s *subject) {
	proof := s.action.Evidence.Kind
	if s.action.Verb == None && (proof == Fingerprint || proof == Ownership || s.confirmed) {
		s.action.Check = s.check
	}
	if s.claim.Kind == "" || s.raced || proof == Unverified || s.action.Verb == None || s.action.Verb == Adopt && len(s.action.Changes) == 0 {
		return
	}
	s.problems = append(s.problems, problemOf(s.object,
		fmt.Sprintf("kolla would have been wrong about %s", s.action.Ref),
		fmt.Sprintf(`Without -verify=full, kolla would have taken it for unchanged, by the step %q, and the server says otherwise: %s.
This is a bug of kolla's, unless somebody edited the state by hand. Please report it, with the versions of kolla and of the server, the declaration of the object, its part of the state, and what kubectl get -o yaml --show-managed-fields says of it; take secrets out first.
To get past it, change anything in the declaration, such as an annotation: kolla then has nothing to go by and asks the server.`,
			s.claim.Kind, s.contradiction())))
}

// contradiction says what an apply would do to an object that was taken for
// unchanged.
func (s *subject) contradiction() string {
	var parts []string
	for _, change := range s.action.Changes {
		parts = append(parts, change.Path)
	}
	if len(parts) > 0 {
		return "it would change " + strings.Join(parts, ", ")
	}
	for _, problem := range s.problems {
		parts = append(parts, problem.Summary)
	}
	return strings.Join(parts, "; ")
}

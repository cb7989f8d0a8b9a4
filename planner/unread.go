package planner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// unread decides about objects that could not be read. An apply tries what the
// configuration calls for all the same, bound to the object that the state knows; one
// that is declared as it was last applied is left alone.
func (p *planning) unread(_ context.Context, s *subject) (bool, error) {
	err := p.inv.Unread(s.action.Ref)
	if err == nil {
		return false, nil
	}
	advice := permissionAdvice(err)
	s.action.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: err.Error(), Advice: advice}
	known := s.record != nil && s.record.State.UID != ""
	ran := s.finished() && s.sameInputs()
	switch {
	case inventory.CandidateOf(s.object).NamedBy(p.replaced...), known && s.object.Run() && !ran, !known && (s.object.Partial || inventory.Imported(p.Imports, s.object.Address)):
		s.withdraw(fmt.Sprintf("nobody can tell what has to be done about %s", s.action.Ref), strings.TrimSuffix(err.Error()+". "+advice, ". "))
	case ran:
		s.action.Verb = plans.None
		s.action.Evidence = plans.Evidence{Kind: plans.Recorded, Detail: "finished"}
	case known && s.record.State.Desired == s.object.Digest() && !s.movedHere():
		s.action.Verb = plans.None
		s.action.Pending = !s.record.State.Ready
	case known:
		s.action.Verb = plans.Update
		s.action.Reasons = []plans.Reason{{Kind: plans.ReasonConfig}}
	default:
		return true, p.assumeNew(s)
	}
	if known {
		s.action.Prior = providers.Precondition{UID: types.UID(s.record.State.UID)}
	}
	return true, nil
}

// assumeNew plans to create an object of which the state knows nothing. An apply
// refuses where it turns out to be there.
func (p *planning) assumeNew(s *subject) error {
	s.action.Verb = plans.Create
	if s.object.Run() {
		s.action.Verb = plans.Run
	}
	s.action.Reasons = []plans.Reason{{Kind: plans.ReasonNew}}
	manifest, err := p.resolve(s)
	if err != nil {
		return err
	}
	if err := s.assume(manifest); err != nil {
		return err
	}
	differences, err := fields.Compare(nil, manifest)
	s.action.Changes = fields.Changes(s.withUnknown(differences))
	return err
}

// permissionAdvice says how to give the user what is missing to read something; empty:
// no permission is.
func permissionAdvice(err error) string {
	var permission *providers.PermissionError
	if errors.As(err, &permission) {
		return permission.Advice()
	}
	return ""
}

// keepUnread leaves alone what is to go and could not be read, and says so. It stays
// in the state.
func (p *planning) keepUnread(t target) bool {
	err := p.inv.Unread(t.ref)
	if err == nil {
		return false
	}
	p.problems = append(p.problems, plans.Problem{
		Warning: true,
		Address: t.address,
		Summary: fmt.Sprintf("%s is left alone: nobody can tell whether it is there", t.ref),
		Detail:  fmt.Sprintf("It is to go, but %v. It stays in the state; plan again when it can be read.", err),
	})
	return true
}

package decision

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

// unread decides about objects that could not be read. An apply still tries to write changed
// declarations, bound to the recorded UID. Unchanged declarations are left alone.
func (p *decider) unread(_ context.Context, s *subject) (bool, error) {
	err := p.inv.Unread(s.out.Action.Ref)
	if err == nil {
		return false, nil
	}
	advice := permissionAdvice(err)
	s.out.Action.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: err.Error(), Advice: advice}
	known := s.out.Record != nil && s.out.Record.State.UID != ""
	ran := s.out.Finished() && s.sameInputs()
	switch {
	case inventory.CandidateOf(s.out.Object).NamedBy(p.replaced...), known && s.out.Object.Run() && !ran, !known && (s.out.Object.Partial || inventory.Imported(p.inv.Input.Imports, s.out.Object.Address)):
		s.out.Withdraw(fmt.Sprintf("nobody can tell what has to be done about %s", s.out.Action.Ref), strings.TrimSuffix(err.Error()+". "+advice, ". "))
	case ran:
		s.out.Action.Verb = plans.None
		s.out.Action.Evidence = plans.Evidence{Kind: plans.Recorded, Detail: "finished"}
	case known && s.out.Record.State.Desired == s.out.Object.Digest() && !s.out.Record.MovedFrom(s.out.Object.Address):
		s.out.Action.Verb = plans.None
		s.out.Action.Pending = !s.out.Record.State.Ready
	case known:
		s.out.Action.Verb = plans.Update
		s.out.Action.Reasons = []plans.Reason{{Kind: plans.ReasonConfig}}
	default:
		return true, p.assumeNew(s)
	}
	if known {
		s.out.Action.Prior = providers.Precondition{UID: types.UID(s.out.Record.State.UID)}
	}
	return true, nil
}

// assumeNew plans to create an object that the state does not know. The apply refuses if the
// object exists.
func (p *decider) assumeNew(s *subject) error {
	s.out.Action.Verb = plans.Create
	if s.out.Object.Run() {
		s.out.Action.Verb = plans.Run
	}
	s.out.Action.Reasons = []plans.Reason{{Kind: plans.ReasonNew}}
	manifest, err := p.resolve(s)
	if err != nil {
		return err
	}
	if err := s.out.Assume(manifest); err != nil {
		return err
	}
	differences, err := fields.Compare(nil, manifest)
	s.out.Action.Changes = fields.Changes(s.out.WithUnknown(differences))
	return err
}

// permissionAdvice says how to give the user the missing permission; empty: none is missing.
func permissionAdvice(err error) string {
	var permission *providers.PermissionError
	if errors.As(err, &permission) {
		return permission.Advice()
	}
	return ""
}

package decision

import (
	"context"
	"fmt"

	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
)

// madeBefore reports whether kolla made the live object, or owned fields of it before. Only the
// state proves that; see trust.
func madeBefore(s *subject) bool {
	return s.draft.Record != nil && trust.Same(s.draft.Record.State, s.draft.Live)
}

// notOurs decides about objects that are not kolla's.
func notOurs(_ context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	owner := s.draft.Live.GetLabels()[providers.LabelCloud]
	switch {
	case s.draft.Object.Partial:
		return nil, nil
	case owner != "" && owner != e.inv.Input.Cloud:
		return unowned(s), nil
	case !s.draft.Ours && !inventory.Adopted(e.inv, s.draft.Object.Address):
		return unowned(s), nil
	case !s.draft.Ours && s.draft.Object.Generated():
		warnKnownValues(s)
	}
	return nil, nil
}

// unowned returns the outcome of an object that is in the way. outcome.UnownedConflicts has its
// problem.
func unowned(s *subject) *outcome.Outcome {
	out := s.draft
	out.Unowned, out.Withheld = true, true
	return &out
}

// warnKnownValues warns that kolla takes over a Secret with the values of others, instead of
// generating new ones.
func warnKnownValues(s *subject) {
	warning := plans.ProblemOf(s.draft.Object, fmt.Sprintf("%s is taken over with the values that it has", s.draft.Action.Ref),
		fmt.Sprintf("kolla did not generate these values: whoever made the Secret knows them. %s To get new values, delete the Secret, and plan without its -adopt or import block.", outcome.CreationInfo(s.draft.Live)))
	warning.Warning = true
	s.draft.Problems = append(s.draft.Problems, warning)
}

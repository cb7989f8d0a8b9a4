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

// made reports whether kolla made the live object, or owned fields of it before. Only the
// state proves that; see trust.
func (s *subject) made() bool {
	return s.out.Record != nil && trust.Same(s.out.Record.State, s.out.Live)
}

// foreign decides about objects that are not kolla's.
func (p *decider) foreign(_ context.Context, s *subject) (bool, error) {
	owner := s.out.Live.GetLabels()[providers.LabelCloud]
	switch {
	case s.out.Object.Partial:
		return false, nil
	case owner != "" && owner != p.inv.Input.Cloud:
		s.out.Stranger = true
		return true, nil
	case !s.out.Ours && !inventory.Adopted(p.inv, s.out.Object.Address):
		s.out.Stranger = true
		return true, nil
	case !s.out.Ours && s.out.Object.Generated():
		s.warnKnownValues()
	}
	return false, nil
}

// warnKnownValues warns that kolla takes over a Secret with the values of others, instead of
// generating new ones.
func (s *subject) warnKnownValues() {
	warning := plans.ProblemOf(s.out.Object, fmt.Sprintf("%s is taken over with the values that it has", s.out.Action.Ref),
		fmt.Sprintf("kolla did not make them: whoever made the Secret knows them. %s To have new ones made, delete the Secret, and do not name it.", outcome.Birth(s.out.Live)))
	warning.Warning = true
	s.out.Problems = append(s.out.Problems, warning)
}

package executor

import (
	"context"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// grow requests a larger volume for a claim of a StatefulSet, and waits until the volume has grown.
// The state does not record such a claim: if the apply is killed, the next plan compares the claim
// again.
func (s *step) grow(ctx context.Context) error {
	write, cancel := withGracePeriod(ctx, s.run.options.Timeout)
	defer cancel()
	_, err := s.run.options.Writer.Apply(write, plans.Grown(s.action.Ref, s.action.Grows), providers.ApplyOptions{
		Manager: s.run.manager(true), Force: true, Precondition: providers.Precondition{UID: s.action.Prior.UID},
	})
	if err != nil {
		return err
	}
	s.outcome.Written = true
	return s.wait(ctx)
}

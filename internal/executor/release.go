package executor

import (
	"context"
	"fmt"

	"kolla.openstack.org/kolla/providers"
)

// forget drops the object from the state, after what marks it as kolla's was taken off
// it where the plan says so. Where that cannot be written, the state keeps it: a later
// plan would take the object for kolla's own.
func (s *step) forget(ctx context.Context) error {
	address := s.action.Address.String()
	if !s.action.Releases {
		return s.Session.Forget(address)
	}
	ctx, cancel := outlive(ctx, s.Timeout)
	defer cancel()
	err := s.Writer.Release(ctx, s.action.Ref, s.action.Prior.UID, s.manager(s.action.Partial))
	if err != nil {
		return fmt.Errorf("%w; it stays in the state until its label %s is gone, which somebody else may take off too", err, providers.LabelCloud)
	}
	s.outcome.Written = true
	return s.Session.Forget(address)
}

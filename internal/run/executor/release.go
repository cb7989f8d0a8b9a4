package executor

import (
	"context"
	"fmt"

	"kolla.openstack.org/kolla/providers"
)

// forget removes the object from the state. If the plan says so, it first removes kolla's labels
// and annotations from the live object. If that fails, the record stays: otherwise a later plan
// would mistake the object for kolla's.
func (s *step) forget(ctx context.Context) error {
	address := s.action.Address.String()
	if !s.action.Releases {
		return s.run.options.Session.Forget(address)
	}
	ctx, cancel := withGracePeriod(providers.ReportingRetries(ctx, s.waiting), s.run.options.Timeout)
	defer cancel()
	err := s.run.options.Writer.Release(ctx, s.action.Ref, s.action.Prior.UID, s.run.manager(s.action.Partial))
	if err != nil {
		return fmt.Errorf("%w; it stays in the state until its label %s is gone, which somebody else may take off too", err, providers.LabelCloud)
	}
	s.outcome.Written = true
	return s.run.options.Session.Forget(address)
}

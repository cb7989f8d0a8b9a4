package executor_test

import (
	"errors"
	"testing"

	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// TestHeld checks that a held action fails without a request, that its dependents are skipped, and
// that all other actions run.
func TestHeld(t *testing.T) {
	moved := errors.New("somebody changed it")
	held, dependant, other := act(plans.Create, "ConfigMap held"), act(plans.Create, "ConfigMap dependant"), act(plans.Create, "ConfigMap other")
	dependant.DependsOn = []addrs.Object{held.Address}
	a := newApply(t, newCluster())
	a.options.Held = map[addrs.Object]error{held.Address: moved}
	result := a.run(t.Context(), t, held, dependant, other)
	diff(t, "calls", []string{"apply ConfigMap openstack/other if new"}, a.calls)
	for i, want := range []executor.Status{executor.Failed, executor.Skipped, executor.Applied} {
		if got := result.Outcomes[i]; got.Status != want || got.Written != (want == executor.Applied) {
			t.Errorf("%s: got %+v", got.Action.Address, got)
		}
	}
	if !errors.Is(result.Outcomes[0].Err, moved) || a.known(t, "ConfigMap held") != nil {
		t.Errorf("error is %v, and the state has %+v", result.Outcomes[0].Err, a.known(t, "ConfigMap held"))
	}
}

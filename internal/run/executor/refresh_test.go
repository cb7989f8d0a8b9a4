package executor_test

import (
	"context"
	"errors"
	"testing"

	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// TestRefresh checks that a refresh updates UID and readiness in the state, and writes nothing to
// the cluster. It does not change the recorded digest of a known object, because only an apply
// carries out the configuration.
func TestRefresh(t *testing.T) {
	notReady := &providers.NotReadyError{Reason: "0 of 1 replicas"}
	remade := act(plans.Refresh, "Deployment old")
	remade.Prior.UID = "uid-new"
	tests := map[string]struct {
		action plans.Action
		known  []state.Object
		wait   error
		want   state.Object // only the fields that are compared
		fails  bool
	}{
		"ready by now":        {act(plans.Refresh, "Deployment old"), []state.Object{recorded("Deployment old", false)}, nil, state.Object{UID: "uid-old", Ready: true, DesiredDigest: "earlier"}, false},
		"not ready any more":  {act(plans.Refresh, "Deployment old"), []state.Object{recorded("Deployment old", true)}, notReady, state.Object{UID: "uid-old", DesiredDigest: "earlier"}, false},
		"ready at once":       {act(plans.Refresh, "ConfigMap old"), []state.Object{recorded("ConfigMap old", false)}, nil, state.Object{UID: "uid-old", Ready: true, DesiredDigest: "earlier"}, false},
		"made again":          {remade, []state.Object{recorded("Deployment old", true)}, nil, state.Object{UID: "uid-new", Ready: true, DesiredDigest: "earlier"}, false},
		"lost by the state":   {act(plans.Refresh, "ConfigMap old"), nil, nil, state.Object{UID: "uid-old", Ready: true, DesiredDigest: parse("ConfigMap old").Digest()}, false},
		"server out of reach": {act(plans.Refresh, "Deployment old"), []state.Object{recorded("Deployment old", false)}, errors.New("connection refused"), state.Object{UID: "uid-old", DesiredDigest: "earlier"}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newApply(t, newCluster(), test.known...)
			a.onWait = func(context.Context, providers.Ref, func(string)) error { return test.wait }
			a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
				t.Errorf("%s is written", ref)
				return nil
			}
			plan := a.plan(test.action, act(plans.None, "ConfigMap other"))
			plan.RefreshOnly = true
			result, err := executor.Apply(t.Context(), plan, a.options)
			if err != nil || result.Complete() == test.fails {
				t.Fatalf("result %+v, error %v", result, err)
			}
			got := a.known(t, test.action.Ref.GVK.Kind+" "+test.action.Ref.Name)
			if got == nil {
				t.Fatal("the state does not know it")
			}
			diff(t, "recorded", test.want, state.Object{UID: got.UID, Ready: got.Ready, DesiredDigest: got.DesiredDigest})
			if a.known(t, "ConfigMap other") != nil {
				t.Error("what is left as it is was recorded")
			}
		})
	}
}

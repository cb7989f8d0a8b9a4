package executor_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

var fingerprint = state.Fingerprint{Owned: "ab12", Server: "v1.37.1"}

// checked is an action without changes, with the fingerprint that the plan found.
func checked(text string) plans.Action {
	a := act(plans.None, text)
	a.Fingerprint = fingerprint
	return a
}

// TestRecordUnchanged checks that the fingerprints of unchanged objects are written to the state in
// one write, and that a second call writes nothing.
func TestRecordUnchanged(t *testing.T) {
	a := newApply(t, newCluster(), recorded("ConfigMap a", true), recorded("ConfigMap b", true))
	plan := a.plan(checked("ConfigMap a"), checked("ConfigMap unknown"), pending(checked("ConfigMap b")))
	for range 2 {
		if err := executor.RecordUnchanged(a.session, plan); err != nil {
			t.Fatal(err)
		}
		if got := a.known(t, "ConfigMap a"); got.Fingerprint != fingerprint || !got.Ready || !got.Applied.Equal(lastWrite) {
			t.Errorf("the state has %+v", got)
		}
	}
	if a.known(t, "ConfigMap unknown") != nil {
		t.Error("what the state does not have has come into it")
	}
	if got := a.known(t, "ConfigMap b"); got.Fingerprint != (state.Fingerprint{}) {
		t.Errorf("what is still to be waited for is %+v", got)
	}
	if serial := a.session.State().Serial; serial != 3 {
		t.Errorf("the serial is %d, want 3: two records and one change", serial)
	}
	if len(a.calls) > 0 {
		t.Errorf("it asked the server: %v", a.calls)
	}
}

// TestRefreshRecordsNothing checks that a refresh-only plan keeps the recorded fingerprints. Its
// configuration was not applied.
func TestRefreshRecordsNothing(t *testing.T) {
	drifted := recorded("ConfigMap drifted", true)
	drifted.Fingerprint = fingerprint
	a := newApply(t, newCluster(), drifted)
	plan := a.plan(act(plans.None, "ConfigMap drifted"))
	plan.RefreshOnly = true
	before := a.session.State()
	if err := executor.RecordUnchanged(a.session, plan); err != nil {
		t.Fatal(err)
	}
	diff(t, "the state", before, a.session.State())
}

// TestApplyRecordsFingerprints checks that an apply with changes also records the fingerprints of
// unchanged objects, and computes the fingerprint of a written object from the server's answer. An
// action without a fingerprint clears the recorded one.
func TestApplyRecordsFingerprints(t *testing.T) {
	known := recorded("ConfigMap stale", true)
	known.Fingerprint = state.Fingerprint{Owned: "old", Server: "v1.36.0"}
	c := newCluster(live("ConfigMap a"), live("ConfigMap stale"), live("ConfigMap old"))
	c.identity.Version = "v1.37.1"
	c.onAnswer = func(u *unstructured.Unstructured) {
		u.Object["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{
			"manager": "kolla", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:data": map[string]any{}},
		}}
	}
	a := newApply(t, c, recorded("ConfigMap a", true), known, recorded("ConfigMap old", true))
	written := act(plans.Update, "ConfigMap old")
	written.Evidence.Kind = plans.DryRun
	a.run(t.Context(), t, checked("ConfigMap a"), act(plans.None, "ConfigMap stale"), written)
	if got := a.known(t, "ConfigMap a").Fingerprint; got != fingerprint {
		t.Errorf("of what is left alone the state has %+v", got)
	}
	if got := a.known(t, "ConfigMap stale").Fingerprint; got != (state.Fingerprint{}) {
		t.Errorf("of what nothing is certain of the state has %+v", got)
	}
	if got := a.known(t, "ConfigMap old").Fingerprint; len(got.Owned) != 64 || got.Server != "v1.37.1" {
		t.Errorf("of what was written the state has %+v", got)
	}
}

// TestNoFingerprintOfWhatNobodyLookedAt checks that no fingerprint is recorded if another client
// may have added fields since the plan, or if the plan could not check for such fields. The next
// plan must look for them.
func TestNoFingerprintOfWhatNobodyLookedAt(t *testing.T) {
	tests := map[string]struct {
		adjust func(*plans.Action, *cluster)
		want   bool
	}{
		"as planned": {func(*plans.Action, *cluster) {}, true},
		"a new object": {func(a *plans.Action, c *cluster) {
			a.Verb, a.Prior, c.objects = plans.Create, providers.Precondition{}, map[providers.Ref]*unstructured.Unstructured{}
		}, true},
		"not verified":       {func(a *plans.Action, _ *cluster) { a.Evidence.Kind = plans.Unverified }, false},
		"by a schema":        {func(a *plans.Action, _ *cluster) { a.Evidence.Kind = plans.Schema }, false},
		"left, and reported": {func(a *plans.Action, _ *cluster) { a.Reported = true }, false},
		"changed by others since": {func(a *plans.Action, c *cluster) {
			a.Prior.ResourceVersion, c.onApply = "10", c.movedOn
		}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := live("ConfigMap old")
			now.SetResourceVersion("12")
			c := newCluster(now)
			c.identity.Version = "v1.37.1"
			c.onAnswer = func(u *unstructured.Unstructured) {
				u.Object["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{
					"manager": "kolla", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:data": map[string]any{}},
				}}
			}
			a := newApply(t, c, recorded("ConfigMap old", true))
			action := act(plans.Update, "ConfigMap old")
			action.Evidence.Kind = plans.DryRun
			action.Prior.ResourceVersion = "12"
			test.adjust(&action, c)
			a.run(t.Context(), t, action)
			if got := a.known(t, "ConfigMap old").Fingerprint; (got.Owned != "") != test.want {
				t.Errorf("the state has the fingerprint %+v", got)
			}
		})
	}
}

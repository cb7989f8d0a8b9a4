package executor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// growing is an action that grows the claim of a StatefulSet.
func growing() plans.Action {
	a := act(plans.Update, "PersistentVolumeClaim data")
	a.Object, a.Grows = nil, "2Gi"
	return a
}

// TestGrow checks that a claim grows before the objects that depend on it are written, that the
// write is bound to the claim's UID, and that the state does not record the claim: kolla would
// delete the claim as undeclared.
func TestGrow(t *testing.T) {
	a := newApply(t, newCluster(live("PersistentVolumeClaim data"), live("Deployment api")), recorded("Deployment api", true))
	a.onApply = func(_ context.Context, ref providers.Ref, options providers.ApplyOptions) error {
		if ref.GVK.Kind == "PersistentVolumeClaim" && (options.Manager != "kolla:prod" || !options.Force) {
			t.Errorf("options are %+v", options)
		}
		return nil
	}
	a.run(t.Context(), t, growing(), act(plans.Update, "Deployment api", "PersistentVolumeClaim data"))
	want := []string{
		"apply PersistentVolumeClaim openstack/data if uid-data", "wait PersistentVolumeClaim openstack/data",
		"apply Deployment openstack/api if uid-api", "wait Deployment openstack/api",
	}
	if !slices.Equal(a.calls, want) {
		t.Errorf("calls are %q, want %q", a.calls, want)
	}
	if got := a.known(t, "PersistentVolumeClaim data"); got != nil {
		t.Errorf("the state has %+v", got)
	}
	if !slices.Contains(a.ready, "data") {
		t.Errorf("%q are done and ready", a.ready)
	}
}

// TestGrowFails checks that actions that depend on a claim are skipped if its volume does not grow.
func TestGrowFails(t *testing.T) {
	a := newApply(t, newCluster(live("PersistentVolumeClaim data"), live("Deployment api")), recorded("Deployment api", true))
	a.onWait = func(context.Context, providers.Ref, func(string)) error {
		return &providers.NotReadyError{Reason: "its volume does not grow: quota exceeded", Final: true}
	}
	got := outcomes(a.run(t.Context(), t, growing(), act(plans.Update, "Deployment api", "PersistentVolumeClaim data")))
	if want := []string{"data: failed, written", "api: skipped because of data"}; !slices.Equal(got, want) {
		t.Errorf("outcomes are %q, want %q", got, want)
	}
}

// TestGrowsLater checks that the end of an action says what the object still lacks, if the apply did
// not wait for it, and nothing that the object lacked before.
func TestGrowsLater(t *testing.T) {
	for _, lacks := range []string{"", "its file system grows when the next pod starts with it"} {
		a := newApply(t, newCluster(live("PersistentVolumeClaim data")))
		a.onWait = func(_ context.Context, _ providers.Ref, report func(string)) error {
			report("its volume has 1Gi and grows to 2Gi")
			report(lacks)
			return nil
		}
		a.run(t.Context(), t, growing())
		want := strings.TrimSuffix("done data: "+lacks, ": ")
		if got := a.events[len(a.events)-1]; got != want {
			t.Errorf("the last event is %q, want %q", got, want)
		}
	}
}

// TestOnlyVolumes checks that a plan cannot use these actions to change objects of other kinds.
func TestOnlyVolumes(t *testing.T) {
	another, create, update := growing(), growing(), act(plans.Update, "StatefulSet db")
	another.Ref.GVK = kinds["ConfigMap"]
	create.Verb = plans.Create
	deployment := act(plans.Replace, "Deployment api")
	deployment.KeepsPods, update.KeepsPods = true, true
	for _, test := range []struct {
		action plans.Action
		want   string
	}{
		{another, "only a claim of a StatefulSet grows"},
		{create, "only a claim of a StatefulSet grows"},
		{deployment, "only a StatefulSet is made again"},
		{update, "only a StatefulSet is made again"},
	} {
		a := newApply(t, newCluster())
		_, err := executor.Apply(t.Context(), a.plan(test.action), a.options)
		if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

// TestKeepsPods checks that a StatefulSet can be recreated without deleting its pods.
func TestKeepsPods(t *testing.T) {
	a := newApply(t, newCluster(live("StatefulSet db")), recorded("StatefulSet db", true))
	again := act(plans.Replace, "StatefulSet db")
	again.KeepsPods = true
	a.run(t.Context(), t, again)
	want := []string{
		"delete StatefulSet openstack/db if uid-db, and leave what it made",
		"apply StatefulSet openstack/db if new", "wait StatefulSet openstack/db",
	}
	if !slices.Equal(a.calls, want) {
		t.Errorf("calls are %q, want %q", a.calls, want)
	}
}

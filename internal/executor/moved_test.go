package executor_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

func TestMoved(t *testing.T) {
	const planned, drifted = 3, 5
	tests := map[string]struct {
		spec map[string]any // of the live object by now
		want []string
		err  string
	}{
		"only its status moved": {map[string]any{"replicas": int64(drifted)}, []string{"api: applied, written"}, ""},
		"done by somebody else": {map[string]any{"replicas": int64(planned)}, []string{"api: applied, written"}, ""},
		"another change":        {map[string]any{"replicas": int64(7)}, []string{"api: failed"}, "spec.replicas"},
		"something more": {
			map[string]any{"replicas": int64(drifted), "paused": true}, []string{"api: failed"}, "spec.paused",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := live("Deployment api")
			now.SetResourceVersion("12")
			now.Object["spec"] = test.spec
			a := newApply(t, newCluster(now), recorded("Deployment api", true))
			a.onApply = func(_ context.Context, ref providers.Ref, options providers.ApplyOptions) error {
				if options.Precondition.ResourceVersion != "12" {
					return &providers.PreconditionError{Ref: ref}
				}
				return nil
			}
			action := act(planner.Update, "Deployment api")
			action.Prior.ResourceVersion = "10"
			action.Object.Manifest.Object["spec"] = map[string]any{"replicas": int64(planned), "paused": false}
			if _, ok := test.spec["paused"]; !ok {
				delete(action.Object.Manifest.Object["spec"].(map[string]any), "paused")
			}
			// As it comes out of a plan file: numbers are floats, and there is blame.
			action.Changes = []planner.Change{{Path: "spec.replicas", Before: float64(drifted), After: float64(planned), Drift: true, Manager: "kubectl"}}
			result := a.run(t.Context(), t, action)
			diff(t, "outcomes", test.want, outcomes(result))
			if err := result.Outcomes[0].Err; test.err != "" && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %v, want it to name %s", err, test.err)
			}
			if test.err != "" && !a.known(t, "Deployment api").Ready {
				t.Error("the refusal made the object not ready")
			}
		})
	}
}

// A Secret gets a key whose value is made at apply, and a checksum of it.
func TestMovedWithValuesThatWereUnknown(t *testing.T) {
	const checksum = `metadata.annotations["kolla.openstack.org/checksum"]`
	newPassword := planner.Change{Path: `data["password"]`, After: planner.Unknown, Sensitive: true}
	newChecksum := planner.Change{Path: checksum, Before: planner.Masked, After: planner.Unknown, Sensitive: true}
	tests := map[string]struct {
		planned []planner.Change
		want    []string
	}{
		"planned":     {[]planner.Change{newPassword, newChecksum}, []string{"db: applied, written"}},
		"not planned": {[]planner.Change{newChecksum}, []string{"db: failed"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := live("Secret db")
			now.SetResourceVersion("12")
			now.SetAnnotations(map[string]string{providers.AnnotationChecksum: "old"})
			a := newApply(t, newCluster(now))
			a.onApply = func(_ context.Context, ref providers.Ref, options providers.ApplyOptions) error {
				if options.Precondition.ResourceVersion != "12" {
					return &providers.PreconditionError{Ref: ref}
				}
				return nil
			}
			a.onDryRun = func(after *unstructured.Unstructured) {
				after.Object["data"] = map[string]any{"password": "aHVudGVyMg=="}
				after.SetAnnotations(map[string]string{providers.AnnotationChecksum: "new"})
			}
			action := act(planner.Update, "Secret db")
			action.Prior.ResourceVersion = "10"
			action.Changes = test.planned
			diff(t, "outcomes", test.want, outcomes(a.run(t.Context(), t, action)))
		})
	}
}

// The version of a Node changes all the time.
func TestPartsAreBoundToTheObjectOnly(t *testing.T) {
	a := newApply(t, newCluster(live("Node ctl-1")))
	action := act(planner.Update, "Node ctl-1")
	action.Prior.ResourceVersion = "10"
	a.run(t.Context(), t, action)
	diff(t, "calls", []string{"apply Node ctl-1 if uid-ctl-1"}, a.calls)
}

func TestMovedAndGone(t *testing.T) {
	another := live("Deployment api")
	another.SetUID("uid-of-another")
	a := newApply(t, newCluster(another))
	a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
		return &providers.PreconditionError{Ref: ref}
	}
	action := act(planner.Update, "Deployment api")
	action.Prior.ResourceVersion = "10"
	result := a.run(t.Context(), t, action)
	if err := result.Outcomes[0].Err; err == nil || !strings.Contains(err.Error(), "was deleted") {
		t.Errorf("got %v, want that it is gone", err)
	}
}

func TestAlwaysMovingIsGivenUp(t *testing.T) {
	a := newApply(t, newCluster(live("Deployment api")))
	attempts := 0
	a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
		attempts++
		return &providers.PreconditionError{Ref: ref}
	}
	now := live("Deployment api")
	now.SetResourceVersion("12")
	a.objects[providers.RefOf(now)] = now
	action := act(planner.Update, "Deployment api")
	action.Prior.ResourceVersion = "10"
	result := a.run(t.Context(), t, action)
	diff(t, "outcomes", []string{"api: failed"}, outcomes(result))
	if attempts != 6 {
		t.Errorf("%d attempts, want 6", attempts)
	}
}

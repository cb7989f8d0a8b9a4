package executor_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestMovedError checks that the error names the fields, the values and the author, and no secret.
func TestMovedError(t *testing.T) {
	err := &executor.MovedError{
		Ref: providers.Ref{GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "a", Name: "b"},
		Changes: []plans.Change{
			{Path: "spec.replicas", Before: int64(5), After: int64(3), Drift: true, Manager: "kubectl", Time: time.Date(2026, 11, 21, 2, 11, 0, 0, time.UTC)},
			{Path: "data.x", Before: "hunter2", After: "hunter3", Sensitive: true},
			{Path: "data.y", After: "z"},
		},
	}
	const want = `ConfigMap a/b was changed since the plan was made. An apply would now also change spec.replicas (5 → 3), written by "kubectl" at 2026-11-21 02:11:00 UTC, data.x, data.y (nothing → "z"); make a new plan`
	if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

package rollout_test

import (
	"errors"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/run/rollout"
	"kolla.openstack.org/kolla/providers"
)

// TestLostLock checks that a rollout that has lost the state's lock deletes no pod.
func TestLostLock(t *testing.T) {
	lost := errors.New("the lock is lost")
	r := rollout.Rollout{Address: "service.a/DaemonSet/a", Pods: []providers.Pod{{Name: "a-1"}, {Name: "a-2"}}, AtATime: 1}
	// There is no client, so an attempt to delete a pod would panic.
	err := r.Run(providers.Fenced(t.Context(), func() error { return lost }), nil, time.Minute, rollout.Report{
		Pod: func(pod providers.Pod, text string) { t.Errorf("%s: %s", pod.Name, text) },
	})
	if !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
}

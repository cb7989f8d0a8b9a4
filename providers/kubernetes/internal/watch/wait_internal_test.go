package watch

import (
	"testing"
	"testing/synctest"
	"time"

	"kolla.openstack.org/kolla/providers/kubernetes/internal/readiness"
)

// TestHopelessIsWaitedFor checks that a hopeless finding ends the wait, but not at once.
func TestHopelessIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &waiter{now: readiness.Examination{Finding: &readiness.Finding{Hopeless: true}}}
		for range 6 {
			if v.hopeless() {
				t.Fatal("it was not waited for at all")
			}
			time.Sleep(examinationPause)
		}
		if !v.hopeless() {
			t.Error("it is still waited for")
		}
		v.now.Finding = nil
		if v.hopeless() {
			t.Error("a new finding is not waited for")
		}
	})
}

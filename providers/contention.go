package providers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Contention paces a loop that reads an object and then writes to exactly that version of it,
// while other programs also write to the object. A controller may update a status many times
// within a second. The zero value is not ready for use; see Contend.
type Contention struct{ pause wait.Backoff }

// Contend returns a Contention for 10 more attempts after the first one, within about 3 s.
func Contend() *Contention {
	return &Contention{wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1.7, Jitter: 0.2, Steps: 10}}
}

// Again waits before the next attempt. It reports false if no attempts are left, or if the
// context has ended.
func (c *Contention) Again(ctx context.Context) bool {
	if c.pause.Steps == 0 {
		return false
	}
	timer := time.NewTimer(c.pause.Step())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

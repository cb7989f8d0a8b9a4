package executor

import (
	"context"
	"errors"
	"sync"
	"time"

	"kolla.openstack.org/kolla/providers"
)

const (
	// lateness is between looks at a workload that Kubernetes has given up on.
	lateness = 5 * time.Second
	// aloneness is how long nothing else has to go on until a step counts as the only
	// one: what comes next begins a moment after the end of what was before.
	aloneness = time.Second
)

// tally counts the steps under way, so that one that waits can tell whether it may still
// be waiting for another one.
type tally struct {
	mu      sync.Mutex
	going   int           // steps under way, but for those that have run out of time
	done    int           // steps that ended well
	last    time.Time     // when the last of those did
	changed chan struct{} // closed, and replaced, when a number changes
}

func newTally() *tally { return &tally{changed: make(chan struct{})} }

// change changes the numbers.
func (t *tally) change(how func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	how()
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *tally) begin() { t.change(func() { t.going++ }) }

func (t *tally) end(well bool) {
	t.change(func() {
		t.going--
		if well {
			t.done++
			t.last = time.Now()
		}
	})
}

func (t *tally) look() (going, done int, last time.Time, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.going, t.done, t.last, t.changed
}

// goesOn reports whether anything else goes on, a moment later too if need be. It returns
// earlier when a step has ended well since there were done of them, and after at most
// lateness.
func (t *tally) goesOn(ctx context.Context, done int) bool {
	limit := time.After(lateness)
	for {
		going, now, _, changed := t.look()
		var alone <-chan time.Time
		if going == 0 {
			alone = time.After(aloneness)
		}
		if now != done {
			return true
		}
		select {
		case <-alone:
			return false
		case <-limit:
			return true
		case <-ctx.Done():
			return true
		case <-changed:
		}
	}
}

// waitForOthers waits for an object of a manifest, which may itself wait for any other
// object of the plan: its time begins anew whenever another step ends well, and does not
// run out while others go on. Steps that have run out of time do not count as going on:
// several that wait for each other come to an end. The time of a workload that Kubernetes
// gives up on is as long as that took.
func (s *step) waitForOthers(ctx context.Context, timeout time.Duration) error {
	_, seen, _, _ := s.tally.look()
	since, moved, out, late := time.Now(), false, false, false
	defer func() {
		if out {
			s.tally.begin()
		}
	}()
	for {
		err := s.waitFor(ctx, max(time.Until(since.Add(timeout)), aloneness))
		var notReady *providers.NotReadyError
		if ctx.Err() != nil || !errors.As(err, &notReady) || notReady.Final && !notReady.Late {
			return err
		}
		if notReady.Late && !late {
			late, timeout = true, time.Since(since)
		}
		if _, done, last, _ := s.tally.look(); done != seen {
			seen, since, moved = done, last, true
		}
		switch {
		case !moved || time.Since(since) >= timeout:
			if !out {
				out = true
				s.tally.change(func() { s.tally.going-- })
			}
			if !s.tally.goesOn(ctx, seen) {
				return err
			}
		case late:
			sleep(ctx, lateness)
		}
	}
}

func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

package executor

import (
	"context"
	"errors"
	"sync"
	"time"

	"kolla.openstack.org/kolla/providers"
)

const (
	// lateness is the pause between checks of a workload that Kubernetes has given up on.
	lateness = 5 * time.Second
	// aloneness is how long a step must be the only running one before it counts as alone, because
	// the next action starts a moment after the previous one ended.
	aloneness = time.Second
)

// tally counts the running steps. A waiting step uses it to decide whether it may still be
// waiting for another step.
type tally struct {
	mu      sync.Mutex
	going   int           // running steps, without those whose time has run out
	done    int           // steps that succeeded
	last    time.Time     // when the last step succeeded
	changed chan struct{} // closed and replaced when a count changes
}

func newTally() *tally { return &tally{changed: make(chan struct{})} }

// change calls how with the lock held, and wakes all steps that wait for a change.
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

// goesOn reports whether other steps are running. If none is, it waits for aloneness to see
// whether one starts. It returns true as soon as the number of successful steps differs
// from done, and after lateness at the latest.
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

// waitForOthers waits for an object of a manifest. The object may itself wait for any other
// object of the plan, so its time starts again whenever another step succeeds, and does not
// run out while other steps are running. Steps whose time has run out do not count as
// running, so several steps that wait for each other come to an end. If Kubernetes gives up
// on a workload, the timeout becomes the time that this took.
func (s *step) waitForOthers(ctx context.Context, timeout time.Duration) error {
	_, seen, _, _ := s.run.tally.look()
	since, moved, out, late := time.Now(), false, false, false
	defer func() {
		if out {
			s.run.tally.begin()
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
		if _, done, last, _ := s.run.tally.look(); done != seen {
			seen, since, moved = done, last, true
		}
		switch {
		case !moved || time.Since(since) >= timeout:
			if !out {
				out = true
				s.run.tally.change(func() { s.run.tally.going-- })
			}
			if !s.run.tally.goesOn(ctx, seen) {
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

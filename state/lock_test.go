package state_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kolla.openstack.org/kolla/state"
)

// neverDone is the context of a process that can only be killed.
type neverDone struct{ context.Context }

func (neverDone) Deadline() (time.Time, bool) { return time.Time{}, false }
func (neverDone) Done() <-chan struct{}       { return nil }
func (neverDone) Err() error                  { return nil }
func (neverDone) Value(any) any               { return nil }

func TestLockedSaysByWhomAndHowToGoOn(t *testing.T) {
	store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	session := lock(t, store)
	_, err := store.Lock(t.Context(), state.LockInfo{Operation: "plan"}, 0)
	var locked *state.LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("got %v, want it locked", err)
	}
	host, _ := os.Hostname()
	for _, want := range []string{session.Holder().ID, "Operation: apply", "@" + host, "Since:", "Version:   1.0.0", "kolla force-unlock " + session.Holder().ID, "-lock-timeout"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	must(t, session.Close())
	must(t, lock(t, store).Close())
}

func TestLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), state.DefaultFile)
	tests := map[string]struct {
		released time.Duration // when the holder releases the lock
		timeout  time.Duration
		want     time.Duration // how long the other process waits
		locked   bool          // the other process waits in vain
	}{
		"at once":                     {time.Hour, 0, 50 * time.Millisecond, true},
		"in vain":                     {time.Hour, 10 * time.Second, 10 * time.Second, true},
		"pauses double":               {5 * time.Second, time.Minute, 7050 * time.Millisecond, false},
		"pauses end at 16 s":          {40 * time.Second, 2 * time.Minute, 47050 * time.Millisecond, false},
		"a last try when time is out": {9 * time.Second, 10 * time.Second, 10 * time.Second, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := state.Open(path)
				held := lock(t, store)
				time.AfterFunc(test.released, func() { _ = held.Close() })
				start := time.Now()
				session, err := store.Lock(t.Context(), state.LockInfo{}, test.timeout)
				var locked *state.LockedError
				if errors.As(err, &locked) != test.locked {
					t.Errorf("got %v, want it locked: %v", err, test.locked)
				}
				if got := time.Since(start); got != test.want {
					t.Errorf("waited %s, want %s", got, test.want)
				}
				if session != nil {
					must(t, session.Close())
				}
				must(t, held.Close())
			})
		})
	}
}

func TestLockGivesUpWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), state.DefaultFile)
	synctest.Test(t, func(t *testing.T) {
		store := state.Open(path)
		held := lock(t, store)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := store.Lock(ctx, state.LockInfo{}, time.Hour)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the end of the context", err)
		}
		must(t, held.Close())
	})
}

func TestHolder(t *testing.T) {
	store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	if holder, err := store.Holder(); holder != nil || err != nil {
		t.Errorf("before: got %v, %v", holder, err)
	}
	session := lock(t, store)
	holder, err := store.Holder()
	must(t, err)
	if holder == nil || holder.ID != session.Holder().ID || holder.PID != os.Getpid() || holder.Operation != "apply" {
		t.Errorf("held: got %+v", holder)
	}
	must(t, session.Close())
	if holder, err := store.Holder(); holder != nil || err != nil {
		t.Errorf("after: got %v, %v", holder, err)
	}
}

func TestForceUnlock(t *testing.T) {
	store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	var wrong *state.UnlockError
	if err := store.ForceUnlock("some-id"); !errors.As(err, &wrong) || wrong.Holder != nil {
		t.Errorf("not locked: got %v", err)
	}
	first := lock(t, store)
	must(t, first.Record(object("glance")))
	if err := store.ForceUnlock("some-id"); !errors.As(err, &wrong) || wrong.Holder.ID != first.Holder().ID {
		t.Errorf("wrong ID: got %v", err)
	}
	must(t, store.ForceUnlock(first.Holder().ID))

	second := lock(t, store)
	must(t, second.Record(object("nova")))
	var lost *state.LockLostError
	if err := first.Intend(object("cinder")); !errors.As(err, &lost) {
		t.Errorf("intend without the lock: got %v", err)
	}
	if err := first.Close(); !errors.As(err, &lost) {
		t.Errorf("close without the lock: got %v", err)
	}
	if holder, err := store.Holder(); err != nil || holder == nil || holder.ID != second.Holder().ID {
		t.Errorf("the second holder lost its lock too: %+v, %v", holder, err)
	}
	must(t, second.Close())
	got := read(t, store)
	if len(got.Objects) != 2 || got.Find("service.cinder/Deployment/cinder") != nil {
		t.Errorf("got %+v, want glance and nova", got.Objects)
	}
}

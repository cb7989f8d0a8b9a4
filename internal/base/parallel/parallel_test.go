package parallel_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/parallel"
)

// TestEach checks that Each calls its function once with each number.
func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		calls := make([]int, n)
		parallel.Each(n, func(i int) { calls[i]++ })
		for i, count := range calls {
			if count != 1 {
				t.Errorf("%d of %d: %d calls", i, n, count)
			}
		}
	}
}

// TestPanic checks that a panic reaches the caller.
func TestPanic(t *testing.T) {
	err := crash.Catch(func() error {
		parallel.Each(100, func(i int) {
			if i == 50 {
				panic("fifty")
			}
		})
		return nil
	})
	var panicked *crash.Error
	if !errors.As(err, &panicked) {
		t.Errorf("got %v, want a panic", err)
	}
}

// TestBounded checks the number of calls at the same time, and that the first error ends the others.
func TestBounded(t *testing.T) {
	var now, most atomic.Int64
	calls := make([]int, 100)
	if err := parallel.Bounded(t.Context(), 3, len(calls), func(_ context.Context, i int) error {
		most.Store(max(most.Load(), now.Add(1)))
		calls[i]++
		runtime.Gosched()
		now.Add(-1)
		return nil
	}); err != nil || most.Load() > 3 || slices.Contains(calls, 0) || slices.Contains(calls, 2) {
		t.Errorf("error %v, %d calls at the same time, %v", err, most.Load(), calls)
	}
	broken := errors.New("broken")
	err := parallel.Bounded(t.Context(), 2, 2, func(ctx context.Context, i int) error {
		if i == 0 {
			return broken
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want the first one", err)
	}
	if err := parallel.Bounded(t.Context(), 1, 1, func(context.Context, int) error { panic("one") }); err == nil {
		t.Error("a panic is no error")
	}
}

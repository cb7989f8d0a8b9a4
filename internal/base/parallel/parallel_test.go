package parallel_test

import (
	"errors"
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

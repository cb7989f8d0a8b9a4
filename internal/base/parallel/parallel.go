// Package parallel computes on all processors, and waits for several answers at the same time.
package parallel

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"kolla.openstack.org/kolla/internal/base/crash"
)

// Each calls f with each number below n, on all processors, and returns after the last call. A panic
// of f becomes a panic of Each.
func Each(n int, f func(i int)) {
	var group errgroup.Group
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(crash.Catching(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
			return nil
		}))
	}
	if err := group.Wait(); err != nil {
		panic(err)
	}
}

// Bounded calls f with each number below n, as many as limit at the same time, and returns after the last call.
// The first error, or panic, is its error, and ends the context of all calls.
func Bounded(ctx context.Context, limit, n int, f func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(limit)
	for i := range n {
		group.Go(crash.Catching(func() error { return f(ctx, i) }))
	}
	return group.Wait()
}

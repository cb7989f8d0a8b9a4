package providers

import "context"

type fenceKey struct{}

// Fenced returns a context for the writes of a process that holds a lock. check returns an error if
// the lock is lost. A write that gets no answer is sent again only while check returns nil: another
// process may have taken the lock in the meantime.
func Fenced(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, fenceKey{}, check)
}

// CheckFence returns the error of the context's check. It returns nil if the context has no check,
// or if the process holds the lock.
func CheckFence(ctx context.Context) error {
	if check, ok := ctx.Value(fenceKey{}).(func() error); ok {
		return check()
	}
	return nil
}

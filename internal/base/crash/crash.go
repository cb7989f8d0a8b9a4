// Package crash turns panics into errors. A panic in a goroutine ends the whole program at
// once, without any cleanup. An error is handled like all errors.
package crash

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// Error is a recovered panic: a mistake in kolla itself.
type Error struct {
	Value any    // the argument of panic
	Stack []byte // of the goroutine that panicked
}

// Error returns a message that is safe to show to anyone. It omits the panic's value, which may
// contain a secret, unless the value is an error of the Go runtime.
func (e *Error) Error() string {
	var mistake runtime.Error
	if err, ok := e.Value.(error); ok && errors.As(err, &mistake) {
		return "a bug in kolla: " + mistake.Error()
	}
	return "a bug in kolla"
}

// Catch calls f. The error is f's, or an *Error if f panicked.
func Catch(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Error{Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}

// Catching returns f with panics turned into errors, for goroutines.
func Catching(f func() error) func() error {
	return func() error { return Catch(f) }
}

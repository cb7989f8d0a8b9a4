// Package crash makes errors of panics. A panic in a goroutine ends the whole program
// at once, with nothing tidied up; an error goes the way of all errors.
package crash

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// Error is a panic: a mistake in kolla itself.
type Error struct {
	Value any    // what the panic was called with
	Stack []byte // of the goroutine that panicked
}

// Error says no more than can be shown to anyone: a value may hold what is secret. What
// the runtime says of a mistake does not.
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

// Catching is f with its panics as errors, for goroutines.
func Catching(f func() error) func() error {
	return func() error { return Catch(f) }
}

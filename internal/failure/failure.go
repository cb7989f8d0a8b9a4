// Package failure has the error that tells an operator how to go on.
package failure

// Error is a failure with advice for the operator.
type Error struct {
	Summary string // a headline without a full stop
	Detail  string // sentences: the cause, and the next step
}

// New returns an *Error as an error.
func New(summary, detail string) error { return &Error{Summary: summary, Detail: detail} }

// Error implements error.
func (e *Error) Error() string { return e.Summary + ": " + e.Detail }

// Package failure has errors that tell an operator how to go on.
//
// Two forms of error are enough. A mistake in the configuration or in a plan is a diagnostic, with
// its place. A failure of the world is a wrapped error, and one of the chain may be [Explained]: it
// knows the headline and the next step.
package failure

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Explained is an error that tells an operator how to go on.
type Explained interface {
	error
	// Explain returns a headline without a full stop, and sentences: the cause, and the next step.
	Explain() (summary, detail string)
}

// Explain returns the words of the first error of a chain that is Explained; ok is false if none is.
func Explain(err error) (summary, detail string, ok bool) {
	var explained Explained
	if !errors.As(err, &explained) {
		return "", "", false
	}
	summary, detail = explained.Explain()
	return summary, detail, true
}

// Error is a failure with advice for the operator.
type Error struct {
	Summary string // a headline without a full stop
	Detail  string // sentences: the cause, and the next step
}

// New returns an *Error as an error.
func New(summary, detail string) error { return &Error{Summary: summary, Detail: detail} }

// Error implements error.
func (e *Error) Error() string { return e.Summary + ": " + e.Detail }

// Explain implements Explained.
func (e *Error) Explain() (summary, detail string) { return e.Summary, e.Detail }

// With returns an error with the text of err, which it wraps, and with advice for the operator.
func With(err error, summary, detail string) error { return &advised{err, Error{summary, detail}} }

type advised struct {
	error
	advice Error
}

func (e *advised) Unwrap() error { return e.error }

// Explain implements Explained.
func (e *advised) Explain() (summary, detail string) { return e.advice.Explain() }

// Sentence capitalizes the first letter of an error text, unless the text begins with a file name.
func Sentence(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if text == "" || strings.ContainsAny(first, "./") {
		return text
	}
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}

// Package failure has the error that tells an operator how to go on.
package failure

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is a failure with advice for the operator.
type Error struct {
	Summary string // a headline without a full stop
	Detail  string // sentences: the cause, and the next step
}

// New returns an *Error as an error.
func New(summary, detail string) error { return &Error{Summary: summary, Detail: detail} }

// Error implements error.
func (e *Error) Error() string { return e.Summary + ": " + e.Detail }

// Sentence makes the text of an error begin with a capital letter. The name of a file at
// the beginning stays as it is.
func Sentence(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if text == "" || strings.ContainsAny(first, "./") {
		return text
	}
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}

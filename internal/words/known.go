package words

import (
	"fmt"
	"slices"
	"strings"
)

// Sorted gives "a, b and c", in the order of the names and without repetitions, or "none".
func Sorted(names []string) string { return All(slices.Compact(slices.Sorted(slices.Values(names)))) }

// Known gives the names of a kind of things: "Known variables: a and b."
func Known(noun string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("No %ss are declared.", noun)
	}
	return fmt.Sprintf("Known %ss: %s.", noun, Sorted(names))
}

// WithHint puts a hint before a sentence. The hint comes from DidYouMean, and may be empty.
func WithHint(hint, text string) string {
	if hint == "" {
		return text
	}
	return hint[1:] + " " + text
}

// Sentence is the message of an error with a capital letter.
func Sentence(err error) string {
	s := err.Error()
	return strings.ToUpper(s[:1]) + s[1:]
}

// Has gives "Its blocks are: a, b and c.", or "It has none."
func Has(prefix string, names []string) string {
	if len(names) == 0 {
		return "It has none."
	}
	return prefix + ": " + Sorted(names) + "."
}

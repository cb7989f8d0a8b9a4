package words

import (
	"fmt"
	"slices"
)

// Sorted returns the names, sorted and without repetitions, as "a, b and c", or "none".
func Sorted(names []string) string { return All(slices.Compact(slices.Sorted(slices.Values(names)))) }

// maxKnown is the number of names in a sentence.
const maxKnown = 100

// Known returns a sentence with the names of a kind: "Known variables: a and b."
func Known(noun string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("No %ss are declared.", noun)
	}
	return Has(fmt.Sprintf("Known %ss", noun), names)
}

// WithHint returns a text with a hint before it. The hint comes from DidYouMean and may be
// empty.
func WithHint(hint, text string) string {
	if hint == "" {
		return text
	}
	return hint[1:] + " " + text
}

// Sentence returns the message of an error with a capital first letter.
func Sentence(err error) string {
	return Capital(err.Error())
}

// Has returns a sentence such as "Its blocks are: a, b and c.", or "It has none."
func Has(prefix string, names []string) string {
	if len(names) == 0 {
		return "It has none."
	}
	if sorted := slices.Compact(slices.Sorted(slices.Values(names))); len(sorted) > maxKnown {
		return prefix + ": " + Few(sorted, maxKnown) + "."
	}
	return prefix + ": " + Sorted(names) + "."
}

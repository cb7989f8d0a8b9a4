// Package words formats names and numbers for sentences and for command lines, and finds the
// name that was probably meant.
package words

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// All returns a list of all names: "a, b and c", or "none".
func All(names []string) string {
	switch n := len(names); n {
	case 0:
		return "none"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// First returns the first lines, up to limit, and one with the number of the others: "and 3 more nodes".
// If there is one other, it returns all. The noun is in the singular, or empty.
func First(lines []string, limit int, noun string) []string {
	more := len(lines) - limit
	switch {
	case more <= 1:
		return lines
	case noun == "":
		return append(lines[:limit:limit], fmt.Sprintf("and %d more", more))
	}
	return append(lines[:limit:limit], "and "+Count(more, "more "+noun))
}

// Shorter returns the abbreviation of a text if it has fewer characters than the text, and the text
// otherwise.
func Shorter(abbreviation, text string) string {
	if utf8.RuneCountInString(abbreviation) < utf8.RuneCountInString(text) {
		return abbreviation
	}
	return text
}

// Few returns a list of at most limit names, with the number of the others: "a, b and 3 more".
// It returns an empty text if there are no names.
func Few(names []string, limit int) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}

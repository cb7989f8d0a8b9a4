// Package spelling finds the name that was probably meant by one that does not exist.
package spelling

import (
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
)

// DidYouMean gives ` Did you mean "NAME"?`, with the space before it, when one of
// the known names is so close to the given one that it was probably meant; else
// nothing. Where several are equally close there is nothing to suggest either.
func DidYouMean(given string, known []string) string {
	if name := Nearest(given, known); name != "" {
		if strings.Contains(name, `"`) {
			return fmt.Sprintf(" Did you mean %s?", name)
		}
		return fmt.Sprintf(" Did you mean %q?", name)
	}
	return ""
}

// Nearest is the closest of the known names, or "" when there is no one such.
// Longer names may differ in more letters.
func Nearest(given string, known []string) string {
	best, least := "", 2+len(given)/4
	for _, name := range known {
		distance := levenshtein.Distance(strings.ToLower(given), strings.ToLower(name), nil)
		switch {
		case distance < least && distance < len(name):
			best, least = name, distance
		case distance == least && name != best:
			best = ""
		}
	}
	return best
}

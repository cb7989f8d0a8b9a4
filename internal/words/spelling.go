package words

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
// Longer names may differ in more letters, but in no more than a third of them, and not in
// the first and others.
func Nearest(given string, known []string) string {
	best, least := "", 2+len(given)/4
	for _, name := range known {
		given, lower := strings.ToLower(given), strings.ToLower(name)
		distance := distance(given, lower)
		switch {
		case 3*distance > min(len(given), len(name))+1:
		case distance > 1 && given[0] != lower[0]: // hardly anybody begins with a mistake
		case distance < least:
			best, least = name, distance
		case distance == least && name != best:
			best = ""
		}
	}
	return best
}

// distance is how many letters have to be put in, taken out or replaced to make one name
// of the other. Two neighbours that have changed places are one mistake.
func distance(a, b string) int {
	if len(a) == len(b) {
		i := 0
		for i < len(a) && a[i] == b[i] {
			i++
		}
		if i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:] {
			return 1
		}
	}
	return levenshtein.Distance(a, b, nil)
}

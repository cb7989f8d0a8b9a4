package words

import (
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
)

// DidYouMean returns ` Did you mean "NAME"?`, with the space before it, if one known name is so
// similar to the given name that it was probably meant. It returns an empty text if there is no
// such name, or if several are equally similar.
func DidYouMean(given string, known []string) string {
	if name := Nearest(given, known); name != "" {
		if strings.Contains(name, `"`) {
			return fmt.Sprintf(" Did you mean %s?", name)
		}
		return fmt.Sprintf(" Did you mean %q?", name)
	}
	return ""
}

// maxLength is the length of a name that can be a misspelt one. To compare two takes quadratic time.
const maxLength = 100

// Nearest returns the most similar of the known names, or "" if there is none. Longer names may
// differ in more letters, but in at most a third of them. If more than one letter differs, the
// first letter must be equal.
func Nearest(given string, known []string) string {
	best, least := "", 2+len(given)/4
	for _, name := range known {
		if len(given) > maxLength || max(len(given), len(name))-min(len(given), len(name)) > least {
			continue
		}
		given, lower := strings.ToLower(given), strings.ToLower(name)
		distance := distance(given, lower)
		switch {
		case 3*distance > min(len(given), len(name))+1:
		case distance > 1 && given[0] != lower[0]: // few people mistype the first letter
		case distance < least:
			best, least = name, distance
		case distance == least && name != best:
			best = ""
		}
	}
	return best
}

// distance returns the number of letters to insert, delete or replace to turn one name into the
// other. Two swapped neighbours count as one mistake.
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

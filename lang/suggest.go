package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// DidYouMean gives ` Did you mean "NAME"?`, with the space before it, when one of
// the known names is so close to the given one that it was probably meant; else
// nothing. Where several are equally close there is nothing to suggest either.
func DidYouMean(given string, known []string) string {
	if name := nearest(given, known); name != "" {
		if strings.Contains(name, `"`) {
			return fmt.Sprintf(" Did you mean %s?", name)
		}
		return fmt.Sprintf(" Did you mean %q?", name)
	}
	return ""
}

// nearest is the closest of the known names, or "" when there is no one such.
// Longer names may differ in more letters.
func nearest(given string, known []string) string {
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

// listed gives "a, b and c" in order of names, or "none".
func listed(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	switch len(names) {
	case 0:
		return "none"
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// keysOf are the keys of a map, sorted.
func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

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

// knownNames says which names of a kind there are: "Known variables: a and b."
func knownNames(noun string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("No %ss are declared.", noun)
	}
	return fmt.Sprintf("Known %ss: %s.", noun, listed(names))
}

// keysOf are the keys of a map, sorted.
func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

package lang

import (
	"fmt"
	"maps"
	"slices"

	"kolla.openstack.org/kolla/internal/words"
)

// listed gives "a, b and c" in order of names, or "none".
func listed(names []string) string {
	return words.All(slices.Compact(slices.Sorted(slices.Values(names))))
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

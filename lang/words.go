package lang

import (
	"maps"
	"slices"
)

// keysOf are the keys of a map, sorted.
func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

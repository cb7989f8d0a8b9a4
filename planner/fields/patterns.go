package fields

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/lang/addrs"
)

// Patterns parses paths that may contain wildcards. Texts that cannot be parsed are
// skipped: the language has reported them.
func Patterns(texts []string) []addrs.FieldPath {
	var paths []addrs.FieldPath
	for _, text := range texts {
		if path, err := addrs.ParseFieldPath(text); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// Covered reports whether a pattern matches the field.
func Covered(patterns []addrs.FieldPath, path fieldpath.Path) bool {
	if len(patterns) == 0 {
		return false
	}
	field, err := addrs.ParseFieldPath(Text(path))
	return err == nil && slices.ContainsFunc(patterns, func(p addrs.FieldPath) bool { return p.Covers(field) })
}

// CoveredBelow reports whether a pattern matches a field below the field with these names.
func CoveredBelow(patterns []addrs.FieldPath, names []string) bool {
	return slices.ContainsFunc(patterns, func(p addrs.FieldPath) bool {
		return len(p) > len(names) && p[:len(names)].Covers(names)
	})
}

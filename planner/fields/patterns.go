package fields

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/lang"
)

// Patterns reads paths. What is none covers nothing; the language has said so.
func Patterns(texts []string) []lang.FieldPath {
	var paths []lang.FieldPath
	for _, text := range texts {
		if path, err := lang.ParseFieldPath(text); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// Covered reports whether one of the patterns stands for the field.
func Covered(patterns []lang.FieldPath, path fieldpath.Path) bool {
	if len(patterns) == 0 {
		return false
	}
	field, err := lang.ParseFieldPath(Text(path))
	return err == nil && slices.ContainsFunc(patterns, func(p lang.FieldPath) bool { return p.Covers(field) })
}

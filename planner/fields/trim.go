package fields

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/plans"
)

// Without returns a copy of the object without the fields at the paths.
func Without(u *unstructured.Unstructured, paths []fieldpath.Path) *unstructured.Unstructured {
	u = u.DeepCopy()
	for _, path := range paths {
		cut(u.Object, path)
	}
	return u
}

// Bare returns the manifest without the maps and lists that it declares as empty and that
// contain one of the given fields; the fields are a set in the form of managedFields.
// differs reports whether there are any.
//
// A custom resource has to be applied without them first: when the content is removed, the
// server would store null in place of the empty map.
func Bare(manifest *unstructured.Unstructured, fields string) (bare *unstructured.Unstructured, differs bool, err error) {
	set := fieldpath.NewSet()
	if err := set.FromJSON(strings.NewReader(fields)); err != nil {
		return nil, false, err
	}
	bare = manifest.DeepCopy()
	for _, path := range pathsIn(set) {
		for n := len(path) - 1; n > 0; n-- {
			if declared, there := Lookup(bare.Object, path[:n]); there && Empty(declared) {
				cut(bare.Object, path[:n])
				differs = true
			}
		}
	}
	return bare, differs, nil
}

func pathsIn(set *fieldpath.Set) []fieldpath.Path {
	var paths []fieldpath.Path
	set.Iterate(func(path fieldpath.Path) { paths = append(paths, path.Copy()) })
	return paths
}

// Trim returns the manifest to send: without the fields that are left to others. It does
// not change the given manifest.
func Trim(manifest *unstructured.Unstructured, yields []plans.Yield) (*unstructured.Unstructured, error) {
	if len(yields) == 0 {
		return manifest, nil
	}
	trimmed := manifest.DeepCopy()
	var keys []fieldpath.Path
	for _, y := range yields {
		path, err := YieldedPath(y)
		switch {
		case err != nil:
			return nil, err
		case y.Value != nil:
			set(trimmed.Object, path, y.Value)
		case RepeatsKey(path):
			keys = append(keys, path)
		default:
			cut(trimmed.Object, path)
		}
	}
	// An element of a list needs its key as long as it has other fields.
	for _, path := range keys {
		element := path[:len(path)-1]
		if left, ok := Lookup(trimmed.Object, element); ok && onlyKey(left, element[len(element)-1]) {
			cut(trimmed.Object, element)
		}
	}
	return trimmed, nil
}

// YieldedPath returns the path of the field that is left to others.
func YieldedPath(y plans.Yield) (path fieldpath.Path, err error) {
	fields := fieldpath.NewSet()
	if err := fields.FromJSON(bytes.NewReader([]byte(y.Field))); err != nil {
		return nil, fmt.Errorf("read which field %s is: %w", y.Path, err)
	}
	fields.Leaves().Iterate(func(p fieldpath.Path) { path = p.Copy() })
	if len(path) == 0 {
		return nil, fmt.Errorf("read which field %s is: it names none", y.Path)
	}
	return path, nil
}

// onlyKey reports whether an element of a list has only the fields of its merge key.
func onlyKey(item any, element fieldpath.PathElement) bool {
	fields, ok := item.(map[string]any)
	return ok && element.Key != nil && len(fields) <= len(*element.Key)
}

// cut removes the value at the path from a container, and the containers that are empty
// after that. It returns the changed container.
func cut(at any, path fieldpath.Path) any {
	step := path[:1]
	inner, ok := Lookup(at, step)
	if !ok {
		return at
	}
	keep := false
	if len(path) > 1 {
		inner = cut(inner, path[1:])
		keep = !Empty(inner)
	}
	switch container := at.(type) {
	case map[string]any:
		if keep {
			container[*step[0].FieldName] = inner
		} else {
			delete(container, *step[0].FieldName)
		}
	case []any:
		i, _ := Position(container, step[0])
		if keep {
			container[i] = inner
		} else {
			return slices.Delete(container, i, i+1)
		}
	}
	return at
}

// Empty reports whether a value is a map or list without elements.
func Empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// set writes a value to a path whose parent exists.
func set(object any, path fieldpath.Path, value any) {
	parent, ok := Lookup(object, path[:len(path)-1])
	if fields, isMap := parent.(map[string]any); ok && isMap && path[len(path)-1].FieldName != nil {
		fields[*path[len(path)-1].FieldName] = value
	}
}

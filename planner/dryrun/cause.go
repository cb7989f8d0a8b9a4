package dryrun

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
)

// Causes turns the immutable fields that the server named into reasons. They have the paths
// that the changes of the plan have. The server names elements of lists by their index,
// sometimes names fields as its own code does, and sometimes names only the part of the
// object.
func Causes(live, manifest *unstructured.Unstructured, manager string, causes []metav1.StatusCause) []plans.Reason {
	c := chart{}
	if after, err := Predict(live, nil, manifest, manager); err == nil {
		c = newChart(live, after, manager)
	}
	var reasons []plans.Reason
	for _, cause := range causes {
		for _, path := range c.find(cause) {
			named := slices.ContainsFunc(reasons, func(r plans.Reason) bool { return r.Path == path })
			if !named {
				reasons = append(reasons, plans.Reason{Kind: plans.ReasonImmutable, Path: path, Detail: plainly(cause.Message)})
			}
		}
	}
	return reasons
}

// chart finds the paths of the server in an object. The zero value finds nothing.
type chart struct {
	after       map[string]any
	fields      *fieldpath.Set      // the fields of after; they show which lists have keys
	differences []fields.Difference // in fields that kolla declares, or declared
}

func newChart(live, after *unstructured.Unstructured, manager string) chart {
	types, err := fields.Typed([]*unstructured.Unstructured{live}, fields.Stripped(after))
	if err != nil {
		return chart{}
	}
	set, err := types[0].ToFieldSet()
	if err != nil {
		return chart{}
	}
	differences, err := fields.Compare(live, after)
	if err != nil {
		return chart{}
	}
	differences = fields.Declared(differences, fields.OwnersOf(live, manager), fields.OwnersOf(after, manager))
	return chart{after: after.Object, fields: set, differences: differences}
}

// mirrored maps a field that the server names in an error to the field that people set. The server
// keeps the two equal.
var mirrored = map[string]string{"spec.clusterIPs": "spec.clusterIP"}

// find returns the fields that a cause is about: the differences, if they can be
// identified, or else the path of the cause.
func (c chart) find(cause metav1.StatusCause) []string {
	path, whole := c.resolve(serverPath(cause.Field))
	var inside []string
	for _, d := range c.differences {
		switch {
		case len(d.At) <= len(path) && path[:len(d.At)].Equals(d.At),
			mirrored[fields.Text(path[:min(len(path), 2)])] == d.Path:
			return []string{d.Path}
		case len(d.At) > len(path) && d.At[:len(path)].Equals(path) && !exempt(cause.Message, fields.Text(d.At[len(path):])):
			inside = append(inside, d.Path)
		}
	}
	vague := !whole || len(path) < 2
	if len(inside) == 1 || vague && len(inside) > 0 {
		return inside
	}
	if !whole || len(path) == 0 {
		return []string{cause.Field}
	}
	return []string{fields.Text(path)}
}

// resolve finds the elements of the server's path in the object. whole: it found all of
// them.
func (c chart) resolve(names []string) (path fieldpath.Path, whole bool) {
	var at any = c.after
	set := c.fields
	for _, name := range names {
		element, next, ok := stepInto(at, set, name)
		if !ok {
			return path, false
		}
		path, at = append(path, element), next
		if set != nil {
			set, _ = set.Children.Get(element)
		}
	}
	return path, true
}

// stepInto takes one step: by name into a map, or by index into a list. The element of a
// list is identified by its key, if the list has keys.
func stepInto(at any, set *fieldpath.Set, name string) (fieldpath.PathElement, any, bool) {
	switch container := at.(type) {
	case map[string]any:
		next, ok := container[name]
		return fieldpath.PathElement{FieldName: &name}, next, ok
	case []any:
		index, err := strconv.Atoi(name)
		if err != nil || index < 0 || index >= len(container) {
			return fieldpath.PathElement{}, nil, false
		}
		if set != nil {
			for element := range fields.ElementsOf(set) {
				if i, ok := fields.Position(container, element); ok && i == index {
					return element, container[index], true
				}
			}
		}
		return fieldpath.PathElement{Index: &index}, container[index], true
	}
	return fieldpath.PathElement{}, nil, false
}

// serverPath splits a path such as `spec.ports[0].nodePort` or `data[a.b]`.
func serverPath(text string) []string {
	var names []string
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "["); ok {
			var name string
			name, text, _ = strings.Cut(rest, "]")
			names = append(names, name)
		} else {
			end := strings.IndexAny(text, ".[")
			if end < 0 {
				end = len(text)
			}
			names = append(names, text[:end])
			text = text[end:]
		}
		text = strings.TrimPrefix(text, ".")
	}
	return names
}

// fieldNames matches words in a message that may be names of fields.
var fieldNames = regexp.MustCompile(`[A-Za-z][A-Za-z.]*[A-Za-z]`)

// exempt reports whether a message says that the path may change: "immutable after creation
// except resources.requests", "for fields other than 'replicas' are forbidden". The path
// begins below that of the cause.
func exempt(message, path string) bool {
	_, exceptions, ok := strings.Cut(message, " except ")
	if !ok {
		_, exceptions, ok = strings.Cut(message, " other than ")
	}
	exceptions, _, _ = strings.Cut(exceptions, "\n")
	return ok && slices.ContainsFunc(fieldNames.FindAllString(exceptions, -1), func(name string) bool { return fields.Within(path, name) })
}

// plainly removes from a message the value, the type of the error, and the further lines,
// in which the server compares its own structures.
func plainly(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	message = strings.TrimPrefix(message, "Forbidden: ")
	if value, ok := strings.CutPrefix(message, "Invalid value: "); ok {
		message = value[strings.LastIndex(value, ": ")+1:]
	}
	return strings.TrimSuffix(strings.TrimSpace(message), ".")
}

package planner

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/plans"
)

// causes turns what the server says cannot change into reasons that name the fields
// as the changes of the plan do. The server names them by index, sometimes by what
// they are called in its own code, and sometimes only the part of the object that
// they are in.
func (s *subject) causes(manifest *unstructured.Unstructured, causes []metav1.StatusCause) []plans.Reason {
	c := chart{}
	if after, err := predict(s.live, nil, manifest, s.manager); err == nil {
		c = newChart(s, after)
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

// chart is what is needed to find one's way in an object by the server's paths. The
// zero value finds nothing.
type chart struct {
	after       map[string]any
	fields      *fieldpath.Set // of after; shows which lists have keys
	differences []difference   // in what kolla declares, or did
}

func newChart(s *subject, after *unstructured.Unstructured) chart {
	types, err := typedAlike([]*unstructured.Unstructured{s.live}, stripped(after))
	if err != nil {
		return chart{}
	}
	fields, err := types[0].ToFieldSet()
	if err != nil {
		return chart{}
	}
	differences, err := compare(s.live, after)
	if err != nil {
		return chart{}
	}
	differences = declared(differences, ownershipOf(s.live, s.manager), ownershipOf(after, s.manager))
	return chart{after: after.Object, fields: fields, differences: differences}
}

// twins are fields that the server keeps alike, where it names the one and people
// set the other.
var twins = map[string]string{"spec.clusterIPs": "spec.clusterIP"}

// find gives the fields that a cause is about: the differences that it means, where
// they can be told, else its own path.
func (c chart) find(cause metav1.StatusCause) []string {
	path, whole := c.resolve(serverPath(cause.Field))
	var inside []string
	for _, d := range c.differences {
		switch {
		case len(d.path) <= len(path) && path[:len(d.path)].Equals(d.path),
			twins[pathText(path[:min(len(path), 2)])] == d.Path:
			return []string{d.Path}
		case len(d.path) > len(path) && d.path[:len(path)].Equals(path) && !exempt(cause.Message, pathText(d.path[len(path):])):
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
	return []string{pathText(path)}
}

// resolve finds the elements of the server's path in the object, as far as it is
// one of the object; whole: all of it.
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

// stepInto takes one step: by name into a map, by index into a list, whose element
// is named by its key where the list has keys.
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
			for element := range elementsOf(set) {
				if i, ok := position(container, element); ok && i == index {
					return element, container[index], true
				}
			}
		}
		return fieldpath.PathElement{Index: &index}, container[index], true
	}
	return fieldpath.PathElement{}, nil, false
}

// serverPath takes a path such as `spec.ports[0].nodePort` or `data[a.b]` apart.
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

// fieldNames matches what may be names of fields in a message.
var fieldNames = regexp.MustCompile(`[A-Za-z][A-Za-z.]*[A-Za-z]`)

// exempt reports whether a message says of the path, which begins where that of the
// cause ends, that it can change: "immutable after creation except
// resources.requests", "for fields other than 'replicas' are forbidden".
func exempt(message, path string) bool {
	_, exceptions, ok := strings.Cut(message, " except ")
	if !ok {
		_, exceptions, ok = strings.Cut(message, " other than ")
	}
	exceptions, _, _ = strings.Cut(exceptions, "\n")
	return ok && slices.ContainsFunc(fieldNames.FindAllString(exceptions, -1), func(name string) bool { return within(path, name) })
}

// plainly takes out of a message what only repeats the value, or what kind of error
// it is; and what follows on further lines, where the server compares its own
// structures.
func plainly(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	message = strings.TrimPrefix(message, "Forbidden: ")
	if value, ok := strings.CutPrefix(message, "Invalid value: "); ok {
		message = value[strings.LastIndex(value, ": ")+1:]
	}
	return strings.TrimSuffix(strings.TrimSpace(message), ".")
}

package fields

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// identifier matches field names that are shown without quotes.
var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

// files are the fields whose keys are names of files, and so are always quoted.
var files = map[string]bool{"data": true, "binaryData": true}

// Text gives the form in which people read a path:
//
//	spec.template.spec.containers["api"].env["OS_CLOUD"].value
//	spec.template.spec.containers["api"].ports[5000/TCP]
//	metadata.annotations["kolla.openstack.org/address"]
//	data["keystone.conf"]
func Text(path fieldpath.Path) string {
	var b strings.Builder
	for i, element := range path {
		switch {
		case element.FieldName == nil:
			b.WriteString("[" + selector(element) + "]")
		case !identifier.MatchString(*element.FieldName), i == 1 && files[b.String()]:
			b.WriteString("[" + strconv.Quote(*element.FieldName) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(*element.FieldName)
		}
	}
	return b.String()
}

// selector names an element of a list: by its merge key, where that is of
// several fields by their values in the order of the fields' names, else by its
// value or index.
func selector(element fieldpath.PathElement) string {
	switch {
	case element.Key != nil && len(*element.Key) == 1:
		return scalarText((*element.Key)[0].Value)
	case element.Key != nil:
		var parts []string
		for _, field := range *element.Key {
			parts = append(parts, fmt.Sprint(field.Value.Unstructured()))
		}
		return strings.Join(parts, "/")
	case element.Value != nil:
		return scalarText(*element.Value)
	case element.Index != nil:
		return strconv.Itoa(*element.Index)
	}
	return ""
}

func scalarText(v value.Value) string {
	if v.IsString() {
		return strconv.Quote(v.AsString())
	}
	return fmt.Sprint(v.Unstructured())
}

// Within reports whether the text of a path is the other's, or below it.
func Within(path, ancestor string) bool {
	rest, ok := strings.CutPrefix(path, ancestor)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Lookup finds what is at a path of a decoded object.
func Lookup(at any, path fieldpath.Path) (found any, ok bool) {
	for _, element := range path {
		switch container := at.(type) {
		case map[string]any:
			if element.FieldName == nil {
				return nil, false
			}
			at, ok = container[*element.FieldName]
		case []any:
			var i int
			if i, ok = Position(container, element); ok {
				at = container[i]
			}
		default:
			return nil, false
		}
		if !ok {
			return nil, false
		}
	}
	return at, true
}

// Position finds an element of a list. An element that leaves out a field of the
// merge key has the field's default there, so it is taken when no other matches.
func Position(list []any, element fieldpath.PathElement) (int, bool) {
	switch {
	case element.Index != nil:
		return *element.Index, *element.Index < len(list)
	case element.Value != nil:
		i := slices.IndexFunc(list, func(item any) bool { return Equal(item, *element.Value) })
		return i, i >= 0
	case element.Key != nil:
		i := slices.IndexFunc(list, func(item any) bool { return hasKey(item, *element.Key, false) })
		if i < 0 {
			i = slices.IndexFunc(list, func(item any) bool { return hasKey(item, *element.Key, true) })
		}
		return i, i >= 0
	}
	return 0, false
}

func hasKey(item any, key value.FieldList, defaulted bool) bool {
	fields, ok := item.(map[string]any)
	if !ok {
		return false
	}
	for _, field := range key {
		v, ok := fields[field.Name]
		if !ok && defaulted {
			continue
		}
		if !ok || !Equal(v, field.Value) {
			return false
		}
	}
	return true
}

func Equal(raw any, v value.Value) bool {
	return value.Equals(value.NewValueInterface(raw), v)
}

// Touches reports whether the set has the path itself or anything below it.
func Touches(set *fieldpath.Set, path fieldpath.Path) bool {
	for i, element := range path {
		if i == len(path)-1 && set.Members.Has(element) {
			return true
		}
		child, ok := set.Children.Get(element)
		if !ok {
			return false
		}
		set = child
	}
	return !set.Empty()
}

// Names is the path by the names of its fields, with "*" for elements of lists.
func Names(path fieldpath.Path) []string {
	names := make([]string, len(path))
	for i, element := range path {
		names[i] = "*"
		if element.FieldName != nil {
			names[i] = *element.FieldName
		}
	}
	return names
}

// Overlap reports whether one of the paths is the other's, or below it.
func Overlap(a, b fieldpath.Path) bool {
	n := min(len(a), len(b))
	return a[:n].Equals(b[:n])
}

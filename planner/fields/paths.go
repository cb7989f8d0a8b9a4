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

// identifier matches field names that Text writes without quotes.
var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

// files are the fields whose keys are names of files. Text quotes these keys always.
var files = map[string]bool{"data": true, "binaryData": true}

// Text returns the form of a path that plans show:
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

// selector returns the text for an element of a list: its merge key, or else its value or
// index. A merge key of several fields is written as their values, in the order of the
// names of the fields.
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

// Within reports whether a path is the same as another one or below it. Both are in the
// form of Text.
func Within(path, ancestor string) bool {
	rest, ok := strings.CutPrefix(path, ancestor)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Lookup returns the value at a path of a decoded object.
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

// Position returns the index of an element of a list. An element of the list that lacks a
// field of the merge key has the default of that field, so it is taken if no other element
// matches.
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

// Equal reports whether a decoded value is the same as v. Numbers of different Go types may
// be equal.
func Equal(raw any, v value.Value) bool {
	return value.Equals(value.NewValueInterface(raw), v)
}

// Touches reports whether the set contains the path or a path below it.
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

// Names returns the names of the fields of a path, with "*" for elements of lists.
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

// Overlap reports whether the paths are the same, or one is below the other.
func Overlap(a, b fieldpath.Path) bool {
	n := min(len(a), len(b))
	return a[:n].Equals(b[:n])
}

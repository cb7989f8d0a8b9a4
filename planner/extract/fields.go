// Package extract takes the fields that a set names from objects, and masks the values that
// must not be stored. It needs no schema: the sets come from managedFields and show which
// lists have keys.
package extract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Fields is a set of fields in the format of managedFields (FieldsV1), decoded from JSON. Its
// keys are
//
//	f:NAME   a field of a map
//	k:KEYS   the element of a list that has these keys, a JSON object
//	v:VALUE  an element of a list of scalars, a JSON value
//	i:INDEX  an element of a list by its position
//	.        the map or list itself; it says nothing of what is in it
//
// and its values are such sets again, of the type map[string]any. A set without keys is
// a whole field, with everything in it; nil is no field at all.
type Fields map[string]any

// order is the key for the order of a list's elements. The API server has no such key.
const order = "#"

// Entry identifies an entry of managedFields.
type Entry struct{ Manager, Operation, Subresource string }

// Managed returns the fields of the selected entries of an object's managedFields. The caller
// must not change the result, because it may be part of the object.
func Managed(object map[string]any, counts func(Entry) bool) Fields {
	metadata, _ := object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	var all Fields
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		fields, _ := entry["fieldsV1"].(map[string]any)
		manager, _ := entry["manager"].(string)
		operation, _ := entry["operation"].(string)
		subresource, _ := entry["subresource"].(string)
		if len(fields) > 0 && counts(Entry{manager, operation, subresource}) {
			all = Union(all, fields)
		}
	}
	return all
}

// At returns the set of the field at the path.
func At(path fieldpath.Path) (Fields, error) { return at(path, Fields{}) }

// OrderAt returns the set that names the order of the list at the path, and only the
// identifying fields of its elements.
func OrderAt(path fieldpath.Path) (Fields, error) {
	return at(path, Fields{order: map[string]any{}})
}

func at(path fieldpath.Path, fields Fields) (Fields, error) {
	for i := len(path) - 1; i >= 0; i-- {
		key, err := fieldpath.SerializePathElement(path[i])
		if err != nil {
			return nil, fmt.Errorf("write down the path %s: %w", path, err)
		}
		fields = Fields{key: map[string]any(fields)}
	}
	return fields, nil
}

// Union returns the fields that are in either set. It changes neither, and may share
// parts of both.
func Union(a, b Fields) Fields {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case len(a) == 0 || len(b) == 0:
		return Fields{}
	}
	all := maps.Clone(a)
	for key, fields := range b {
		if other, both := all[key]; both && key != "." && key != order {
			all[key] = map[string]any(Union(setOf(other), setOf(fields)))
		} else {
			all[key] = fields
		}
	}
	return all
}

// setOf returns a set inside another set, never nil.
func setOf(v any) Fields {
	if fields, ok := v.(map[string]any); ok && fields != nil {
		return fields
	}
	return Fields{}
}

// members are the elements of a list that a set names.
type members struct {
	keys    []key
	byKey   map[string]Fields // by the names of the key's fields, and their values
	scalars map[string]Fields // by the value
	places  map[int]Fields
	ordered bool // the set has the order of all elements
}

// key identifies an element by the values of some of its fields.
type key struct {
	values map[string]any
	fields Fields
}

func membersOf(fields Fields) members {
	m := members{byKey: map[string]Fields{}, scalars: map[string]Fields{}, places: map[int]Fields{}}
	for text, inner := range fields {
		form, rest, _ := strings.Cut(text, ":")
		switch form {
		case order:
			m.ordered = true
		case "i":
			var place int
			if json.Unmarshal([]byte(rest), &place) == nil {
				m.places[place] = setOf(inner)
			}
		case "v":
			if value, ok := decode(rest); ok {
				m.scalars[canonical(value)] = setOf(inner)
			}
		case "k":
			value, _ := decode(rest)
			if values, _ := value.(map[string]any); len(values) > 0 {
				k := key{values, setOf(inner)}
				m.keys = append(m.keys, k)
				m.byKey[canonical(values)] = k.fields
			}
		}
	}
	return m
}

// decode reads a JSON value, with numbers as they are written.
func decode(text string) (any, bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err == nil
}

// canonical returns a text for a value. Equal values have the same text, regardless of the Go types
// of their numbers.
func canonical(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// find returns the subset for the element at the place. names are the fields that identify the
// element.
func (m members) find(element any, place int) (fields Fields, names []string, found bool) {
	object, isObject := element.(map[string]any)
	if fields, found = m.places[place]; found {
		return fields, nil, true
	}
	if !isObject {
		fields, found = m.scalars[canonical(element)]
		return fields, nil, found
	}
	for _, shape := range m.shapes() {
		own := map[string]any{}
		for _, name := range shape {
			if value, has := object[name]; has {
				own[name] = value
			}
		}
		if len(own) < len(shape) { // a part of the key has its default
			if fields, found = m.findDefaulted(own); found {
				return fields, shape, true
			}
			continue
		}
		if fields, found = m.byKey[canonical(own)]; found {
			return fields, shape, true
		}
	}
	return nil, nil, false
}

// findDefaulted finds the first key whose given values are equal.
func (m members) findDefaulted(own map[string]any) (Fields, bool) {
	for _, k := range m.keys {
		same := len(own) > 0
		for name, value := range own {
			other, has := k.values[name]
			same = same && has && canonical(value) == canonical(other)
		}
		if same {
			return k.fields, true
		}
	}
	return nil, false
}

// shapes returns the names of the key fields. All elements of a list have the same names, unless
// the schema changed.
func (m members) shapes() [][]string {
	var shapes [][]string
	seen := map[string]bool{}
	for _, k := range m.keys {
		names := slices.Sorted(maps.Keys(k.values))
		if id := strings.Join(names, "\x00"); !seen[id] {
			seen[id] = true
			shapes = append(shapes, names)
		}
	}
	return shapes
}

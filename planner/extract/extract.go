package extract

import (
	"maps"
	"slices"
	"strings"
)

// Part has the fields that were taken from an object.
type Part struct {
	Values map[string]any `json:"values"`
	// Sensitive and Unknown have the shape of the object, and true in the places of masked and
	// of unknown values. Unknown values are missing among the values, or null in a list. A
	// list has false for its other elements. Terraform marks values in the same way.
	Sensitive map[string]any `json:"sensitive,omitempty"`
	Unknown   map[string]any `json:"unknown,omitempty"`
}

// Mask selects the values that Take replaces. A path consists of names of fields, with an
// empty name for an element of a list.
type Mask struct {
	Placeholder string // replaces a sensitive value
	Sensitive   func(path []string) bool
	Unknown     func(path []string, value any) bool
}

// Take returns the fields of the object that the set names. Lists keep the order of the
// object, and their elements keep their keys. The result shares no mutable value with the
// object.
func (m Mask) Take(object map[string]any, fields Fields) Part {
	p := Part{Values: map[string]any{}}
	if fields == nil {
		return p
	}
	t := m.take(object, fields, nil)
	p.Values, _ = t.value.(map[string]any)
	p.Sensitive, _ = t.sensitive.(map[string]any)
	p.Unknown, _ = t.unknown.(map[string]any)
	return p
}

// taken is a value with its marks. A mark is nil if nothing in the value is marked.
type taken struct{ value, sensitive, unknown any }

func (m Mask) take(value any, fields Fields, path []string) taken {
	var t taken
	if m.Sensitive(path) {
		t.value, t.sensitive = m.Placeholder, true
	}
	if m.Unknown(path, value) {
		t.value, t.unknown = nil, true
	}
	if t != (taken{}) {
		return t
	}
	switch value := value.(type) {
	case map[string]any:
		return m.takeMap(value, fields, path)
	case []any:
		return m.takeList(value, fields, path)
	}
	return taken{value: value}
}

func (m Mask) takeMap(object map[string]any, fields Fields, path []string) taken {
	values, sensitive, unknown := map[string]any{}, map[string]any{}, map[string]any{}
	put := func(name string, inner Fields) {
		value, has := object[name]
		if !has {
			return
		}
		t := m.take(value, inner, append(slices.Clip(path), name))
		if t.unknown != true {
			values[name] = t.value
		}
		if t.sensitive != nil {
			sensitive[name] = t.sensitive
		}
		if t.unknown != nil {
			unknown[name] = t.unknown
		}
	}
	if len(fields) == 0 {
		for name := range object {
			put(name, nil)
		}
	}
	for key, inner := range fields {
		if name, isField := strings.CutPrefix(key, "f:"); isField {
			put(name, setOf(inner))
		}
	}
	t := taken{value: values}
	if len(sensitive) > 0 {
		t.sensitive = sensitive
	}
	if len(unknown) > 0 {
		t.unknown = unknown
	}
	return t
}

func (m Mask) takeList(list []any, fields Fields, path []string) taken {
	values, sensitive, unknown := []any{}, []any{}, []any{}
	path = append(slices.Clip(path), "")
	put := func(t taken) {
		values = append(values, t.value)
		sensitive = append(sensitive, orFalse(t.sensitive))
		unknown = append(unknown, orFalse(t.unknown))
	}
	if len(fields) == 0 {
		for _, element := range list {
			put(m.take(element, nil, path))
		}
	} else {
		of := membersOf(fields)
		for place, element := range list {
			inner, names, found := of.find(element, place)
			switch {
			case found:
				put(m.take(element, withKeys(inner, names), path))
			case of.ordered:
				put(m.take(element, of.identity(element), path))
			}
		}
	}
	t := taken{value: values}
	if slices.ContainsFunc(sensitive, isMark) {
		t.sensitive = sensitive
	}
	if slices.ContainsFunc(unknown, isMark) {
		t.unknown = unknown
	}
	return t
}

func orFalse(mark any) any {
	if mark == nil {
		return false
	}
	return mark
}

func isMark(v any) bool { return v != false }

// withKeys adds the fields that identify an element. A whole element has them.
func withKeys(fields Fields, names []string) Fields {
	if len(fields) == 0 || len(names) == 0 {
		return fields
	}
	all := maps.Clone(fields)
	for _, name := range names {
		all["f:"+name] = map[string]any{}
	}
	return all
}

// identity returns the set of the fields that identify an element that the set of the list does not
// name: its keys, or the whole element if the list has no keys.
func (m members) identity(element any) Fields {
	names := Fields{}
	for _, shape := range m.shapes() {
		names = withKeys(Fields{".": map[string]any{}}, shape)
	}
	if _, isObject := element.(map[string]any); !isObject {
		return Fields{}
	}
	return names
}

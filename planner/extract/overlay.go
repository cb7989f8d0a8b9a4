package extract

import (
	"maps"
	"slices"
	"strings"
)

// Overlay returns base with the fields of top that the set names: changed, added or removed.
// It changes neither object. The result may share parts of both.
func Overlay(base, top map[string]any, fields Fields) map[string]any {
	if fields == nil {
		return base
	}
	out, _ := overlay(base, top, fields).(map[string]any)
	return out
}

func overlay(base, top any, fields Fields) any {
	if len(fields) == 0 {
		return top
	}
	switch base := base.(type) {
	case map[string]any:
		top, _ := top.(map[string]any)
		return overlayMap(base, top, fields)
	case []any:
		top, _ := top.([]any)
		return overlayList(base, top, fields)
	}
	return top
}

func overlayMap(base, top map[string]any, fields Fields) map[string]any {
	out := maps.Clone(base)
	for key, inner := range fields {
		name, isField := strings.CutPrefix(key, "f:")
		if !isField {
			continue
		}
		was, there := base[name]
		is, stays := top[name]
		switch {
		case len(setOf(inner)) > 0 && there:
			out[name] = overlay(was, is, setOf(inner))
		case stays:
			out[name] = is
		default:
			delete(out, name)
		}
	}
	return out
}

func overlayList(base, top []any, fields Fields) []any {
	of := membersOf(fields)
	var out []any
	for place, element := range base {
		inner, names, named := of.find(element, place)
		if !named {
			out = append(out, element)
			continue
		}
		at := slices.IndexFunc(top, func(other any) bool { return same(element, other, names) })
		switch {
		case len(inner) > 0 && at >= 0:
			out = append(out, overlay(element, top[at], inner))
		case len(inner) > 0:
			out = append(out, element)
		case at >= 0:
			out = append(out, top[at])
		}
	}
	for at, element := range top {
		_, names, named := of.find(element, at)
		if !named || slices.ContainsFunc(out, func(other any) bool { return same(element, other, names) }) {
			continue
		}
		place := 0 // after the same predecessor as in top
		for i, other := range out {
			if slices.ContainsFunc(top[:at], func(before any) bool { return same(before, other, names) }) {
				place = i + 1
			}
		}
		out = slices.Insert(out, place, element)
	}
	if of.ordered {
		of.arrange(out, top)
	}
	return out
}

// arrange sorts the elements that are in both lists into the order of the other list. All
// other elements keep their places.
func (m members) arrange(list, like []any) {
	var names []string
	for _, shape := range m.shapes() {
		names = shape
	}
	var places []int
	common := map[int]any{}
	for i, element := range list {
		if at := slices.IndexFunc(like, func(other any) bool { return same(element, other, names) }); at >= 0 {
			places = append(places, i)
			common[at] = element
		}
	}
	for i, at := range slices.Sorted(maps.Keys(common)) {
		list[places[i]] = common[at]
	}
}

// same reports whether two values are the same element of a list. It compares the identifying
// fields, or the whole values if there are none.
func same(a, b any, names []string) bool {
	x, isObject := a.(map[string]any)
	y, otherToo := b.(map[string]any)
	if !isObject || !otherToo || len(names) == 0 {
		return canonical(a) == canonical(b)
	}
	return !slices.ContainsFunc(names, func(name string) bool { return canonical(x[name]) != canonical(y[name]) })
}

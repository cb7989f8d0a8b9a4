package ini

import (
	"maps"
	"slices"
	"strings"
)

// Changed names what differs between two versions of an INI file, as
// "[section] key", in the order of the names; nil where one of them is not an INI
// file, or nothing but comments and layout differs.
func Changed(before, after string) []string {
	was, ok := settings(before)
	is, alsoOK := settings(after)
	if !ok || !alsoOK {
		return nil
	}
	names := map[string]bool{}
	for name, values := range was {
		names[name] = !slices.Equal(values, is[name])
	}
	for name, values := range is {
		names[name] = !slices.Equal(values, was[name])
	}
	maps.DeleteFunc(names, func(_ string, differs bool) bool { return !differs })
	return slices.Sorted(maps.Keys(names))
}

// settings reads an INI file as oslo.config does: a repeated key has several
// values, and an indented line goes on with the value above it.
func settings(text string) (values map[string][]string, ok bool) {
	values = map[string][]string{}
	section, key := "", ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "", trimmed[0] == '#', trimmed[0] == ';':
			continue
		case trimmed[0] == '[' && trimmed[len(trimmed)-1] == ']':
			section, key = trimmed, ""
			continue
		case (line[0] == ' ' || line[0] == '\t') && key != "":
			last := len(values[key]) - 1
			values[key][last] += "\n" + trimmed
			continue
		}
		name, value, found := strings.Cut(trimmed, "=")
		if !found || section == "" {
			return nil, false
		}
		key = section + " " + strings.TrimSpace(name)
		values[key] = append(values[key], strings.TrimSpace(value))
	}
	return values, true
}

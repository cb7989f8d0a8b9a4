package approval

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"kolla.openstack.org/kolla/planner/plans"
)

// differing returns the path of the first difference between two values of JSON, such as
// ".manifest.spec.replicas", and the values there. They are nil if there is no difference.
func differing(saved, fresh any) (path string, there, here any) {
	switch s := saved.(type) {
	case map[string]any:
		f, ok := fresh.(map[string]any)
		if !ok {
			break
		}
		all := maps.Clone(f)
		maps.Copy(all, s)
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if !reflect.DeepEqual(s[key], f[key]) {
				path, there, here = differing(s[key], f[key])
				return step(key) + path, there, here
			}
		}
		return "", nil, nil
	case []any:
		f, ok := fresh.([]any)
		if !ok || len(s) != len(f) {
			break
		}
		for i := range s {
			if !reflect.DeepEqual(s[i], f[i]) {
				path, there, here = differing(s[i], f[i])
				return fmt.Sprintf("[%d]", i) + path, there, here
			}
		}
		return "", nil, nil
	}
	return "", saved, fresh
}

// step returns a key as a step of a path. A key in the file may contain any text.
func step(key string) string {
	odd := func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	}
	if strings.ContainsFunc(key, odd) || key == "" {
		return fmt.Sprintf("[%q]", key)
	}
	return "." + key
}

// describe returns the field of an object that differs. If the field is in the manifest, the
// text includes both values.
func describe(path string, saved, fresh any) string {
	field, manifest := strings.CutPrefix(path, ".manifest.")
	if !manifest {
		return strings.TrimPrefix(path, ".")
	}
	at := differAt(saved, fresh)
	return fmt.Sprintf("%s%s (%s instead of %s)", field, at, at.show(saved), at.show(fresh))
}

// instead describes the changes of a field in two plans: "4 → 1 instead of 5 → 1". A nil change
// means that the plan does not change the field.
func instead(fresh, saved *plans.Change) string {
	var at *position
	if fresh != nil && saved != nil {
		at = first(differAt(saved.Before, fresh.Before), differAt(saved.After, fresh.After))
	}
	only := fresh
	if only == nil {
		only = saved
	}
	if at == nil {
		at = differAt(only.Before, only.After)
	}
	show := func(c *plans.Change) string {
		switch {
		case c == nil:
			return "no change"
		case c.Sensitive:
			return plans.Masked
		}
		return at.show(c.Before) + " → " + at.show(c.After)
	}
	return fmt.Sprintf("%s%s: %s instead of %s", only.Path, at, show(fresh), show(saved))
}

// position is a position in a text: the line and the character, from 0.
type position struct {
	line, column int
	several      bool // the text has several lines
}

// String returns the position for use after the name of a field: ", line 250".
func (p *position) String() string {
	if p == nil || !p.several {
		return ""
	}
	return fmt.Sprintf(", line %d", p.line+1)
}

// differAt returns the first position at which two values differ, or nil if they are equal.
func differAt(a, b any) *position {
	one, other := written(a), written(b)
	if one == other {
		return nil
	}
	lines, others := strings.Split(one, "\n"), strings.Split(other, "\n")
	p := &position{several: max(len(lines), len(others)) > 1}
	for p.line < min(len(lines), len(others)) && lines[p.line] == others[p.line] {
		p.line++
	}
	if p.line < min(len(lines), len(others)) {
		x, y := []rune(lines[p.line]), []rune(others[p.line])
		for p.column < min(len(x), len(y)) && x[p.column] == y[p.column] {
			p.column++
		}
	}
	return p
}

// first returns the earlier position. Either may be nil.
func first(a, b *position) *position {
	if a == nil || b != nil && (b.line < a.line || b.line == a.line && b.column < a.column) {
		return b
	}
	return a
}

// written returns a string unchanged, and any other value as JSON.
func written(v any) string {
	if text, ok := v.(string); ok || v == nil {
		return text
	}
	return asJSON(v)
}

// show returns the line of a value at the position, as JSON. It returns only 60 characters of a
// long line.
func (p *position) show(v any) string {
	const maxLength = 60
	if p == nil {
		p = &position{}
	}
	text, isText := v.(string)
	line := written(v)
	if isText {
		lines := strings.Split(text, "\n")
		if p.line >= len(lines) {
			return "nothing"
		}
		line = lines[p.line]
	}
	if v == nil {
		return "nothing"
	}
	if runes := []rune(line); len(runes) > maxLength+len("......") {
		start := min(max(p.column-maxLength/2, 0), len(runes)-maxLength)
		line = string(runes[start : start+maxLength])
		if start > 0 {
			line = "..." + line
		}
		if start+maxLength < len(runes) {
			line += "..."
		}
	}
	if isText {
		return asJSON(line)
	}
	return line
}

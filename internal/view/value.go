package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// blockLimit is how many lines of a structure are shown unless all is asked for.
const blockLimit = 24

// context is how many characters of what two long values have in common are shown
// on each side of what differs.
const context = 12

// formatValue shows a value of an object as JSON on one line.
func formatValue(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cut shortens a formatted value to at most width columns, taking out its middle
// and saying how long it was.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	runes := []rune(s)
	note := fmt.Sprintf("…(%d characters)…", len(runes))
	room := max(width-columns(note), 2*context)
	if room >= len(runes) {
		return s
	}
	// Wide characters take two columns: go on cutting until it fits.
	for ; room > 2*context; room-- {
		if short := middle(runes, room, note); columns(short) <= width {
			return short
		}
	}
	return middle(runes, room, note)
}

// middle keeps room runes of both ends.
func middle(runes []rune, room int, note string) string {
	head := (room + 1) / 2
	tail := room - head
	return string(runes[:head]) + note + string(runes[len(runes)-tail:])
}

// cutPair shortens two formatted values to at most width columns each, in such a
// way that what differs between them stays.
func cutPair(before, after string, width int) (string, string) {
	if columns(before) <= width && columns(after) <= width {
		return before, after
	}
	b, a := []rune(before), []rune(after)
	prefix := 0
	for prefix < len(a) && prefix < len(b) && a[prefix] == b[prefix] {
		prefix++
	}
	suffix := 0
	for suffix < len(a)-prefix && suffix < len(b)-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return cut(window(b, prefix, suffix)+size(b, width), width), cut(window(a, prefix, suffix)+size(a, width), width)
}

// size says how long a value is that does not fit into width columns.
func size(runes []rune, width int) string {
	if columns(string(runes)) <= width {
		return ""
	}
	return fmt.Sprintf(" (%d characters)", len(runes))
}

// window takes out all but the ends of the first prefix and the last suffix runes.
func window(runes []rune, prefix, suffix int) string {
	start, end := "", ""
	if prefix > 3*context {
		start = string(runes[:context]) + "…"
		runes = runes[prefix-context:]
	}
	if suffix > 3*context {
		end = "…" + string(runes[len(runes)-context:])
		runes = runes[:len(runes)-suffix+context]
	}
	return start + string(runes) + end
}

// cutList lists as many names as fit into width columns, but one at least, and how
// many more there are.
func cutList(names []string, width int) string {
	for n := len(names); n > 1; n-- {
		list := strings.Join(names[:n], ", ")
		if n < len(names) {
			list += fmt.Sprintf(" and %d more", len(names)-n)
		}
		if columns(list) <= width {
			return list
		}
	}
	if len(names) > 1 {
		return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
	}
	return strings.Join(names, "")
}

// block shows a structure that was added or removed as YAML, one field a line; nil
// for what is no structure.
func block(v any, full bool) []string {
	switch v.(type) {
	case map[string]any, []any:
	default:
		return nil
	}
	content, err := yaml.Marshal(v)
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	if full || len(lines) <= blockLimit+2 {
		return lines
	}
	rest := fmt.Sprintf("(%d more lines; -full shows them)", len(lines)-blockLimit)
	return append(lines[:blockLimit:blockLimit], rest)
}

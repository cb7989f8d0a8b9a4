package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/internal/words"
)

// blockLimit is how many lines of a structure are shown unless all is asked for.
const blockLimit = 24

// context is how many characters of what two long values have in common are shown
// on each side of what differs.
const context = 12

// formatValue shows a value of an object as JSON on one line.
func formatValue(v any) string {
	if words, ok := v.(literal); ok {
		return string(words)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cut shows a value in at most width columns, taking out its middle and saying how
// long it is.
func cut(v any, width int) string { return shorten(formatValue(v), length(v), width) }

// shorten takes the middle out of text that takes more than width columns; n is how
// long that is said to be.
func shorten(s string, n, width int) string {
	if screen.Columns(s) <= width {
		return s
	}
	runes := []rune(s)
	note := fmt.Sprintf("…(%d characters)…", n)
	room := max(width-screen.Columns(note), 2*context)
	if room >= len(runes) {
		return s
	}
	// Wide characters take two columns: go on cutting until it fits.
	for ; room > 2*context; room-- {
		if short := middle(runes, room, note); screen.Columns(short) <= width {
			return short
		}
	}
	return middle(runes, room, note)
}

// length is how many characters a value has: a string, those between the quotes.
func length(v any) int {
	if s, ok := v.(string); ok {
		return utf8.RuneCountInString(s)
	}
	return utf8.RuneCountInString(formatValue(v))
}

// middle keeps room runes of both ends.
func middle(runes []rune, room int, note string) string {
	head := (room + 1) / 2
	tail := room - head
	return string(runes[:head]) + note + string(runes[len(runes)-tail:])
}

// shortenPair shows two texts in at most width columns each, in such a way that what
// differs between them stays; m and n are how long the two are said to be.
func shortenPair(before, after string, m, n, width int) (string, string) {
	if screen.Columns(before) <= width && screen.Columns(after) <= width {
		return before, after
	}
	b, a := []rune(before), []rune(after)
	prefix, suffix := common(b, a)
	show := func(whole []rune, n int) string {
		return shorten(window(whole, prefix, suffix), n, width-screen.Columns(size(n))) + size(n)
	}
	return show(b, m), show(a, n)
}

// common is how many runes two texts begin and end with in common.
func common(b, a []rune) (prefix, suffix int) {
	for prefix < len(a) && prefix < len(b) && a[prefix] == b[prefix] {
		prefix++
	}
	for suffix < len(a)-prefix && suffix < len(b)-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return prefix, suffix
}

// size says how long a value is of which not all is shown.
func size(n int) string { return fmt.Sprintf(" (%d characters)", n) }

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
		if list := words.Few(names, n); screen.Columns(list) <= width {
			return list
		}
	}
	return words.Few(names, 1)
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

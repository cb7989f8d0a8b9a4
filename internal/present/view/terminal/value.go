package terminal

import (
	"fmt"
	"unicode/utf8"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// blockLimit is the number of lines of a structure without -full.
const blockLimit = 24

// context is the number of common characters that are shown on each side of the difference
// between two long values.
const context = 12

// shorten removes the middle of a text that is wider than width columns. n is the length
// that it states.
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
	return words.Shorter(middle(runes, room, note), s)
}

// length returns the number of characters of a value. The quotes of a string do not count.
func length(v any) int {
	if s, ok := v.(string); ok {
		return utf8.RuneCountInString(s)
	}
	return utf8.RuneCountInString(report.Value(v))
}

// middle keeps room characters of both ends together, with a note between them.
func middle(runes []rune, room int, note string) string {
	head := (room + 1) / 2
	tail := room - head
	return string(runes[:head]) + note + string(runes[len(runes)-tail:])
}

// shortenPair shortens two texts to width columns each, and keeps the difference between
// them. m and n are the lengths that it states.
func shortenPair(before, after string, m, n, width int) (string, string) {
	if screen.Columns(before) <= width && screen.Columns(after) <= width {
		return before, after
	}
	b, a := []rune(before), []rune(after)
	prefix, suffix := common(b, a)
	show := func(whole []rune, n int) string {
		if screen.Columns(string(whole)) <= width {
			return string(whole)
		}
		return words.Shorter(shorten(window(whole, prefix, suffix), n, width-screen.Columns(size(n)))+size(n), string(whole))
	}
	return show(b, m), show(a, n)
}

// common returns the number of characters of the common beginning and end of two texts.
func common(b, a []rune) (prefix, suffix int) {
	for prefix < len(a) && prefix < len(b) && a[prefix] == b[prefix] {
		prefix++
	}
	for suffix < len(a)-prefix && suffix < len(b)-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return prefix, suffix
}

// size states the length of a shortened value.
func size(n int) string { return fmt.Sprintf(" (%d characters)", n) }

// window shortens the first prefix and the last suffix characters of a text.
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

// cutList lists the names that have room in width columns, at least one, and counts the
// others.
func cutList(names []string, width int) string {
	for n := len(names); n > 1; n-- {
		if list := words.Few(names, n); screen.Columns(list) <= width {
			return list
		}
	}
	return words.Few(names, 1)
}

// block shows a structure as YAML, with one field on each line; nil for other values.
func block(v any, full bool) []string {
	lines := report.Structure(v)
	if full || len(lines) <= blockLimit+2 {
		return lines
	}
	rest := fmt.Sprintf("(%d more lines; -full shows them)", len(lines)-blockLimit)
	return append(lines[:blockLimit:blockLimit], rest)
}

// windows shorten the common beginning and end of two texts.
func windows(before, after string) (string, string) {
	b, a := []rune(before), []rune(after)
	prefix, suffix := common(b, a)
	return window(b, prefix, suffix), window(a, prefix, suffix)
}

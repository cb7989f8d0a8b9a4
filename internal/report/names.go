package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// starred puts a star in the place of names, where they are words of a text.
func Starred(text string, names ...string) string {
	for _, name := range names {
		text = starWord(text, name)
	}
	return text
}

func starWord(text, name string) string {
	if name == "" {
		return text
	}
	var out strings.Builder
	last := ' '
	for rest := text; rest != ""; {
		after, found := strings.CutPrefix(rest, name)
		next, _ := utf8.DecodeRuneInString(after)
		if found && !inWord(last) && (after == "" || !inWord(next)) {
			out.WriteByte('*')
			last, rest = '*', after
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		out.WriteString(rest[:size])
		last, rest = r, rest[size:]
	}
	return out.String()
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

package words

import (
	"strings"
	"unicode"
)

// Option returns an option with its value, quoted for a shell.
func Option(name, value string) string { return name + "=" + Quote(value) }

// Quote returns a word, quoted for a shell if necessary.
func Quote(word string) string {
	if !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// special reports whether a shell may interpret a character.
func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:=@%+,", r)
}

package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON writes a value as JSON and a line break. Hidden characters and commands of CI systems
// are escaped; a program that parses the JSON reads the original strings. Each nested level
// is indented by indent; with an empty indent the JSON is one line.
func JSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(indent == "") // people read indented JSON too
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	if _, err := w.Write(escapedJSON(b.Bytes())); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// escapedJSON escapes hidden characters and CI commands in JSON. They can only occur in
// strings, except for line breaks, which it keeps.
func escapedJSON(source []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(source))
	for len(source) > 0 {
		r, size := utf8.DecodeRune(source)
		switch {
		case r == '\n' || !Hidden(r):
			b.Write(source[:size])
		default:
			b.WriteString(escapedRune(r))
		}
		source = source[size:]
	}
	out := b.Bytes()
	if bytes.Contains(out, []byte("##")) {
		out = command.ReplaceAll(out, []byte(`#\u0023$1[`))
	}
	return out
}

// escapedRune returns a character in the escaped form of JSON.
func escapedRune(r rune) string {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

package redaction

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// form is a text by which a value, or a part of one, is recognized.
type form struct {
	text string
	// minLength is the minimum length of a piece that counts anywhere; 0: none does.
	minLength int
	word      bool // it only counts as a whole word
	// sensitive: it is of a value that was declared to be secret.
	sensitive bool
	// before and after are the numbers of characters beside the text that also depend on the value:
	// groups of base64 do not begin and end together with the value.
	before, after int
}

const (
	unmistakable = 8  // length of a text that counts anywhere, also within a word
	longPiece    = 12 // of a text with blanks, or a line of a file
	cutPiece     = 5  // where the text was cut off
	huge         = 64 << 10
)

// partsOf returns the parts of a value that reveal it, as plain text: the value itself, the lines
// of a file, the values of JSON, and passwords in lines and URLs. A huge value counts only as a
// whole, in addition to its passwords.
func partsOf(value string) []form {
	trimmed := strings.TrimSpace(value)
	if match := pem.FindStringSubmatch(trimmed); match != nil {
		value = match[1]
		trimmed = strings.TrimSpace(value)
	}
	if len(trimmed) < shortest || trimmed == "true" || trimmed == "false" || trimmed == "null" {
		return nil
	}
	var parts []form
	if trimmed != value {
		parts = append(parts, form{text: value, word: len(value) < unmistakable}) // its base64 has another end
	}
	if leaves, ok := leavesOf(trimmed); ok {
		whole := form{text: trimmed, word: len(trimmed) < unmistakable} // without pieces, because its names are not secret
		return append(append(parts, whole), leaves...)
	}
	parts = append(parts, word(trimmed))
	isFile := strings.Contains(trimmed, "\n") && len(trimmed) <= huge
	isList := !strings.ContainsAny(trimmed, notInKeys)
	for line := range strings.Lines(trimmed) {
		line = strings.TrimSpace(line)
		parts = append(parts, passwordsIn(line)...)
		switch {
		case !isFile || ordinary.MatchString(line):
		case len(line) >= unmistakable:
			parts = append(parts, form{text: line, minLength: minLinePiece(line)})
		case isList:
			parts = append(parts, word(line))
		}
	}
	return parts
}

// word returns a part that is recognized as a whole, and in pieces if it is long enough.
func word(text string) form {
	return form{text: text, minLength: minPiece(text), word: len(text) < unmistakable}
}

// pem matches a key between its BEGIN and END lines, which are the same for all keys.
var pem = regexp.MustCompile(`(?s)^-----[^\n]*-----\r?\n(.*\S.*)\n-----[^\n]*-----$`)

// ordinary matches lines that reveal nothing: comments, sections, marks, rules and keys of YAML.
var ordinary = regexp.MustCompile(`^(?:[#;\[].*|-----.*-----|[-=*_~+ ]+|(?:- )?["']?[A-Za-z_./-]+["']?:(?: *[|>{\[][+-]?)?)$`)

// notInKeys are characters that do not occur in a line of a key or of a list of passwords.
const notInKeys = " \t:={}"

// minPiece returns the minimum length of a piece that counts. Texts with blanks consist of words
// that others use too, and URLs consist of public names, so their short pieces do not count.
func minPiece(text string) int {
	switch {
	case strings.Contains(text, "://"), strings.Contains(text, "\n"), len(text) < 7, len(text) > huge:
		return 0
	case strings.ContainsAny(text, " \t"):
		return longPiece
	}
	return min(max(len(text)/2, 6), unmistakable)
}

// minLinePiece is minPiece for a line of a file. Only lines without blanks and signs, such as
// those of a key, count in pieces.
func minLinePiece(line string) int {
	if strings.ContainsAny(line, notInKeys) {
		return 0
	}
	return longPiece
}

// leavesOf returns the parts of the strings in a JSON text, and the passwords that these encode in
// base64.
func leavesOf(text string) (leaves []form, ok bool) {
	if len(text) > huge || !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return nil, false
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var document any
	if !json.Valid([]byte(text)) || decoder.Decode(&document) != nil {
		return nil, false
	}
	if list, isList := document.([]any); isList {
		for _, item := range list {
			if password, isString := item.(string); isString {
				leaves = append(leaves, word(password))
			}
		}
	}
	return appendLeaves(leaves, document, false), true
}

// appendLeaves appends the leaves of a value. If no name above a string looks like a secret's,
// short strings do not count, and only long pieces of the others do.
func appendLeaves(leaves []form, value any, secret bool) []form {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			leaves = appendLeaves(leaves, inner, secret || isSecret(name))
		}
	case []any:
		for _, inner := range value {
			leaves = appendLeaves(leaves, inner, secret)
		}
	case json.Number:
		if secret {
			leaves = append(leaves, word(value.String()))
		}
	case string:
		if len(value) < unmistakable && !secret {
			break
		}
		for _, part := range partsOf(value) {
			if part.minLength > 0 && !secret {
				part.minLength = longPiece
			}
			leaves = append(leaves, part)
		}
		plain, err := base64.StdEncoding.DecodeString(value)
		if _, password, isPair := strings.Cut(string(plain), ":"); err == nil && isPair && utf8.Valid(plain) {
			leaves = append(leaves, word(password))
		}
	}
	return leaves
}

// spellings returns a part in all forms in which programs quote it.
func spellings(part form) []form {
	text := part.text
	if len(text) < shortest {
		return nil
	}
	all := append([]form{part}, encodings(part)...)
	if len(text) > huge {
		return all
	}
	quoted, plainer := inJSON(text, true), inJSON(text, false)
	for _, other := range []string{
		quoted, inJSON(quoted, true), plainer, inJSON(plainer, false), unquoted(strconv.Quote(text)), unquoted(strconv.QuoteToASCII(text)), url.QueryEscape(text), url.PathEscape(text),
		url.UserPassword("", text).String()[1:], html.EscapeString(text), strings.ReplaceAll(text, "'", "''"), strings.ReplaceAll(text, `'`, `'\''`),
		strings.ReplaceAll(text, "%", "%%"), strings.ReplaceAll(text, "$", "$$"),
	} {
		if other != text {
			all = append(all, form{text: other, minLength: part.minLength, word: part.word})
		}
	}
	return all
}

func unquoted(text string) string { return text[1 : len(text)-1] }

// inJSON returns a text as a JSON string, without the quotes. Go escapes the HTML characters in it,
// other programs do not.
func inJSON(text string, likeGo bool) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(likeGo)
	if err := encoder.Encode(text); err != nil {
		panic(err) // a string always encodes
	}
	return b.String()[1 : b.Len()-2] // between quotes, before a line break
}

// encodings returns a part in hexadecimal and in base64. Base64 depends on the offset of the part
// in a longer text, so it has three forms.
func encodings(part form) []form {
	text := part.text
	minLength := unmistakable
	switch {
	case len(text) > huge:
		minLength = 0
	case part.minLength > 0:
		minLength = part.minLength * 4 / 3
	case len(text) >= 2*unmistakable:
		minLength = 2 * unmistakable
	}
	var all []form
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for offset := range 3 {
			if offset > 0 && len(text) > huge {
				continue
			}
			encoded := encoding.EncodeToString([]byte(strings.Repeat("\x00", offset) + text))
			before := []int{0, 2, 3}[offset]
			after := 0
			if (offset+len(text))%3 != 0 {
				after = 1
			}
			if len(encoded)-before-after < 5 {
				continue
			}
			all = append(all, form{text: encoded[before : len(encoded)-after], minLength: minLength, before: before, after: after})
		}
	}
	if len(text) <= huge {
		plain := hex.EncodeToString([]byte(text))
		all = append(all, form{text: plain, minLength: 2 * unmistakable}, form{text: strings.ToUpper(plain), minLength: 2 * unmistakable})
	}
	return all
}

package yaml

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode"

	"github.com/hashicorp/hcl/v2"
)

// split cuts a text where kubectl does: at lines that begin with --- and that a comment may
// follow. A separator without a piece before it, or after JSON objects, belongs to the next piece.
// split also cuts where a document begins on the line of its separator, as YAML permits.
// Directives belong to the document after them.
func split(source []byte) (out []Document, wrong []*Error) {
	at, from := hcl.InitialPos, hcl.InitialPos
	prefix := hcl.InitialPos // the start of the lines before the next document
	inPrefix, directives := true, false
	cut := func(to, next hcl.Pos) {
		out = append(out, Document{Text: source[from.Byte:to.Byte], from: from})
		from, inPrefix, directives = next, false, false
	}
	for line := range bytes.Lines(source) {
		next := advance(at, line)
		content, isSeparator := separator(line)
		trimmed := bytes.TrimSpace(line)
		switch {
		case isSeparator && directives:
			cut(prefix, prefix)
		case isSeparator && (content || from == at || len(out) == 0 && Document{Text: source[:at.Byte]}.stream() != nil):
			cut(at, at)
		case isSeparator:
			if bytes.ContainsAny(trimmed, lineEnds) {
				wrong = append(wrong, Document{Text: line, from: at}.wrong(2, ignored))
			}
			cut(at, next)
		case endsDocument(line):
			prefix, inPrefix, directives = next, true, false
		case inPrefix && bytes.HasPrefix(line, []byte("%")):
			directives = true
		case len(trimmed) > 0 && trimmed[0] != '#':
			inPrefix, directives = false, false
		}
		at = next
	}
	cut(at, at)
	return out, wrong
}

// lineEnds are the characters that end a line in YAML.
const lineEnds = "\r\n\u0085\u2028\u2029"

// separator reports whether a line separates documents, and whether the next document begins on
// it. For kubectl, a comment may follow without a space.
func separator(line []byte) (content, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	if !ok {
		return false, false
	}
	if trimmed := bytes.TrimSpace(rest); len(trimmed) == 0 || trimmed[0] == '#' {
		return false, true
	}
	return true, rest[0] == ' ' || rest[0] == '\t'
}

// endsDocument reports whether a line is the mark of YAML for the end of a document.
func endsDocument(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("..."))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// stream returns the JSON objects of a piece that has nothing else; nil: it has something else. It
// stops after maxDocuments.
func (d Document) stream() []Document {
	if !bytes.HasPrefix(bytes.TrimLeftFunc(d.Text, unicode.IsSpace), []byte("{")) {
		return nil
	}
	var out []Document
	values := json.NewDecoder(bytes.NewReader(d.Text))
	at, read := d.from, 0
	for len(out) <= maxDocuments {
		var raw json.RawMessage
		if err := values.Decode(&raw); err == io.EOF {
			return out
		} else if err != nil {
			return nil
		}
		end := int(values.InputOffset())
		start := end - len(raw)
		at, read = advance(at, d.Text[read:start]), start
		one := Document{Text: d.Text[start:end], from: at, json: true}
		one.root = nodes(one.Text)
		one.Line = one.line(1)
		out = append(out, one)
	}
	return out
}

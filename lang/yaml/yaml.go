// Package yaml reads texts with several documents as kubectl does: in YAML, or as a stream of
// JSON objects. Documents splits a text, and [Document.Decode] decodes one document. A text that
// kubectl would ignore, because it reads one document between two separators, is an error.
// Errors are written for users, include the line, and never quote a value: it may be a secret.
package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	yaml2 "go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"

	"kolla.openstack.org/kolla/internal/base/parallel"
)

// Document is one document of a text.
type Document struct {
	Text []byte
	Line hcl.Range // the first line of its content, without the name of the file

	from hcl.Pos     // the start of Text
	root *yaml3.Node // the values with their lines; nil if they are not known, and after Compact
	json bool
}

// Error is a mistake in a text.
type Error struct {
	Range   hcl.Range // the line, without the name of the file
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Range.Start.Line, e.Message) }

// maxDocuments is the number of documents in a text. Each takes some kilobytes.
const maxDocuments = 50_000

const tooMany = "the text has more than %d documents: split it"

// Documents splits a text into its documents. It leaves out empty documents and documents
// with only comments. It reports all mistakes that lose a document, and returns the remaining
// documents.
func Documents(source []byte) ([]Document, []*Error) {
	if err := checkEncoding(source); err != nil {
		return nil, []*Error{err}
	}
	pieces, wrong := split(source)
	whole := Document{Text: source, from: hcl.InitialPos}
	if len(pieces) > maxDocuments+1 { // nothing may be before the first separator
		return nil, []*Error{whole.wrong(1, tooMany, maxDocuments)}
	}
	documents := make([][]Document, len(pieces))
	mistakes := make([]*Error, len(pieces))
	parallel.Each(len(pieces), func(i int) { documents[i], mistakes[i] = pieces[i].documents(i == 0) })
	for _, err := range mistakes {
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	return slices.Concat(documents...), wrong
}

// checkEncoding reports a text that is not UTF-8. kubectl finds no separators in UTF-16, and so
// would read one document.
func checkEncoding(source []byte) *Error {
	whole := Document{Text: source, from: hcl.InitialPos}
	if bytes.HasPrefix(source, []byte("\xff\xfe")) || bytes.HasPrefix(source, []byte("\xfe\xff")) {
		return whole.wrong(1, "the text is in UTF-16 or UTF-32: save it in UTF-8")
	}
	for at := 0; at < len(source); {
		r, size := utf8.DecodeRune(source[at:])
		if r == utf8.RuneError && size <= 1 {
			return whole.wrong(1+bytes.Count(source[:at], []byte("\n")), "the line is not in UTF-8: save the text in UTF-8")
		}
		at += size
	}
	return nil
}

// documents reads a piece to its end. A stream of JSON objects has several documents, which
// kubectl reads in the first piece only. Any other piece has at most one.
func (d Document) documents(first bool) ([]Document, *Error) {
	stream := d.stream()
	if len(stream) > maxDocuments {
		return nil, d.wrong(1, tooMany, maxDocuments)
	}
	if len(stream) == 1 || len(stream) > 1 && first {
		return stream, nil
	}
	if bytes.HasPrefix(d.Text, []byte("\ufeff\ufeff")) { // the parser would lose characters
		return nil, d.wrong(1, "the text begins with two byte-order marks: remove them")
	}
	nodes := yaml3.NewDecoder(bytes.NewReader(d.Text))
	var root yaml3.Node
	failed := nodes.Decode(&root)
	if errors.Is(failed, io.EOF) {
		return nil, nil
	}
	if failed == nil {
		d.root = &root
	}
	var err *Error
	if !d.isOneMap() {
		err = d.checkEnd(nodes)
	}
	if d.root != nil {
		value := root.Content[0]
		if value.Kind == yaml3.ScalarNode && value.Value == "" && value.ShortTag() == "!!null" {
			return nil, err
		}
		d.Line = d.line(value.Line)
	}
	return []Document{d}, err
}

// documentMark matches a mark, or a directive, that may begin or end a document.
var documentMark = regexp.MustCompile(`[` + lineEnds + `]\x{feff}?(?:---|\.\.\.|%)`)

// isOneMap reports whether a piece is a map that begins at the left margin. Only a mark can end such a
// map before the end of the text, so that nothing can follow it.
func (d Document) isOneMap() bool {
	if d.root == nil {
		return false
	}
	value := d.root.Content[0]
	return value.Kind == yaml3.MappingNode && value.Style&yaml3.FlowStyle == 0 && value.Column == 1 && !documentMark.Match(d.Text)
}

// ignored is the mistake of a text that is no part of the documents that kubectl reads.
const ignored = "this text would be lost, because one document is read up to the next separator: put a line --- before it, and end all lines with a line feed"

// skipped is a document that is parsed, and not decoded.
type skipped struct{}

func (*skipped) UnmarshalYAML(func(any) error) error { return nil }

// checkEnd reports text after the first document of a piece. The parser that kubectl has decides.
// nodes has read the first document, and knows the line of the next one.
func (d Document) checkEnd(nodes *yaml3.Decoder) *Error {
	parser := yaml2.NewDecoder(bytes.NewReader(d.Text))
	if parser.Decode(new(skipped)) != nil {
		return nil // Decode reports it
	}
	err := parser.Decode(new(skipped))
	if errors.Is(err, io.EOF) {
		return nil
	}
	var line int
	if err != nil {
		line, _ = explain(err)
	} else {
		var next yaml3.Node
		if err := nodes.Decode(&next); err != nil {
			line, _ = explain(err)
		} else {
			line = next.Line
		}
	}
	return d.wrong(line, ignored)
}

// wrong returns an error at the n-th line of the document.
func (d Document) wrong(n int, format string, args ...any) *Error {
	return &Error{Range: d.line(n), Message: fmt.Sprintf(format, args...)}
}

// line returns the n-th line of the document, or the last one.
func (d Document) line(n int) hcl.Range {
	lines := d.lines()
	return lines[min(max(n, 1), len(lines))-1]
}

// lines returns the lines of the document as the parser counts: further characters than a line feed
// end a line. It leaves out empty lines at the end.
func (d Document) lines() []hcl.Range {
	text := bytes.TrimRight(d.Text, " \t\r\n")
	at := d.from
	var out []hcl.Range
	for {
		end, size := lineBreak(text)
		to := advance(at, text[:end])
		out = append(out, hcl.Range{Start: at, End: to})
		if size == 0 {
			return out
		}
		at = advance(to, text[end:end+size])
		text = text[end+size:]
	}
}

// lineBreak returns where the first line of a text ends, and the length of the line break; 0: the
// text is one line.
func lineBreak(text []byte) (end, size int) {
	end = bytes.IndexAny(text, lineEnds)
	if end < 0 {
		return len(text), 0
	}
	if bytes.HasPrefix(text[end:], []byte("\r\n")) {
		return end, 2
	}
	_, size = utf8.DecodeRune(text[end:])
	return end, size
}

// advance returns the position after a text that begins at a position.
func advance(at hcl.Pos, text []byte) hcl.Pos {
	if last := bytes.LastIndexByte(text, '\n'); last >= 0 {
		at.Line += bytes.Count(text, []byte("\n"))
		at.Column = 1
		at.Byte += last + 1
		text = text[last+1:]
	}
	at.Column += utf8.RuneCount(text)
	at.Byte += len(text)
	return at
}

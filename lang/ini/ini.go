// Package ini reads config files of services: INI files in the dialect of oslo.config, and
// properties files. Each value keeps its place in the file. The package reports templates that
// kolla-ansible would have filled in.
package ini

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

var (
	// jinja matches templates that kolla-ansible fills in when it reads an override.
	jinja = regexp.MustCompile(`\{\{.*?\}\}|\{%.*?%\}`)
	// jinjaInText is stricter, because templates that a service itself fills in look similar.
	jinjaInText = regexp.MustCompile(`\{\{-?\s*[a-z]\w*(_\w+|\.\w+|\s*\|\s*\w+)[^{}]*\}\}|\{%-?\s*(if|elif|else|endif|for|endfor|set|include|raw|endraw|import)\b.*?%\}`)
)

// Assignment is one key of an INI or properties file with all its values. Each occurrence of
// the key in the file adds a value.
type Assignment struct {
	Section string // empty in a properties file
	Key     string
	Values  []string
	Range   hcl.Range // from the start of the first value to the end of the last one
	Name    hcl.Range // of the first key
	Header  hcl.Range // of the name of the section, before the first key
}

// reader reads a file line by line.
type reader struct {
	diags    hcl.Diagnostics
	name     string
	sections bool
	section  string
	at       hcl.Range   // of the section's name
	open     *Assignment // an indented line continues its last value
	index    map[[2]string]*Assignment
	out      []*Assignment
}

// sourceLine is one line without trailing space.
type sourceLine struct {
	text string
	pos  hcl.Pos
}

// Read reads a file in the dialect of oslo.config: sections, KEY = VALUE or KEY: VALUE, and
// comments in lines that start with # or ;. A repeated key has several values. An indented line
// is one more line of the value above it. Nothing is interpolated, and quotes are part of the
// value: the service that reads the file interprets them. Without sections, the file is a
// properties file: each line is KEY = VALUE, and indentation has no meaning.
func Read(name string, source []byte, sections bool) ([]*Assignment, hcl.Diagnostics) {
	in := &reader{name: name, sections: sections, index: map[[2]string]*Assignment{}}
	if !utf8.Valid(source) {
		in.error(hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}, "Unreadable config file", "The file is not UTF-8 text.")
		return nil, in.diags
	}
	offset := 0
	if rest, found := bytes.CutPrefix(source, []byte("\ufeff")); found {
		offset = len(source) - len(rest)
	}
	number := 0
	for line := range strings.Lines(string(source[offset:])) {
		number++
		in.line(sourceLine{strings.TrimRightFunc(line, unicode.IsSpace), hcl.Pos{Line: number, Column: 1, Byte: offset}})
		offset += len(line)
	}
	return in.out, in.diags
}

func (in *reader) error(subject hcl.Range, summary, detail string) {
	in.diags = append(in.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &subject})
}

// within returns the range of a part of the line, from byte offsets.
func (l sourceLine) within(file string, from, to int) hcl.Range {
	at := func(offset int) hcl.Pos {
		return hcl.Pos{Line: l.pos.Line, Column: l.pos.Column + characters(l.text[:offset]), Byte: l.pos.Byte + offset}
	}
	return hcl.Range{Filename: file, Start: at(from), End: at(to)}
}

// characters returns the number of columns of a text, as HCL counts them.
func characters(text string) int {
	whole := func(data []byte, _ bool) (int, []byte, error) { return len(data), data, nil }
	scanner := hcl.NewRangeScanner([]byte(text), "", whole)
	if text == "" || !scanner.Scan() {
		return 0
	}
	return scanner.Range().End.Column - 1
}

func (in *reader) line(l sourceLine) {
	start := len(l.text) - len(strings.TrimLeftFunc(l.text, unicode.IsSpace))
	indented := in.sections && start > 0 && strings.ContainsAny(l.text[:1], " \t")
	if !in.sections {
		l.text, l.pos.Byte, l.pos.Column = l.text[start:], l.pos.Byte+start, l.pos.Column+characters(l.text[:start])
		start = 0
	}
	switch {
	case l.text == "":
		in.open = nil
	case !indented && strings.ContainsAny(l.text[:1], "#;"):
		in.open = nil
	case in.templated(l) || in.garbled(l):
		// The problem is reported, and the line is skipped.
	case indented && in.open == nil:
		in.error(l.within(in.name, start, len(l.text)), "Indented line without a value",
			"An indented line goes on with the value above it, and there is none. Take the indentation away.")
	case indented:
		last := len(in.open.Values) - 1
		in.open.Values[last] += "\n    " + l.text[start:]
		in.open.Range.End = l.within(in.name, start, len(l.text)).End
	case l.text[0] == '[':
		in.open = nil
		in.header(l)
	default:
		in.open = nil
		in.assign(l)
	}
}

// header begins a section.
func (in *reader) header(l sourceLine) {
	whole := l.within(in.name, 0, len(l.text))
	switch {
	case !in.sections:
		in.error(whole, "Section where there are none", "This file has no sections: write KEY = VALUE.")
	case !strings.HasSuffix(l.text, "]"):
		in.error(whole, "Unfinished section", "The name of a section ends with ], and nothing follows it: [NAME].")
	case strings.TrimSpace(l.text[1:len(l.text)-1]) == "":
		in.error(whole, "Section without a name", "The name stands between the brackets: [NAME].")
	default:
		in.section = l.text[1 : len(l.text)-1]
		in.at = l.within(in.name, 1, len(l.text)-1)
	}
}

// assign adds a value from a line KEY = VALUE.
func (in *reader) assign(l sourceLine) {
	separators := "="
	if in.sections {
		separators = "=:"
	}
	whole := l.within(in.name, 0, len(l.text))
	split := strings.IndexAny(l.text, separators)
	if split < 0 {
		in.error(whole, "Unreadable line", "A line is KEY = VALUE, [SECTION], a comment that starts with #, or indented to go on with the value above it.")
		return
	}
	key, value := strings.TrimSpace(l.text[:split]), strings.TrimSpace(l.text[split+1:])
	switch {
	case key == "":
		in.error(whole, "Value without a key", "A line is KEY = VALUE.")
		return
	case in.sections && in.section == "":
		in.error(whole, "Value outside of a section", "Each value stands in a section. Write [DEFAULT] above it, if that is what is meant.")
		return
	}
	at := l.within(in.name, len(l.text)-len(value), len(l.text))
	start := strings.Index(l.text, key)
	a := in.index[[2]string{in.section, key}]
	if a == nil {
		a = &Assignment{
			Section: in.section, Key: key, Range: at,
			Name: l.within(in.name, start, start+len(key)), Header: in.at,
		}
		in.index[[2]string{in.section, key}] = a
		in.out = append(in.out, a)
	}
	a.Values, a.Range.End = append(a.Values, value), at.End
	in.open = a
}

// garbled reports control characters that some readers treat as the end of a line.
func (in *reader) garbled(l sourceLine) bool {
	i := strings.IndexFunc(l.text, func(r rune) bool {
		return r != '\t' && unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	})
	if i < 0 {
		return false
	}
	_, size := utf8.DecodeRuneInString(l.text[i:])
	in.error(l.within(in.name, i, i+size), "Unsuitable character", "There is a control character in the line. Take it out.")
	return true
}

// templated reports a template that kolla-ansible would have filled in.
func (in *reader) templated(l sourceLine) bool {
	found := jinja.FindStringIndex(l.text)
	if found == nil {
		return false
	}
	in.error(l.within(in.name, found[0], found[1]), "Template in an override",
		"kolla reads the file as it is, and fills in nothing. Write the value itself; or take the line out, and set the key in a config block of the service or of the cloud's defaults, where there are expressions.")
	return true
}

// Template returns the range of the first template in a file, of any format, that kolla-ansible
// would have filled in.
func Template(name string, source []byte) (at hcl.Range, found bool) {
	number := 0
	offset := 0
	for line := range strings.Lines(string(source)) {
		number++
		if template := jinjaInText.FindStringIndex(line); template != nil {
			l := sourceLine{line, hcl.Pos{Line: number, Column: 1, Byte: offset}}
			return l.within(name, template[0], template[1]), true
		}
		offset += len(line)
	}
	return at, false
}

package html

import (
	"fmt"
	"strings"
	"unicode"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/textdiff"
)

// part is the change of a field or of a file.
type part struct {
	Name, Note string
	File       bool
	Rows       []row
}

// row is a part of a comparison: a heading, an unchanged line, or lines that replace others.
type row struct {
	Heading, Same string
	Old, New      []line
}

// Sides reports whether a row has lines on both sides.
func (r row) Sides() bool { return len(r.Old) > 0 && len(r.New) > 0 }

// line is a line on one side. Differs is the part that the line on the other side does not have. If
// it is empty, the whole line is in Head.
type line struct{ Head, Differs, Tail string }

const (
	factWidth = 100  // of lines about a new object, and of values that stay on one line
	long      = 180  // characters of a text that does not differ, without Full
	maxValue  = 2000 // bytes of a value without Full
	maxLines  = 200  // lines of a value without Full
)

// parts returns the changes of an object.
func parts(object *report.Object, o Options) []part {
	prefix := object.Prefix()
	if o.Full {
		prefix = ""
	}
	var out []part
	for _, f := range report.Divide(object.Fields(), factWidth) {
		p := part{Name: f.Path, Note: strings.TrimPrefix(f.Note, "# "), File: f.Lines}
		switch {
		case f.Lines:
			p.Name, p.Rows = f.FileName(), rows(f.Diff(), o)
		default:
			if f.File != "" {
				p.Name = f.File
			}
			p.Rows = values(f, object.Opaque(), o)
		}
		p.Name = strings.TrimPrefix(p.Name, prefix)
		out = append(out, p)
	}
	return out
}

// rows puts the lines of a comparison into rows.
func rows(lines []textdiff.Line, o Options) []row {
	var out []row
	open := false // the last row takes more lines
	for _, l := range lines {
		switch l.Kind {
		case textdiff.Heading:
			out, open = append(out, row{Heading: strings.Trim(l.Text, " @")}), false
			continue
		case textdiff.Same:
			out, open = append(out, row{Same: line{Head: l.Text}.shorten(o).Head}), false
			continue
		}
		if !open || l.Kind == textdiff.Removed && len(out[len(out)-1].New) > 0 {
			out, open = append(out, row{}), true
		}
		last := &out[len(out)-1]
		said := line{Head: l.Text}
		if l.Paired {
			said = compared(l.Text, l.Other)
		}
		said = said.shorten(o)
		if l.Kind == textdiff.Removed {
			last.Old = append(last.Old, said)
		} else {
			last.New = append(last.New, said)
		}
	}
	return out
}

// compared finds the words of a text that another text does not have. Texts that have little
// in common are not divided.
func compared(text, other string) line {
	a, b := []rune(text), []rune(other)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	least, inner, outer := max(len(a), len(b))/3, head, tail
	for head > 0 && wordly(a[head-1]) && (head < len(a) && wordly(a[head]) || head < len(b) && wordly(b[head])) {
		head--
	}
	for tail > 0 && wordly(a[len(a)-tail]) && (tail < len(a) && wordly(a[len(a)-tail-1]) || tail < len(b) && wordly(b[len(b)-tail-1])) {
		tail--
	}
	switch {
	case head+tail > least:
	case len(a) > long && inner+outer > least: // a long word
		head, tail = inner, outer
	default:
		return line{Head: text}
	}
	return line{string(a[:head]), string(a[head : len(a)-tail]), string(a[len(a)-tail:])}
}

// shorten shortens the parts of a line that do not differ, and very long differences.
func (l line) shorten(o Options) line {
	if o.Full {
		return l
	}
	if l.Differs != "" || l.Tail != "" {
		l.Head, l.Tail = middle(l.Head), middle(l.Tail)
	}
	l.Head, l.Differs = beginning(l.Head), beginning(l.Differs)
	return l
}

// middle leaves out the middle of a long text.
func middle(s string) string {
	runes := []rune(s)
	if len(runes) <= long {
		return s
	}
	return fmt.Sprintf("%s … %s", string(runes[:long/3]), string(runes[len(runes)-long/3:]))
}

// beginning leaves out the end of a very long text.
func beginning(s string) string {
	if len(s) <= maxValue {
		return s
	}
	return words.Shorter(fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:maxValue], ""), len(s)), s)
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// values returns the rows of a field that is no text of several lines on both sides.
func values(f report.Field, opaque bool, o Options) []row {
	if f.Sensitive {
		f.Before, f.After = report.Masked, report.Masked
		switch f.Sign {
		case report.Add:
			f.Before = nil
		case report.Remove, report.Given:
			f.After = nil
		}
	}
	if f.Before == nil && f.After == nil {
		f.After = report.Unknown
	}
	before, after := side(f.Before, opaque, o), side(f.After, opaque, o)
	switch {
	case f.Sign == report.Given:
		return []row{{Same: strings.Join(append(before, after...), "\n")}}
	case len(before) > 1 && len(after) > 1:
		return rows(textdiff.Of(strings.Join(before, "\n")+"\n", strings.Join(after, "\n")+"\n"), o)
	}
	var r row
	if len(before) == 1 && len(after) == 1 {
		return []row{{Old: []line{compared(before[0], after[0]).shorten(o)}, New: []line{compared(after[0], before[0]).shorten(o)}}}
	}
	for _, text := range before {
		r.Old = append(r.Old, line{Head: text}.shorten(o))
	}
	for _, text := range after {
		r.New = append(r.New, line{Head: text}.shorten(o))
	}
	return []row{r}
}

// side returns the lines of a field's value on one side.
func side(v any, opaque bool, o Options) []string {
	if v == nil {
		return nil
	}
	text := report.Value(v)
	var lines []string
	switch {
	case v == report.Masked || v == report.Unknown:
		text = v.(string)
	case report.SeveralLines(v):
		lines = strings.Split(strings.TrimSuffix(v.(string), "\n"), "\n")
	case len(text) > factWidth && (!opaque || o.Full):
		lines = report.Structure(v)
	}
	if lines == nil {
		return []string{text}
	}
	if len(lines) > maxLines && !o.Full {
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf("… (%d more lines)", len(lines)-maxLines))
	}
	return lines
}

package terminal

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/textdiff"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// bodyIndent is the column of the fields of an object.
const bodyIndent = 4

// alignLimit is the longest path with which the values of other fields are aligned.
const alignLimit = 48

// fields renders the fields of an object: one on each line if there is room, with aligned
// values.
type fields struct {
	width  int
	full   bool
	named  string // the name of the file that is not printed, because it is the name of the object
	prefix string // the common beginning of paths, which is omitted
	opaque bool   // long structures are not readable
}

// fields returns a renderer for the fields of an object.
func (p page) fields(o *report.Object) fields {
	r := fields{width: p.width, full: p.options.Full, named: o.Family, opaque: o.Opaque()}
	if !r.full {
		r.prefix = o.Prefix()
	}
	return r
}

// render gives the lines of all fields.
func (r fields) render(all []report.Field) []screen.Line {
	all = r.parts(all)
	paths := 0
	for _, f := range all {
		n := screen.Columns(r.path(f))
		if !f.Lines && n <= alignLimit && r.fits(f) {
			paths = max(paths, n)
		}
	}
	var out []screen.Line
	for _, f := range all {
		if f.Lines {
			out = append(out, r.file(f)...)
		} else {
			out = append(out, r.field(f, paths)...)
		}
	}
	return out
}

// parts replaces fields by their parts: lists always, and structures that are too long for a line.
func (r fields) parts(all []report.Field) []report.Field {
	var out []report.Field
	for _, f := range all {
		if f.Split || f.Parts != nil && !r.fits(f) {
			out = append(out, r.parts(f.Parts)...)
		} else {
			out = append(out, f)
		}
	}
	return out
}

// fits reports whether the values have room beside the path.
func (r fields) fits(f report.Field) bool {
	return r.values(f, r.width-bodyIndent-2-screen.Columns(r.path(f))-3) != nil
}

// path returns the path of a field, or the name of a file.
func (r fields) path(f report.Field) string {
	return cmp.Or(f.File, strings.TrimPrefix(f.Path, r.prefix))
}

// field returns the change of a single value. The values are in the common column after a path of
// paths columns, or right after the path, or on the next line.
func (r fields) field(f report.Field, paths int) []screen.Line {
	const inner = bodyIndent + 4
	head := fieldSign(f).Then(screen.Text(" " + r.path(f))).Indent(bodyIndent)
	note := noteOf(f)
	for _, column := range []int{bodyIndent + 2 + paths + 3, head.Width() + 3} {
		if one := r.values(f, r.width-column); one != nil && column >= head.Width()+3 {
			return r.append(head.Pad(column).Then(one), note)
		}
	}
	heads := brokenPath(head, r.width)
	if one := r.values(f, r.width-inner); one != nil {
		return append(heads, r.append(one.Indent(inner), note)...)
	}
	out := heads
	if note != nil {
		last := len(heads) - 1
		out = slices.Concat(heads[:last], r.append(heads[last], note))
	}
	if f.Before == nil || f.After == nil {
		return append(out, r.oneSided(f, inner)...)
	}
	before, after := r.pair(f, inner)
	out = append(out, hanging(screen.Text(before[0]).Indent(inner), before[1:], inner)...)
	return append(out, hanging(screen.Text("→ "+after[0]).Indent(inner-2), after[1:], inner)...)
}

// hanging puts further lines below the first one.
func hanging(first screen.Line, rest []string, indent int) []screen.Line {
	out := []screen.Line{first}
	for _, part := range rest {
		out = append(out, screen.Text(part).Indent(indent+screen.Further))
	}
	return out
}

// brokenPath breaks a long line that ends with a path, between two steps of the path.
func brokenPath(l screen.Line, width int) []screen.Line {
	const further = bodyIndent + 4
	last := len(l) - 1
	path := l[last].Text
	room := width - l[:last].Width()
	var out []screen.Line
	for screen.Columns(path) > room {
		at := strings.LastIndexAny(path[:min(room, len(path))], ".[")
		if at <= 0 || room <= 0 {
			break
		}
		out = append(out, l[:last:last].Then(screen.Text(path[:at])))
		l, path = screen.Line{}.Pad(further).Then(screen.Text("")), path[at:]
		last, room = len(l)-1, width-further
	}
	return append(out, l[:last:last].Then(screen.Text(path)))
}

// oneSided shows a long value that was added or removed.
func (r fields) oneSided(f report.Field, indent int) []screen.Line {
	v := f.After
	if v == nil {
		v = f.Before
	}
	if lines := whole(v, r.full || !r.opaque); lines != nil {
		var out []screen.Line
		for _, l := range lines {
			out = append(out, screen.Text(l).Indent(indent))
		}
		return out
	}
	lines := r.long(report.Value(v), length(v), indent)
	return hanging(screen.Text(lines[0]).Indent(indent), lines[1:], indent)
}

// values shows the values of a field on one line; nil if they are wider than width columns.
func (r fields) values(f report.Field, width int) screen.Line {
	var l screen.Line
	switch {
	case f.Sensitive:
		return screen.Styled(screen.Faint, report.Masked)
	case f.Before == nil && f.After == nil:
		return screen.Styled(screen.Faint, report.Unknown)
	case f.Before == nil:
		l = value(f.After)
	case f.After == nil:
		l = value(f.Before)
	default:
		l = value(f.Before).Then(screen.Text(" → "), value(f.After))
	}
	if l.Width() > width {
		return nil
	}
	return l
}

// value shows one value. The text in place of a value is not quoted.
func value(v any) screen.Line {
	if v == report.Unknown || v == report.Masked {
		return screen.Styled(screen.Faint, fmt.Sprint(v))
	}
	return screen.Text(report.Value(v))
}

// append puts a note at the end of the line, or on the next line if it has no room.
func (r fields) append(l, note screen.Line) []screen.Line {
	switch {
	case note == nil:
		return []screen.Line{l}
	case l.Width()+3+note.Width() <= r.width:
		return []screen.Line{l.Then(screen.Text("   "), note)}
	default:
		return []screen.Line{l, note.Indent(bodyIndent + 4)}
	}
}

func noteOf(f report.Field) screen.Line {
	if f.Note == "" {
		return nil
	}
	return screen.Styled(screen.Faint, f.Note)
}

func fieldSign(f report.Field) screen.Line {
	m := mark(f.Sign)
	return screen.Styled(m.style, m.text)
}

// file returns the change of a file.
func (r fields) file(f report.Field) []screen.Line {
	var out []screen.Line
	name, note, inner := f.FileName(), noteOf(f), bodyIndent
	if name != r.named || note != nil {
		out = append(out, fieldSign(f).Then(screen.Text(" "+name+"   "), note).Indent(bodyIndent))
		inner += 2
	}
	for _, l := range limited(diffLines(f.Diff(), r.lineLimit()), r.full) {
		out = append(out, l.Indent(inner))
	}
	return out
}

// diffLimit is the number of lines of a diff without -full.
const diffLimit = 200

// limited cuts a long diff.
func limited(lines []screen.Line, full bool) []screen.Line {
	if full || len(lines) <= diffLimit+20 {
		return lines
	}
	rest := fmt.Sprintf("  (%d more lines of this diff; -full shows them)", len(lines)-diffLimit)
	return append(lines[:diffLimit:diffLimit], screen.Styled(screen.Caution, rest))
}

// lineLimit returns the number of columns of a line of a file: more than of other values, because
// people read files.
func (r fields) lineLimit() int {
	if r.full {
		return 1 << 20
	}
	return 4 * max(r.width, 40)
}

// diffLines renders a diff. It shortens a long line in such a way that the difference from
// the line on the other side stays.
func diffLines(diff []textdiff.Line, width int) []screen.Line {
	var out []screen.Line
	for _, d := range diff {
		if d.Kind == textdiff.Heading {
			out = append(out, screen.Styled(screen.Faint, d.Text))
			continue
		}
		text := d.Text
		if n, m := utf8.RuneCountInString(d.Text), utf8.RuneCountInString(d.Other); d.Paired && d.Kind == textdiff.Added {
			_, text = shortenPair(d.Other, d.Text, m, n, width)
		} else if d.Paired {
			text, _ = shortenPair(d.Text, d.Other, n, m, width)
		}
		text = shorten(text, utf8.RuneCountInString(text), width)
		switch d.Kind {
		case textdiff.Added:
			out = append(out, screen.Styled(screen.Added, "+ "+text))
		case textdiff.Removed:
			out = append(out, screen.Styled(screen.Removed, "- "+text))
		default:
			out = append(out, screen.Text("  "+text))
		}
	}
	return out
}

// maxValue is the number of characters of a value without -full.
const maxValue = 1000

// unreadable matches keys, certificates and checksums.
var unreadable = regexp.MustCompile(`^[A-Za-z0-9+/=_"…-]{200,}$`)

// long breaks a long value into lines that begin at a column. n is the length of the value. It only
// shortens values that people cannot read, and values that would fill the screen.
func (r fields) long(s string, n, column int) []string {
	width := max(r.width-column, 40)
	switch {
	case r.full:
	case unreadable.MatchString(s):
		s = shorten(s, n, width)
	case len([]rune(s)) > maxValue:
		s = middle([]rune(s), maxValue, fmt.Sprintf("…(%d characters; -full shows all)…", n))
	}
	return wrapWords(s, width)
}

// fewLines is the maximum number of lines of two texts that are shown whole. Of longer ones, only
// the differences are shown.
const fewLines = 3

// pair shows two long values, each on separate lines. It shows only the differences of two
// texts, with some text around them, and shows lists whole.
func (r fields) pair(f report.Field, column int) (before, after []string) {
	b, a := report.Value(f.Before), report.Value(f.After)
	m, n := length(f.Before), length(f.After)
	_, texts := f.Before.(string)
	fit := max(screen.Columns(b), screen.Columns(a)) <= fewLines*(r.width-column)
	if _, both := f.After.(string); !fit && texts && both {
		was, is := windows(b, a)
		if was != b || is != a {
			b, a = was+size(m), is+size(n)
		}
	}
	return r.long(b, m, column), r.long(a, n, column)
}

// whole returns a multi-line text or a structure on several lines, or nil for a one-line value. A
// long structure is complete only with full.
func whole(v any, full bool) []string {
	if report.SeveralLines(v) {
		return strings.Split(strings.TrimSuffix(v.(string), "\n"), "\n")
	}
	return block(v, full)
}

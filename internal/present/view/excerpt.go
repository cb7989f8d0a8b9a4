package view

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/lang"
)

const (
	// excerptLimit is the largest number of quoted source lines.
	excerptLimit = 8
	// tabWidth is the number of columns of a tab.
	tabWidth = 4
	// lineLimit is the number of quoted bytes of a line on either side of the start of the
	// subject. People do not write longer lines.
	lineLimit = 400
)

// source quotes the source lines of a diagnostic, underlines its subject, and lists the
// values that its expression used. width is the width of the stream.
func source(d *hcl.Diagnostic, files map[string]*hcl.File, width int) []screen.Line {
	if d.Subject == nil {
		return nil
	}
	place := fmt.Sprintf("  on %s line %d", d.Subject.Filename, d.Subject.Start.Line)
	file := files[d.Subject.Filename]
	if file == nil || len(file.Bytes) == 0 {
		return []screen.Line{screen.Text(place)}
	}
	if block := report.BlockAt(file, d.Subject.Start.Byte); block != "" {
		place += ", in " + block
	}
	if !lang.Quotable(d) {
		return []screen.Line{screen.Text(place + ".")}
	}
	out := append([]screen.Line{screen.Text(place + ":")}, excerpt(d, file.Bytes, width)...)
	for i, f := range lang.FactsOf(d) {
		lead := "  where "
		if i > 0 {
			lead = "    and "
		}
		out = append(out, screen.Styled(screen.Faint, lead+f.Reference+" "+f.Statement))
	}
	return out
}

// excerpt quotes the lines of a diagnostic with their numbers.
func excerpt(d *hcl.Diagnostic, src []byte, width int) []screen.Line {
	subject, shown := *d.Subject, *d.Subject
	if d.Context != nil {
		shown = hcl.RangeOver(shown, *d.Context)
	}
	all := bytes.Split(src, []byte("\n"))
	gutter := len(strconv.Itoa(shown.End.Line)) + 2
	var out []screen.Line
	offset, skipped := 0, false
	for i, raw := range all {
		number, start := i+1, offset
		offset += len(raw) + 1
		if number < shown.Start.Line || number > shown.End.Line {
			continue
		}
		if !quoted(number, subject, shown) {
			if !skipped {
				out = append(out, screen.Styled(screen.Faint, strings.Repeat(" ", gutter)+"..."))
			}
			skipped = true
			continue
		}
		skipped = false
		out = append(out, quote(string(raw), start, number, gutter, subject, width)...)
	}
	return out
}

// quoted reports whether a line of a long range is shown: the ends of the range, and the
// beginning of the subject.
func quoted(number int, subject, shown hcl.Range) bool {
	if shown.End.Line-shown.Start.Line < excerptLimit {
		return true
	}
	near := number - subject.Start.Line
	return number == shown.Start.Line || number == shown.End.Line || near >= -1 && near <= excerptLimit-4
}

// quote gives one source line. A line below it underlines the subject.
func quote(raw string, start, number, gutter int, subject hcl.Range, width int) []screen.Line {
	raw = strings.TrimSuffix(raw, "\r")
	from := min(max(subject.Start.Byte-start, 0), len(raw))
	to := min(max(subject.End.Byte-start, 0), len(raw))
	raw, from, to = shorter(raw, from, to)
	head := fmt.Sprintf("%*d: ", gutter, number)
	before := expand(raw[:from], 0)
	marked := expand(raw[from:to], screen.Columns(before))
	after := expand(raw[to:], screen.Columns(before+marked))

	room := max(width-screen.Columns(head), minRoom)

	first := number == subject.Start.Line
	if !first || subject.End.Line > subject.Start.Line && strings.TrimSpace(marked) == "" {
		whole := before + marked + after
		if screen.Columns(whole) > room {
			whole = takeColumns(whole, room-1) + "…"
		}
		return []screen.Line{screen.Text(head + whole)}
	}
	trimmed := strings.TrimRight(marked, " ")
	before, marked, after = framed(before, trimmed, marked[len(trimmed):]+after, room)
	out := screen.Text(head+before).Then(screen.Styled(screen.Bold, marked), screen.Text(after))
	under := strings.Repeat(" ", screen.Columns(head+before)) + strings.Repeat("^", max(screen.Columns(marked), 1))
	return []screen.Line{out, screen.Styled(screen.Danger, under)}
}

// minRoom is the number of columns of a source line on the narrowest terminal.
const minRoom = 8

// framed cuts a line to the given number of columns, around the start of its marked part. Otherwise
// a terminal could break the line above its underline.
func framed(before, marked, after string, room int) (string, string, string) {
	start, long := screen.Columns(before), max(screen.Columns(marked), 1)
	total := max(screen.Columns(before+marked+after), start+long)
	if total <= room {
		return before, marked, after
	}
	from := 0
	switch {
	case start+long < room: // it is visible without cutting the start of the line
	case long > room-2:
		from = start - min(start, room/4)
	default:
		from = min(start-(room-long)/2, total-room)
	}
	if from > 0 {
		before = "…" + dropColumns(before, from+1)
	}
	room -= screen.Columns(before)
	switch n := screen.Columns(marked); {
	case n+screen.Columns(after) <= room:
	case n < room:
		after = takeColumns(after, room-n-1) + "…"
	default:
		marked, after = takeColumns(marked, room-1), "…"
	}
	return before, marked, after
}

// shorter cuts a very long line, such as a generated file, around the start of the subject.
func shorter(raw string, from, to int) (string, int, int) {
	if end := from + lineLimit; end < len(raw) {
		raw = strings.ToValidUTF8(raw[:end], "") + "…"
		to = min(to, len(raw))
	}
	if from > lineLimit {
		before := "…" + strings.ToValidUTF8(raw[from-lineLimit:from], "")
		raw, from, to = before+raw[from:], len(before), len(before)+to-from
	}
	return raw, from, to
}

// expand replaces tabs by blanks in text that begins at the given column.
func expand(s string, column int) string {
	var b strings.Builder
	for _, r := range foreign.Text(s) {
		if r != '\t' {
			b.WriteRune(r)
			column += screen.Columns(string(r))
			continue
		}
		n := tabWidth - column%tabWidth
		b.WriteString(strings.Repeat(" ", n))
		column += n
	}
	return b.String()
}

// dropColumns removes the first n columns.
func dropColumns(s string, n int) string {
	for i, r := range s {
		if n <= 0 {
			return s[i:]
		}
		n -= screen.Columns(string(r))
	}
	return ""
}

// takeColumns keeps the first n columns.
func takeColumns(s string, n int) string {
	for i, r := range s {
		if n -= screen.Columns(string(r)); n < 0 {
			return s[:i]
		}
	}
	return s
}

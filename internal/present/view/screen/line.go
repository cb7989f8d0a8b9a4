// Package screen prints text on a terminal or to a file. It knows colours, columns, line
// breaks and escape sequences, and nothing about plans.
//
// All output goes through Line.Render: text of others in a line stays text, so it steers
// neither a terminal nor a CI system. Stream.Print also marks lines that imitate kolla's
// own lines; see internal/base/foreign.
package screen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fatih/color"
	"github.com/mattn/go-runewidth"

	"kolla.openstack.org/kolla/internal/base/foreign"
)

// Line is one row of output: runs of text, each in a style. A Line can be measured and
// compared before it is printed.
type Line []Span

// Span is a run of text in one style.
type Span struct {
	Text  string
	Style Style
}

// Style is the look of a run of text on an output with colour.
type Style int

// The styles.
const (
	Plain   Style = iota
	Bold          // addresses, headings
	Faint         // details that a first reading can skip
	Added         // green
	Changed       // yellow
	Removed       // red
	Danger        // bold red: something is lost
	Caution       // bold yellow
)

// palette and Stream.Redraw are the only places that know escape sequences.
var palette = map[Style]*color.Color{
	Bold:    paint(color.Bold),
	Faint:   paint(color.Faint),
	Added:   paint(color.FgGreen),
	Changed: paint(color.FgYellow),
	Removed: paint(color.FgRed),
	Danger:  paint(color.Bold, color.FgRed),
	Caution: paint(color.Bold, color.FgYellow),
}

// paint makes a colour that is always on. Each Stream decides about colour, and not the
// library for the whole process.
func paint(attributes ...color.Attribute) *color.Color {
	c := color.New(attributes...)
	c.EnableColor()
	return c
}

// Text makes a line with one plain run.
func Text(s string) Line { return Line{{Text: s}} }

// Textf makes a line with one formatted plain run.
func Textf(format string, args ...any) Line { return Text(fmt.Sprintf(format, args...)) }

// Styled makes a line with one run.
func Styled(s Style, t string) Line { return Line{{Text: t, Style: s}} }

// Then appends the runs of other lines.
func (l Line) Then(more ...Line) Line {
	out := append(Line{}, l...)
	for _, m := range more {
		out = append(out, m...)
	}
	return out
}

// Indent puts n columns before the line.
func (l Line) Indent(n int) Line { return Text(strings.Repeat(" ", n)).Then(l) }

// Pad fills the line with blanks to n columns.
func (l Line) Pad(n int) Line {
	if missing := n - l.Width(); missing > 0 {
		return l.Then(Text(strings.Repeat(" ", missing)))
	}
	return l
}

// Width returns the number of columns that the line takes.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += Columns(foreign.Text(s.Text))
	}
	return n
}

// String returns the line without its styles.
func (l Line) String() string {
	var b strings.Builder
	l.Render(&b, false)
	return b.String()
}

// Render writes the line without trailing blanks. All lines go through Render, which makes foreign
// text harmless.
func (l Line) Render(b *strings.Builder, colored bool) {
	l = l.marked(foreign.Acts)
	last := len(l) - 1
	for last >= 0 && strings.TrimRight(l[last].Text, " ") == "" {
		last--
	}
	for i := 0; i <= last; i++ {
		t := foreign.Text(l[i].Text)
		if i == last {
			t = strings.TrimRight(t, " ")
		}
		if c := palette[l[i].Style]; colored && c != nil {
			t = c.Sprint(t)
		}
		b.WriteString(t)
	}
}

// marked returns the line with a mark before its first word if such accepts its text.
func (l Line) marked(such func(string) bool) Line {
	var whole strings.Builder
	for _, s := range l {
		whole.WriteString(foreign.Text(s.Text))
	}
	if !such(whole.String()) {
		return l
	}
	out := slices.Clone(l)
	for i, s := range out {
		if body := strings.TrimLeftFunc(foreign.Text(s.Text), unicode.IsSpace); body != "" {
			text := foreign.Text(s.Text)
			out[i].Text = text[:len(text)-len(body)] + foreign.Mark + body
			break
		}
	}
	return out
}

// sealed puts a backslash before a line that imitates one of kolla's own lines. In kolla's own
// lines, the text that programs look for ("Plan:", or "  # " before an address) is a separate run.
func (l Line) sealed() Line {
	for i, s := range l {
		if strings.TrimSpace(s.Text) == "" {
			continue
		}
		first := strings.Repeat(" ", l[:i].Width()) + foreign.Text(s.Text)
		if foreign.Forges(first) && !slices.Contains(own, s.Text) {
			return l.marked(foreign.Forges)
		}
		return l.plainlyNamed(i, first)
	}
	return l
}

// plainlyNamed removes words about the fate of an object from an address, and from a list
// behind it. The address follows run i.
func (l Line) plainlyNamed(i int, first string) Line {
	if i+1 >= len(l) || l[i+1].Style != Bold || !strings.HasSuffix(first, "# ") {
		return l
	}
	l = slices.Clone(l)
	l[i+1].Text = foreign.Unsaid(l[i+1].Text)
	if i+2 < len(l) && strings.HasPrefix(l[i+2].Text, ":") {
		l[i+2].Text = foreign.Unsaid(l[i+2].Text)
	}
	return l
}

// own are the first runs of the lines by which programs recognize a result.
var own = []string{
	"Error: ", "Warning: ", "Plan:", "No changes.", "Diff:", "No differences.",
	"Apply complete!", "Apply incomplete:", "Destroy complete!", "Destroy incomplete:",
}

// PlainText joins lines for comparison.
func PlainText(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		l.Render(&b, false)
		b.WriteByte('\n')
	}
	return b.String()
}

// terminal measures text. Characters whose width depends on the locale count as one
// column, so the output is the same everywhere.
var terminal = &runewidth.Condition{StrictEmojiNeutral: true}

// Columns returns the number of columns that printable text takes.
func Columns(s string) int { return terminal.StringWidth(s) }

// Wrap breaks running text at blanks into lines of at most width columns. It keeps a line
// that starts with a blank, such as a command or a log.
func Wrap(s string, width int) []string {
	var out []string
	for _, paragraph := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		if paragraph == "" || strings.HasPrefix(paragraph, " ") || strings.HasPrefix(paragraph, "\t") {
			out = append(out, paragraph)
			continue
		}
		current := ""
		for _, word := range strings.Fields(paragraph) {
			switch {
			case current == "":
				current = word
			case Columns(current)+1+Columns(word) <= width:
				current += " " + word
			default:
				out = append(out, current)
				current = word
			}
		}
		out = append(out, current)
	}
	return out
}

// Further is the additional indent after a line break.
const Further = 4

// broken breaks lines that are wider than a terminal at blanks, and indents the rest, because the
// terminal itself would break them anywhere. A faint remark or a word stays in one piece if a row
// has room for it. A longer address breaks between its parts.
func broken(lines []Line, width int) []Line {
	var out []Line
	for _, l := range lines {
		out = append(out, l.broken(width)...)
	}
	return out
}

func (l Line) broken(width int) []Line {
	if l.Width() <= width || width <= 2*Further {
		return []Line{l}
	}
	b := breaker{width: width}
	for i, s := range l {
		words := []string{s.Text}
		if s.Style != Faint {
			words = strings.SplitAfter(s.Text, " ")
		}
		for n, word := range words {
			b.colon = 0
			if n == len(words)-1 && i+1 < len(l) && strings.HasPrefix(l[i+1].Text, ":") {
				b.colon = 1
			}
			b.put(Span{Text: word, Style: s.Style})
		}
	}
	rows := slices.Concat(b.rows, []Line{b.row})
	for i := range rows[1:] { // a continuation must not look like a headline
		rows[1+i] = rows[1+i].marked(foreign.Forges)
	}
	return rows
}

// breaker fills rows one after the other.
type breaker struct {
	width int
	rows  []Line
	row   Line // the last row
	used  int  // the columns of the last row
	colon int  // columns of a colon that follows; a colon must not begin a row
}

// put adds text that should stay in one piece. It begins a new row if this one is full.
func (b *breaker) put(s Span) {
	n := Columns(foreign.Text(strings.TrimRight(s.Text, " "))) + b.colon
	switch {
	case n == 0 || b.used+n <= b.width:
		b.add(s)
	case n <= b.width-Further && b.used > Further:
		b.next(s)
	default:
		b.cut(s)
	}
}

// cut divides text that is longer than a row.
func (b *breaker) cut(s Span) {
	at := "/"
	if strings.Contains(strings.TrimRight(s.Text, " "), " ") {
		at = " "
	}
	parts := strings.SplitAfter(s.Text, at)
	for i, part := range parts {
		n := Columns(foreign.Text(strings.TrimRight(part, " ")))
		if i == len(parts)-1 {
			n += b.colon
		}
		if b.used > Further && n > 0 && b.used+n > b.width {
			b.next(Span{Text: part, Style: s.Style})
			continue
		}
		b.add(Span{Text: part, Style: s.Style})
	}
}

func (b *breaker) add(s Span) {
	b.row = append(b.row, s)
	b.used += Columns(foreign.Text(s.Text))
}

func (b *breaker) next(s Span) {
	b.rows = append(b.rows, b.row)
	b.row, b.used = Text(strings.Repeat(" ", Further)), Further
	s.Text = strings.TrimLeft(s.Text, " ")
	b.add(s)
}

// Truncate cuts text to width columns. A text that was cut ends with tail.
func Truncate(s string, width int, tail string) string { return terminal.Truncate(s, width, tail) }

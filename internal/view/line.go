package view

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fatih/color"
	"github.com/mattn/go-runewidth"

	"kolla.openstack.org/kolla/internal/foreign"
)

// line is one row of output: runs of text, each in a style. Rows stay in this
// form until they are printed, so that they can be measured and compared.
type line []span

type span struct {
	text  string
	style style
}

// style is how a run of text looks where there is colour.
type style int

const (
	plain   style = iota
	bold          // addresses, headings
	faint         // what can be skipped on a first reading
	added         // green
	changed       // yellow
	removed       // red
	danger        // bold red: something is lost
	caution       // bold yellow
)

// palette is the one place that knows escape sequences.
var palette = map[style]*color.Color{
	bold:    paint(color.Bold),
	faint:   paint(color.Faint),
	added:   paint(color.FgGreen),
	changed: paint(color.FgYellow),
	removed: paint(color.FgRed),
	danger:  paint(color.Bold, color.FgRed),
	caution: paint(color.Bold, color.FgYellow),
}

// paint makes a colour that is always on: whether there is colour is decided
// stream by stream, not by the library for the whole process.
func paint(attributes ...color.Attribute) *color.Color {
	c := color.New(attributes...)
	c.EnableColor()
	return c
}

// text makes a line of one plain run.
func text(s string) line { return line{{text: s}} }

// textf makes a line of one formatted plain run.
func textf(format string, args ...any) line { return text(fmt.Sprintf(format, args...)) }

// styled makes a line of one run.
func styled(s style, t string) line { return line{{text: t, style: s}} }

// then puts runs after the line's own.
func (l line) then(more ...line) line {
	out := append(line{}, l...)
	for _, m := range more {
		out = append(out, m...)
	}
	return out
}

// indent puts n columns before the line.
func (l line) indent(n int) line { return text(strings.Repeat(" ", n)).then(l) }

// pad fills the line with blanks to n columns.
func (l line) pad(n int) line {
	if missing := n - l.width(); missing > 0 {
		return l.then(text(strings.Repeat(" ", missing)))
	}
	return l
}

// width is the number of columns that the line takes.
func (l line) width() int {
	n := 0
	for _, s := range l {
		n += columns(foreign.Text(s.text))
	}
	return n
}

// String is the line without its styles.
func (l line) String() string {
	var b strings.Builder
	l.render(&b, false)
	return b.String()
}

// render writes the line, without trailing blanks. Every line goes through here: what is
// foreign in it stays text.
func (l line) render(b *strings.Builder, colored bool) {
	l = l.marked(foreign.Acts)
	last := len(l) - 1
	for last >= 0 && strings.TrimRight(l[last].text, " ") == "" {
		last--
	}
	for i := 0; i <= last; i++ {
		t := foreign.Text(l[i].text)
		if i == last {
			t = strings.TrimRight(t, " ")
		}
		if c := palette[l[i].style]; colored && c != nil {
			t = c.Sprint(t)
		}
		b.WriteString(t)
	}
}

// marked is the line with a mark before its first word, if it is such a line.
func (l line) marked(such func(string) bool) line {
	var whole strings.Builder
	for _, s := range l {
		whole.WriteString(foreign.Text(s.text))
	}
	if !such(whole.String()) {
		return l
	}
	out := slices.Clone(l)
	for i, s := range out {
		if body := strings.TrimLeftFunc(foreign.Text(s.text), unicode.IsSpace); body != "" {
			text := foreign.Text(s.text)
			out[i].text = text[:len(text)-len(body)] + foreign.Mark + body
			break
		}
	}
	return out
}

// sealed puts a backslash before a line that imitates one of kolla's own. In kolla's own
// lines, the text that programs look for ("Plan:", or "  # " before an address) is a run
// by itself.
func (l line) sealed() line {
	for i, s := range l {
		if strings.TrimSpace(s.text) == "" {
			continue
		}
		first := strings.Repeat(" ", l[:i].width()) + foreign.Text(s.text)
		if foreign.Forges(first) && !slices.Contains(own, s.text) {
			return l.marked(foreign.Forges)
		}
		return l.plainlyNamed(i, first)
	}
	return l
}

// plainlyNamed is the line about an address with nothing in the address, or in a list
// behind it, that says what becomes of an object. The address follows the run i.
func (l line) plainlyNamed(i int, first string) line {
	if i+1 >= len(l) || l[i+1].style != bold || !strings.HasSuffix(first, "# ") {
		return l
	}
	l = slices.Clone(l)
	l[i+1].text = foreign.Unsaid(l[i+1].text)
	if i+2 < len(l) && strings.HasPrefix(l[i+2].text, ":") {
		l[i+2].text = foreign.Unsaid(l[i+2].text)
	}
	return l
}

// own are the runs that begin lines by which programs know how it ended.
var own = []string{
	"Error: ", "Warning: ", "Plan:", "No changes.",
	"Apply complete!", "Apply incomplete:", "Destroy complete!", "Destroy incomplete:",
}

// plainText joins lines for comparison.
func plainText(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		l.render(&b, false)
		b.WriteByte('\n')
	}
	return b.String()
}

// terminal measures text. Characters whose width depends on the locale count as
// one column, so that output is the same everywhere.
var terminal = &runewidth.Condition{StrictEmojiNeutral: true}

// columns is the number of columns that printable text takes.
func columns(s string) int { return terminal.StringWidth(s) }

// wrap breaks running text into lines of at most width columns, at blanks only. A
// line of the text that starts with a blank is kept as it is: a command, a log.
func wrap(s string, width int) []string {
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
			case columns(current)+1+columns(word) <= width:
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

// further is how much further in the rest of a line stands that was broken.
const further = 4

// broken breaks lines that are wider than a terminal at blanks, and puts what follows
// a little further in; the terminal itself would break them anywhere. A faint remark
// stays in one piece, and a word too, where a row has room for it: else an address
// breaks between its parts.
func broken(lines []line, width int) []line {
	var out []line
	for _, l := range lines {
		out = append(out, l.broken(width)...)
	}
	return out
}

func (l line) broken(width int) []line {
	if l.width() <= width || width <= 2*further {
		return []line{l}
	}
	b := breaker{width: width}
	for i, s := range l {
		words := []string{s.text}
		if s.style != faint {
			words = strings.SplitAfter(s.text, " ")
		}
		for n, word := range words {
			b.colon = 0
			if n == len(words)-1 && i+1 < len(l) && strings.HasPrefix(l[i+1].text, ":") {
				b.colon = 1
			}
			b.put(span{text: word, style: s.style})
		}
	}
	rows := slices.Concat(b.rows, []line{b.row})
	for i := range rows[1:] { // no headline goes on
		rows[1+i] = rows[1+i].marked(foreign.Forges)
	}
	return rows
}

// breaker fills rows, one after the other.
type breaker struct {
	width int
	rows  []line
	row   line // the last one
	used  int  // its columns
	colon int  // columns of a colon that follows, and begins no row
}

// put adds what should stay in one piece, to the next row where this one is full.
func (b *breaker) put(s span) {
	n := columns(foreign.Text(strings.TrimRight(s.text, " "))) + b.colon
	switch {
	case n == 0 || b.used+n <= b.width:
		b.add(s)
	case n <= b.width-further && b.used > further:
		b.next(s)
	default:
		b.cut(s)
	}
}

// cut divides what no row has room for.
func (b *breaker) cut(s span) {
	at := "/"
	if strings.Contains(strings.TrimRight(s.text, " "), " ") {
		at = " "
	}
	parts := strings.SplitAfter(s.text, at)
	for i, part := range parts {
		n := columns(foreign.Text(strings.TrimRight(part, " ")))
		if i == len(parts)-1 {
			n += b.colon
		}
		if b.used > further && n > 0 && b.used+n > b.width {
			b.next(span{text: part, style: s.style})
			continue
		}
		b.add(span{text: part, style: s.style})
	}
}

func (b *breaker) add(s span) {
	b.row = append(b.row, s)
	b.used += columns(foreign.Text(s.text))
}

func (b *breaker) next(s span) {
	b.rows = append(b.rows, b.row)
	b.row, b.used = text(strings.Repeat(" ", further)), further
	s.text = strings.TrimLeft(s.text, " ")
	b.add(s)
}

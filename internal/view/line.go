package view

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/fatih/color"
	"github.com/mattn/go-runewidth"
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
		n += columns(printable(s.text))
	}
	return n
}

// String is the line without its styles.
func (l line) String() string {
	var b strings.Builder
	l.render(&b, false)
	return b.String()
}

// render writes the line, without trailing blanks.
func (l line) render(b *strings.Builder, colored bool) {
	last := len(l) - 1
	for last >= 0 && strings.TrimRight(l[last].text, " ") == "" {
		last--
	}
	for i := 0; i <= last; i++ {
		t := printable(l[i].text)
		if i == last {
			t = strings.TrimRight(t, " ")
		}
		if c := palette[l[i].style]; colored && c != nil {
			t = c.Sprint(t)
		}
		b.WriteString(t)
	}
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

// printable replaces what a terminal would act on rather than show: control
// characters other than the tab, and the marks that reorder text.
func printable(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\r':
			b.WriteString(`\r`)
		case unprintable(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unprintable(r rune) bool {
	return r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
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

// broken breaks lines that are wider than a terminal at blanks, and puts what follows
// a little further in; the terminal itself would break them anywhere. A faint remark
// stays in one piece.
func broken(lines []line, width int) []line {
	var out []line
	for _, l := range lines {
		out = append(out, l.broken(width)...)
	}
	return out
}

func (l line) broken(width int) []line {
	const further = 4
	if l.width() <= width || width <= 2*further {
		return []line{l}
	}
	var out []line
	var row line
	used := 0
	for _, s := range l {
		words := []string{s.text}
		if s.style != faint {
			words = strings.SplitAfter(s.text, " ")
		}
		for _, word := range words {
			if n := columns(printable(strings.TrimRight(word, " "))); used > further && n > 0 && used+n > width {
				out = append(out, row)
				row, used = text(strings.Repeat(" ", further)), further
				word = strings.TrimLeft(word, " ")
			}
			row = append(row, span{text: word, style: s.style})
			used += columns(printable(word))
		}
	}
	return append(out, row)
}

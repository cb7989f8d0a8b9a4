package view

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/sergi/go-diff/diffmatchpatch"

	"kolla.openstack.org/kolla/internal/view/screen"
)

// surroundings is how many unchanged lines are shown before and after a change
// in a file that has no sections to say where it is.
const surroundings = 2

// diffLimit is how many lines of a file's diff are shown unless all is asked for.
const diffLimit = 200

// diffLine is one line of the comparison of two texts.
type diffLine struct {
	op      diffmatchpatch.Operation
	text    string
	number  int    // of the line in the new text, or of the line it stood before
	section string // for INI files: the header line above
}

// textDiff shows what changes from one text to the other, line by line. In an INI
// file every change is shown under the header of its section, however far above
// that is, and without neighbours, which say nothing there; in other files with a
// few lines around it. Of a line that takes more than width columns what differs is
// shown.
func textDiff(before, after string, width int) []screen.Line {
	lines := narrowed(compareTexts(before, after), width)
	if isINI(before) && isINI(after) {
		return sectionDiff(lines)
	}
	return unifiedDiff(lines)
}

// narrowed shortens lines that are too long to be read. What takes the place of
// another line is compared with that one.
func narrowed(lines []diffLine, width int) []diffLine {
	for i := 0; i < len(lines); {
		gone := run(lines[i:], diffmatchpatch.DiffDelete)
		come := run(lines[i+gone:], diffmatchpatch.DiffInsert)
		for j := range max(gone, come) {
			if j < gone && j < come {
				was, is := &lines[i+j], &lines[i+gone+j]
				was.text, is.text = shortenPair(was.text, is.text, utf8.RuneCountInString(was.text), utf8.RuneCountInString(is.text), width)
			}
		}
		for n := i + max(gone+come, 1); i < n; i++ {
			lines[i].text = shorten(lines[i].text, utf8.RuneCountInString(lines[i].text), width)
		}
	}
	return lines
}

// run is how many lines from the first on are of one kind.
func run(lines []diffLine, op diffmatchpatch.Operation) int {
	n := 0
	for n < len(lines) && lines[n].op == op {
		n++
	}
	return n
}

// TextDiff prints to standard output what changes in the file with that name, as a
// unified diff, which patch -p1 applies. The error is that of writing.
func (p *Printer) TextDiff(name, before, after string) error {
	_, unified, _ := bytes.Cut(diff.Diff("old/"+name, []byte(before), "new/"+name, []byte(after)), []byte("\n"))
	if !p.Out.Terminal { // to the byte: trailing blanks count
		if _, err := p.Out.Writer.Write(unified); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		return nil
	}
	var out []screen.Line
	for l := range strings.Lines(string(unified)) {
		l = strings.TrimSuffix(l, "\n")
		look := screen.Plain
		switch {
		case strings.HasPrefix(l, "--- old/"), strings.HasPrefix(l, "+++ new/"):
			look = screen.Bold
		case strings.HasPrefix(l, "@@"):
			look = screen.Faint
		case strings.HasPrefix(l, "+"):
			look = screen.Added
		case strings.HasPrefix(l, "-"):
			look = screen.Removed
		}
		out = append(out, screen.Styled(look, l))
	}
	return p.Out.Print(out)
}

// compareTexts puts both texts into one sequence of lines.
func compareTexts(before, after string) []diffLine {
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0 // the same answer on a slow machine
	a, b, table := dmp.DiffLinesToRunes(before, after)
	diffs := dmp.DiffCharsToLines(dmp.DiffMainRunes(a, b, false), table)

	var out []diffLine
	number := 1
	var sections [2]string // in the old text, in the new one
	for _, d := range diffs {
		for _, text := range strings.SplitAfter(d.Text, "\n") {
			if text == "" {
				continue
			}
			isOld, isNew := d.Type != diffmatchpatch.DiffInsert, d.Type != diffmatchpatch.DiffDelete
			if header.MatchString(text) {
				for side, in := range []bool{isOld, isNew} {
					if in {
						sections[side] = strings.TrimSpace(text)
					}
				}
			}
			l := diffLine{op: d.Type, text: lineText(text, d.Type), number: number, section: sections[1]}
			if isNew {
				number++
			} else {
				l.section = sections[0]
			}
			out = append(out, l)
		}
	}
	return out
}

// lineText takes the end off a line. In a changed line it makes visible what
// would not be seen: blanks at the end, and a last line that does not end.
func lineText(text string, op diffmatchpatch.Operation) string {
	body, ended := strings.CutSuffix(text, "\n")
	if op == diffmatchpatch.DiffEqual {
		return body
	}
	trimmed := strings.TrimRight(body, " \t")
	body = trimmed + strings.Repeat("·", len(body)-len(trimmed))
	if !ended {
		body += "  (no newline at the end)"
	}
	return body
}

var (
	header = regexp.MustCompile(`^\[[^\]]+\]\s*$`)
	option = regexp.MustCompile(`^([A-Za-z0-9_.:/-]+\s*=|\s|#|;|$)`)
)

// isINI reports whether a text looks like sections of options. An empty one may be.
func isINI(text string) bool {
	sections := text == ""
	for _, l := range strings.Split(text, "\n") {
		switch {
		case header.MatchString(l):
			sections = true
		case !option.MatchString(l):
			return false
		}
	}
	return sections
}

// sectionDiff shows changed lines only, under the headers of their sections.
func sectionDiff(lines []diffLine) []screen.Line {
	var out []screen.Line
	shown := ""
	for _, l := range lines {
		if l.op == diffmatchpatch.DiffEqual || strings.TrimSpace(l.text) == "" {
			continue
		}
		if l.section != "" && l.section != shown && !header.MatchString(l.text) {
			out = append(out, screen.Styled(screen.Faint, "  "+l.section))
		}
		shown = l.section
		out = append(out, l.row())
	}
	if len(out) == 0 { // nothing but empty lines
		return unifiedDiff(lines)
	}
	return out
}

// unifiedDiff shows changed lines with a few others around them, and the number
// of the line where each such piece begins.
func unifiedDiff(lines []diffLine) []screen.Line {
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l.op == diffmatchpatch.DiffEqual {
			continue
		}
		for j := max(0, i-surroundings); j <= min(len(lines)-1, i+surroundings); j++ {
			keep[j] = true
		}
	}
	var out []screen.Line
	for i, l := range lines {
		if !keep[i] {
			continue
		}
		if i > 0 && !keep[i-1] {
			out = append(out, screen.Styled(screen.Faint, fmt.Sprintf("@@ line %d @@", l.number)))
		}
		out = append(out, l.row())
	}
	return out
}

// row is the line with its sign.
func (l diffLine) row() screen.Line {
	switch l.op {
	case diffmatchpatch.DiffInsert:
		return screen.Styled(screen.Added, "+ "+l.text)
	case diffmatchpatch.DiffDelete:
		return screen.Styled(screen.Removed, "- "+l.text)
	default:
		return screen.Text("  " + l.text)
	}
}

// limited cuts a diff that is too long to be read in passing.
func limited(lines []screen.Line, full bool) []screen.Line {
	if full || len(lines) <= diffLimit+20 {
		return lines
	}
	rest := fmt.Sprintf("  (%d more lines of this diff; -full shows them)", len(lines)-diffLimit)
	return append(lines[:diffLimit:diffLimit], screen.Styled(screen.Caution, rest))
}

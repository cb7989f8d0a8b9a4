package golden

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"kolla.openstack.org/kolla/internal/present/textdiff"
)

const (
	surroundings = 3       // unchanged lines before and after a change
	reported     = 200     // lines of a failed comparison
	separator    = "---\n" // above each document
	heading      = "@@ "   // above changes; those below it are a document as well
)

// position is a place in one of the two texts.
type position struct {
	name string // the first line of the document
	line int    // in the document; 1 is the separator
}

// next moves to the first of lines. Lines of the kind other are not in the text.
func (p *position) next(lines []textdiff.Line, other textdiff.Kind) {
	p.line++
	switch text := lines[0].Text; {
	case text == separator:
		*p = position{line: 1}
		if i := slices.IndexFunc(lines[1:], func(l textdiff.Line) bool { return l.Kind != other }); i >= 0 {
			p.name = lines[1+i].Text
		}
	case strings.HasPrefix(text, heading), p.line == 1: // below its heading, or in a text without separators
		*p = position{name: text, line: 1}
	}
}

// changes returns a unified diff of two texts, which is empty if they are equal. A heading names the
// document of the first change below it, as the new text has it if the change only adds lines.
func changes(before, after string) string {
	if before == after {
		return ""
	}
	lines := textdiff.Lines(before, after)
	keep := kept(lines)
	var b strings.Builder
	var was, is position
	for i, l := range lines {
		if l.Kind != textdiff.Added {
			was.next(lines[i:], textdiff.Added)
		}
		if l.Kind != textdiff.Removed {
			is.next(lines[i:], textdiff.Removed)
		}
		if !keep[i] {
			continue
		}
		if i == 0 || !keep[i-1] {
			at := was
			if firstChange(lines[i:]) == textdiff.Added {
				at = is
			}
			fmt.Fprintf(&b, heading+"line %d @@ %s\n", at.line, strings.TrimSuffix(at.name, "\n"))
		}
		b.WriteString(map[textdiff.Kind]string{textdiff.Same: " ", textdiff.Added: "+", textdiff.Removed: "-"}[l.Kind] + l.Text)
		if !strings.HasSuffix(l.Text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
	return b.String()
}

// firstChange returns the kind of the first changed line.
func firstChange(lines []textdiff.Line) textdiff.Kind {
	return lines[slices.IndexFunc(lines, func(l textdiff.Line) bool { return l.Kind != textdiff.Same })].Kind
}

// kept marks changed lines and those around them. The lines before a change are of its document.
func kept(lines []textdiff.Line) []bool {
	keep := make([]bool, len(lines))
	start := 0 // of the document
	for i, l := range lines {
		if l.Text == separator || strings.HasPrefix(l.Text, heading) {
			start = i
		}
		if l.Kind == textdiff.Same {
			continue
		}
		for j := max(start, i-surroundings); j <= min(len(lines)-1, i+surroundings); j++ {
			keep[j] = true
		}
	}
	return keep
}

// report returns the start of the changes between two texts, for the log of a test. It quotes lines
// with characters that cannot be seen.
func report(want, got string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(changes(want, got)) {
		if n++; n > reported {
			continue
		}
		line = strings.TrimSuffix(line, "\n")
		if text := line[1:]; strings.TrimRight(text, " \t") != text || strings.ContainsFunc(text, invisible) {
			line = line[:1] + strconv.Quote(text)
		}
		b.WriteString(line + "\n")
	}
	if n > reported {
		fmt.Fprintf(&b, "and %d more lines\n", n-reported)
	}
	return b.String()
}

func invisible(r rune) bool {
	return r == utf8.RuneError || r != '\t' && !unicode.IsPrint(r)
}

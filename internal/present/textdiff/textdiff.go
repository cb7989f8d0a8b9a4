// Package textdiff compares two texts line by line for readers. In INI files, it shows the
// section of a change instead of the lines around it.
package textdiff

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// surroundings is the number of unchanged lines around a change in a file without sections.
const surroundings = 2

// Kind is the kind of a line in a comparison.
type Kind int

// The kinds of lines.
const (
	Same    Kind = iota
	Added        // only in the new text
	Removed      // only in the old text
	Heading      // not a line of a text: the section or the number of the lines below
)

// Line is a line of the comparison of two texts.
type Line struct {
	Kind Kind
	Text string
	// Number is the number of the line in the new text, or of the line that took its place.
	Number int
	// Other is the line on the other side, if the line replaces another or is replaced.
	Other  string
	Paired bool

	section string // of an INI file: the header above
}

// Of compares two texts line by line. In an INI file, every change is below the header of
// its section, without unchanged lines. In other files, a few lines around each change are
// included.
func Of(before, after string) []Line {
	lines := compareTexts(before, after)
	pair(lines)
	if isINI(before) && isINI(after) {
		return sectionDiff(lines)
	}
	return unifiedDiff(lines)
}

// pair connects each replaced line with its replacement.
func pair(lines []Line) {
	for i := 0; i < len(lines); {
		gone := run(lines[i:], Removed)
		come := run(lines[i+gone:], Added)
		for j := range min(gone, come) {
			was, is := &lines[i+j], &lines[i+gone+j]
			was.Other, is.Other = is.Text, was.Text
			was.Paired, is.Paired = true, true
		}
		i += max(gone+come, 1)
	}
}

// run returns the number of lines of a kind at the start.
func run(lines []Line, kind Kind) int {
	n := 0
	for n < len(lines) && lines[n].Kind == kind {
		n++
	}
	return n
}

// Lines returns the lines of both texts as one sequence with as few changes as possible. It sets
// Kind and Text, which has the line break.
func Lines(before, after string) []Line {
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0 // no timeout, so that the result does not depend on the speed of the machine
	a, b, table := dmp.DiffLinesToRunes(before, after)
	diffs := dmp.DiffCharsToLines(dmp.DiffMainRunes(a, b, false), table)

	kinds := map[diffmatchpatch.Operation]Kind{diffmatchpatch.DiffInsert: Added, diffmatchpatch.DiffDelete: Removed}
	var out []Line
	for _, d := range diffs {
		for text := range strings.Lines(d.Text) {
			out = append(out, Line{Kind: kinds[d.Type], Text: text})
		}
	}
	return out
}

// compareTexts returns the lines of both texts as readers see them, with their numbers and
// sections.
func compareTexts(before, after string) []Line {
	lines := Lines(before, after)
	number := 1
	var sections [2]string // in the old text, in the new text
	for i := range lines {
		l := &lines[i]
		isOld, isNew := l.Kind != Added, l.Kind != Removed
		if header.MatchString(l.Text) {
			for side, in := range []bool{isOld, isNew} {
				if in {
					sections[side] = strings.TrimSpace(l.Text)
				}
			}
		}
		l.Number, l.section = number, sections[1]
		if isNew {
			number++
		} else {
			l.section = sections[0]
		}
		l.Text = lineText(l.Text, l.Kind)
	}
	return lines
}

// lineText removes the line break at the end of a line. In a changed line, it makes blanks at
// the end and a missing line break visible.
func lineText(text string, kind Kind) string {
	body, ended := strings.CutSuffix(text, "\n")
	if kind == Same {
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

// isINI reports whether a text looks like sections of options. An empty text does.
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

// sectionDiff keeps changed lines, below the headers of their sections.
func sectionDiff(lines []Line) []Line {
	var out []Line
	shown := ""
	for _, l := range lines {
		if l.Kind == Same || strings.TrimSpace(l.Text) == "" {
			continue
		}
		if l.section != "" && l.section != shown && !header.MatchString(l.Text) {
			out = append(out, Line{Kind: Heading, Text: "  " + l.section})
		}
		shown = l.section
		out = append(out, l)
	}
	if len(out) == 0 { // only empty lines changed
		return unifiedDiff(lines)
	}
	return out
}

// unifiedDiff keeps changed lines and a few around them, below the number of the first line.
func unifiedDiff(lines []Line) []Line {
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l.Kind == Same {
			continue
		}
		for j := max(0, i-surroundings); j <= min(len(lines)-1, i+surroundings); j++ {
			keep[j] = true
		}
	}
	var out []Line
	for i, l := range lines {
		if !keep[i] {
			continue
		}
		if i > 0 && !keep[i-1] {
			out = append(out, Line{Kind: Heading, Text: fmt.Sprintf("@@ line %d @@", l.Number), Number: l.Number})
		}
		out = append(out, l)
	}
	return out
}

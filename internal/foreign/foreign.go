// Package foreign makes text harmless that others wrote: the API server, webhooks,
// controllers, the programs in containers, and everybody who may write to the cluster.
//
// The rules, for all that kolla prints:
//
//   - No character acts instead of being shown. Control characters, line breaks within
//     a line, format characters such as those that reorder text, and characters that
//     have no width are escaped: "\u202e".
//   - No text begins a line that people or programs read as kolla's own. Who renders
//     puts it behind words of kolla's, in quotes, or further in; Line is the second
//     fence.
//   - No text is a command of a CI system that reads the log, wherever it stands.
//
// Text and Line do this for text, JSON for JSON. Terminals, and logs of CI, are what
// they are about: a file, or a document that a program reads, keeps its content.
package foreign

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a character is not shown as itself: a control character, one
// that formats or separates lines, one without a width, or one that has no meaning.
// Blanks are shown, the tab is not.
func Hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == '\x7f'
	}
	return !unicode.IsGraphic(r) || // control, format, line and paragraph separators, private use, unassigned
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Text escapes what is hidden, so that the text is one line and all of it is seen, and
// takes the meaning from the commands of CI systems. A tab stays: it steers nothing. What
// is no UTF-8 is escaped byte by byte. Text of Text is the same.
func Text(s string) string {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && Hidden(r) }) {
		var b strings.Builder
		for len(s) > 0 {
			r, size := utf8.DecodeRuneInString(s)
			b.WriteString(escaped(r, s[:size]))
			s = s[size:]
		}
		s = b.String()
	}
	if strings.Contains(s, "##") {
		s = command.ReplaceAllString(s, `#\#$1[`)
	}
	return s
}

// command begins what Azure Pipelines, GitHub Actions and TeamCity carry out, at any
// place of a line: "##vso[task.setvariable", "##[add-mask]", "##teamcity[".
var command = regexp.MustCompile(`##([A-Za-z]*)\[`)

// escaped is a character as it is shown; source is how it was written.
func escaped(r rune, source string) string {
	switch {
	case r == utf8.RuneError && len(source) == 1:
		return fmt.Sprintf(`\x%02x`, source[0])
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t' || !Hidden(r):
		return source
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Line is Text for a whole line, which begins with nothing that acts; see Acts.
func Line(s string) string {
	s = Text(s)
	if !Acts(s) {
		return s
	}
	body := strings.TrimLeftFunc(s, unicode.IsSpace)
	return s[:len(s)-len(body)] + Mark + body
}

// Mark stands before what would be taken for something else.
const Mark = `\`

// Acts reports whether a line that begins so is more than text, wherever it comes from: a
// command of GitHub Actions, which may be indented; or a fence of Markdown, out of which
// what is quoted in it would break. Further in than three columns none is a fence.
func Acts(line string) bool {
	body := strings.TrimLeftFunc(line, unicode.IsSpace)
	if strings.HasPrefix(body, "::") {
		return true
	}
	indent := line[:len(line)-len(body)]
	return len(indent) < 4 && !strings.Contains(indent, "\t") && (strings.HasPrefix(body, "```") || strings.HasPrefix(body, "~~~"))
}

// verdict is what kolla says of an object in the headline above it, and review bots look
// for.
const verdict = `\b(will|must|has|is) (be|no|moved|gone|there)\b`

var (
	verdicts = regexp.MustCompile(verdict)
	head     = regexp.MustCompile(`^\s*# .*` + verdict)
)

// Unsaid is a name that says nothing of what becomes of an object.
func Unsaid(s string) string { return verdicts.ReplaceAllString(Text(s), `$1\u0020$2`) }

// opening begins the lines by which review bots know how a plan or an apply ended.
var opening = regexp.MustCompile(`^(Plan:|No changes|Error:|Warning:|(Apply|Destroy) (complete|incomplete)|Outputs:)`)

// Forges reports whether a line that only quotes something, such as a log, a file or a
// message of several lines, could be taken for the headline of an object in a plan, or
// for how a plan or an apply ended.
func Forges(line string) bool { return head.MatchString(line) || opening.MatchString(line) }

// plainName is a name that can stand in a sentence without quotes.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$`)

// Name is a name that others chose, to stand in a sentence: in quotes, unless it is a
// single plain word.
func Name(s string) string {
	if plainName.MatchString(s) {
		return s
	}
	return Text(strconv.Quote(s))
}

// Lines is Line for each line of a text.
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Line(l)
	}
	return strings.Join(lines, "\n")
}

// Phrase is Line without tabs: the cell of a table, the message of an event.
func Phrase(s string) string { return Line(strings.ReplaceAll(s, "\t", " ")) }

// Word is a name in a command that people copy into a shell: one word there, whatever it
// is.
func Word(s string) string {
	if plainName.MatchString(s) {
		return s
	}
	return Text("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
}

// Fprintf is fmt.Fprintf with a format of kolla's own, and texts that may be foreign:
// each is a Phrase. What programs read to the byte is not printed with it.
func Fprintf(w io.Writer, format string, args ...any) {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			safe[i] = Phrase(arg)
		case error:
			safe[i] = Phrase(arg.Error())
		case fmt.Stringer:
			safe[i] = Phrase(arg.String())
		default:
			safe[i] = arg
			if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
				safe[i] = Phrase(v.String())
			}
		}
	}
	fmt.Fprintf(w, format, safe...)
}

// Package foreign makes text from others harmless: from the API server, webhooks, controllers,
// the programs in containers, and everything that may write to the cluster.
//
// These rules apply to everything that kolla prints:
//
//   - Every character is shown and has no other effect. Control characters, line breaks within a
//     line, format characters such as the ones that reorder text, and characters without width
//     are escaped: "\u202e".
//   - No foreign text begins a line that people or programs read as kolla's. The renderer puts it
//     after words of kolla's, in quotes, or indents it. Line is a second protection.
//   - No text is a command of a CI system that reads the log, at any position.
//
// Text and Line do this for text, and JSON does it for JSON. The rules are for terminals and CI
// logs: files, and documents that programs read, keep their content.
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

// Hidden reports whether a character is not shown as itself: a control character, a character
// that formats or separates lines, a character without width, or one without a meaning. Blanks
// are not hidden, but tabs are.
func Hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == '\x7f'
	}
	return !unicode.IsGraphic(r) || // control, format, line and paragraph separators, private use, unassigned
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Text escapes hidden characters, so that the text is one line and all of it is visible. It
// also disables the commands of CI systems. It keeps tabs, which are harmless. It escapes
// invalid UTF-8 byte by byte. A second call changes nothing.
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

// command matches the beginning of commands that Azure Pipelines, GitHub Actions and TeamCity
// execute at any position of a line: "##vso[task.setvariable", "##[add-mask]", "##teamcity[".
var command = regexp.MustCompile(`##([A-Za-z]*)\[`)

// escaped returns a character in the form that is shown. source is its original encoding.
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

// Line is Text for a whole line. It puts Mark before a beginning that has an effect; see Acts.
func Line(s string) string {
	s = Text(s)
	if !Acts(s) {
		return s
	}
	body := strings.TrimLeftFunc(s, unicode.IsSpace)
	return s[:len(s)-len(body)] + Mark + body
}

// Mark precedes a text that would otherwise be misread.
const Mark = `\`

// Acts reports whether the beginning of a line has an effect, wherever the line comes from. It
// may be a command of GitHub Actions, which may be indented. Or it may be a fence of Markdown,
// which would end the quotation around it; with more than three columns of indent it is no
// fence.
func Acts(line string) bool {
	body := strings.TrimLeftFunc(line, unicode.IsSpace)
	if strings.HasPrefix(body, "::") {
		return true
	}
	indent := line[:len(line)-len(body)]
	return len(indent) < 4 && !strings.Contains(indent, "\t") && (strings.HasPrefix(body, "```") || strings.HasPrefix(body, "~~~"))
}

// verdict matches kolla's words about an object in its headline. Review bots search for them.
const verdict = `\b(will|must|has|is) (be|no|moved|gone|there)\b`

var (
	verdicts = regexp.MustCompile(verdict)
	head     = regexp.MustCompile(`^\s*# .*` + verdict)
)

// Unsaid escapes a name so that it contains no verdict about an object.
func Unsaid(s string) string { return verdicts.ReplaceAllString(Text(s), `$1\u0020$2`) }

// opening matches the lines from which review bots learn how a plan or an apply ended.
var opening = regexp.MustCompile(`^(Plan:|No changes|Diff:|No differences|Error:|Warning:|(Apply|Destroy) (complete|incomplete)|Outputs:)`)

// Forges reports whether a quoted line, such as a line of a log, of a file or of a long
// message, could be mistaken for the headline of an object in a plan, or for the result of a
// plan or an apply.
func Forges(line string) bool { return head.MatchString(line) || opening.MatchString(line) }

// plainName matches names that need no quotes in a sentence.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$`)

// Name returns a foreign name for use in a sentence. It is in quotes unless it is one plain
// word.
func Name(s string) string {
	if plainName.MatchString(s) {
		return s
	}
	return Text(strconv.Quote(s))
}

// Lines applies Line to each line of a text.
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Line(l)
	}
	return strings.Join(lines, "\n")
}

// Phrase is Line without tabs, for the cell of a table or the message of an event.
func Phrase(s string) string { return Line(strings.ReplaceAll(s, "\t", " ")) }

// Word returns a name for a command that people copy into a shell. The shell always reads it as
// one word.
func Word(s string) string {
	if plainName.MatchString(s) {
		return s
	}
	return Text("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
}

// Fprintf is fmt.Fprintf with a format of kolla's and arguments that may be foreign. It applies
// Phrase to each argument. Do not use it for exact output that programs read.
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

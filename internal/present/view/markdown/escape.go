package markdown

import (
	"strings"
	"unicode"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/lang/addrs"
)

// marks are the characters that mean something in Markdown, and those by which it finds
// links. An "@" would notify people whose name follows it, so a character without width
// separates it from the name.
var marks = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "|", `\|`, "~", `\~`,
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@&#8203;",
	"://", "&#58;//", "www.", "www&#46;", "::", "&#58;&#58;", // the last one begins commands of GitHub Actions
)

// text returns a sentence. Nothing in it is taken for Markdown.
func text(s string) string { return marks.Replace(foreign.Text(s)) }

// htmlMarks are the characters that mean something in HTML and in Markdown within HTML.
var htmlMarks = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "[", "&#91;", "@", "@&#8203;", "://", "&#58;//", "www.", "www&#46;", "::", "&#58;&#58;")

// html returns a text within HTML.
func html(s string) string { return htmlMarks.Replace(foreign.Text(s)) }

// comment returns a text within a comment of HTML.
func comment(s string) string { return strings.ReplaceAll(html(s), "--", "&#45;&#45;") }

// code returns a name in a span of code.
func code(s string) string {
	s = foreign.Text(s)
	ticks := strings.Repeat("`", longest(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

func address(a addrs.Object) string { return code(a.String()) }

// fenced returns a block of code. The fence is longer than any in the block. Systems that read
// the log of a job find no command in it.
func fenced(language string, lines []string) string {
	var body strings.Builder
	for _, line := range lines {
		body.WriteString(strings.TrimRight(inert(foreign.Text(line)), " ") + "\n")
	}
	fence := strings.Repeat("`", max(3, longest(body.String())+1))
	return fence + language + "\n" + body.String() + fence + "\n"
}

// inert puts foreign.Mark before a line that is a command of GitHub Actions.
func inert(line string) string {
	if body := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(body, "::") {
		return line[:len(line)-len(body)] + foreign.Mark + body
	}
	return line
}

// longest returns the length of the longest run of backticks.
func longest(s string) int {
	most, n := 0, 0
	for _, r := range s {
		if r != '`' {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

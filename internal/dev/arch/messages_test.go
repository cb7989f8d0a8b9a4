package arch_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// fenced matches the code blocks in a document.
var fenced = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```$")

// literal matches string literals in a Go file.
var literal = regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`")

// placeholder matches the verbs of a format, such as %s.
var placeholder = regexp.MustCompile(`%[+#]?[vsdqw]`)

// TestTroubleshooting checks that the code contains the messages that the page quotes: each piece
// between two placeholders is in a string literal of a Go file.
func TestTroubleshooting(t *testing.T) {
	texts := strings.ToLower(strings.Join(messageTexts(t), "\n"))
	found := 0
	for _, match := range fenced.FindAllStringSubmatch(read(t, "docs/troubleshooting.md"), -1) {
		for line := range strings.Lines(match[1]) {
			found++
			for _, piece := range strings.Split(strings.TrimSpace(line), "...") {
				piece = strings.Trim(piece, " :()\"")
				if len(strings.FieldsFunc(piece, func(r rune) bool { return !unicode.IsLetter(r) })) < 2 {
					continue
				}
				if !strings.Contains(texts, strings.ToLower(piece)) {
					t.Errorf("%q: no message has %q", strings.TrimSpace(line), piece)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d messages", found)
	}
}

// messageTexts returns the string literals of all Go files that are not tests.
func messageTexts(t *testing.T) []string {
	t.Helper()
	var texts []string
	for _, path := range sources(t, "internal", "lang", "planner", "providers", "state") {
		for _, text := range literal.FindAllString(read(t, path), -1) {
			texts = append(texts, placeholder.ReplaceAllString(strings.ReplaceAll(text, `\"`, `"`), "..."))
		}
	}
	return texts
}

// TestOptionsOfMessages checks that kolla plan and kolla apply have every option that a problem of
// a plan names.
func TestOptionsOfMessages(t *testing.T) {
	option := regexp.MustCompile(`(?:^"|[ (])-([a-z]+(?:-[a-z]+)*)[=, .:]`)
	named := map[string]string{}
	for _, path := range sources(t, "planner/internal") {
		for _, text := range literal.FindAllString(read(t, path), -1) {
			if text[0] == '`' { // raw strings name options of kubectl
				continue
			}
			for _, match := range option.FindAllStringSubmatch(text, -1) {
				named[match[1]] = path
			}
		}
	}
	for _, want := range []string{"delete-data", "replace", "adopt", "max-deletes"} {
		if named[want] == "" {
			t.Errorf("no message names -%s: the test does not see what it should", want)
		}
	}
	commands := read(t, "docs/commands.md")
	for _, command := range []string{"plan", "apply"} {
		_, reference, found := strings.Cut(commands, "\n## kolla "+command+"\n")
		reference, _, _ = strings.Cut(reference, "\n## ")
		if !found {
			t.Fatalf("docs/commands.md has no kolla %s", command)
		}
		for name, path := range named {
			if !regexp.MustCompile(`(?m)^  -` + name + `\b`).MatchString(reference) {
				t.Errorf("kolla %s has no option -%s, which a message in %s names", command, name, path)
			}
		}
	}
}

package cli

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// literal matches the texts in a Go file.
var literal = regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`")

// placeholder matches what is filled in when a message is made.
var placeholder = regexp.MustCompile(`%[+#]?[vsdqw]`)

// TestTroubleshooting holds that the messages that the page quotes are those of the code:
// each piece between two names stands in a text of a Go file, and in the order of the
// message.
func TestTroubleshooting(t *testing.T) {
	texts := strings.ToLower(strings.Join(messageTexts(t), "\n"))
	found := 0
	for _, match := range fenced.FindAllStringSubmatch(readText(t, "../../docs/troubleshooting.md"), -1) {
		for line := range strings.Lines(match[2]) {
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

// messageTexts are the texts in all Go files that are no tests.
func messageTexts(t *testing.T) []string {
	t.Helper()
	var texts []string
	for _, dir := range []string{"../../internal", "../../lang", "../../planner", "../../providers", "../../state"} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, text := range literal.FindAllString(readText(t, path), -1) {
				texts = append(texts, placeholder.ReplaceAllString(strings.ReplaceAll(text, `\"`, `"`), "..."))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// TestGlossary holds that the words of the glossary are in order, and each is there once.
func TestGlossary(t *testing.T) {
	last := ""
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-zA-Z ]+) \| `).FindAllStringSubmatch(readText(t, "../../docs/glossary.md"), -1) {
		if word := strings.ToLower(row[1]); word == "word" {
			continue
		} else if word <= last {
			t.Errorf("%q comes after %q", word, last)
		} else {
			last = word
		}
	}
	if last != "yield" {
		t.Errorf("the last word is %q", last)
	}
}

package cli

import (
	"regexp"
	"strings"
	"testing"
)

// TestGlossary checks that the glossary is one table, and that its words are sorted and unique.
func TestGlossary(t *testing.T) {
	text, last := readText(t, "../../docs/glossary.md"), ""
	if strings.Contains(text, "|\n\n|") {
		t.Error("an empty line divides the table")
	}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-zA-Z ]+) \| `).FindAllStringSubmatch(text, -1) {
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

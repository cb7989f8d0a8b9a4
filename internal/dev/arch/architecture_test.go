package arch_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	architectureBytes = 8 << 10 // must stay short enough to read before a first change
	decisionLines     = 60      // a page
)

var (
	// linked matches a link to a file of the project: its text and its target.
	linked = regexp.MustCompile(`\[([^\]]+)\]\(([^)#:]+)(?:#[^)]*)?\)`)
	// named matches the text of a link that names a function, a method or a type, with or without
	// its package or receiver.
	named = regexp.MustCompile("^`(?:[A-Za-z]+\\.)?([A-Za-z]+)`$")
	// drawn matches the path of a package in the picture.
	drawn = regexp.MustCompile(`\b(?:lang|planner|providers|internal)(?:/[a-z]+)*\b|\bstate\b`)
	// decided matches the name of a decision's file.
	decided = regexp.MustCompile(`^[0-9]{3}-[a-z0-9-]+\.md$`)
)

// TestArchitecturePage checks that ARCHITECTURE.md stays short, draws packages that exist,
// and links the test of each invariant.
func TestArchitecturePage(t *testing.T) {
	page := read(t, "ARCHITECTURE.md")
	if len(page) > architectureBytes {
		t.Errorf("ARCHITECTURE.md has %d bytes, at most %d are allowed: move reasons to docs/decisions", len(page), architectureBytes)
	}
	checkLinks(t, "ARCHITECTURE.md")
	_, picture, _ := strings.Cut(page, "```\n")
	picture, _, _ = strings.Cut(picture, "```\n")
	packages := drawn.FindAllString(picture, -1)
	if len(packages) < 10 {
		t.Errorf("the picture shows only %v", packages)
	}
	for _, dir := range packages {
		if info, err := os.Stat(filepath.Join(root, dir)); err != nil || !info.IsDir() {
			t.Errorf("the picture shows %s, which is no package", dir)
		}
	}
	_, table, found := strings.Cut(page, "| invariant | test |\n| --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(strings.TrimSpace(table), "\n")
	if !found || len(rows) != 5 {
		t.Errorf("found %d invariants, want 5", len(rows))
	}
	tests := packagesOf(t)
	for _, row := range rows {
		name := evidence.FindStringSubmatch(row)
		if name == nil || !strings.Contains(row, "["+name[0]+"](") {
			t.Errorf("no link to a test holds: %s", row)
		} else if err := find(tests, name[1], name[2], name[3]); err != nil {
			t.Errorf("ARCHITECTURE.md names %s: %v", name[0], err)
		}
	}
}

// TestDecisions checks that each decision has its four parts on one page, a number of its
// own and a line in the index, and that the tests it names exist.
func TestDecisions(t *testing.T) {
	const dir = "docs/decisions"
	files, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		t.Fatal(err)
	}
	index := read(t, dir+"/README.md")
	checkLinks(t, dir+"/README.md")
	tests := packagesOf(t)
	var numbers []string
	for _, file := range files {
		name := file.Name()
		if name == "README.md" {
			continue
		}
		if !decided.MatchString(name) {
			t.Errorf("%s is not called NNN-title.md", name)
			continue
		}
		if slices.Contains(numbers, name[:3]) {
			t.Errorf("%s has a number that is taken", name)
		}
		numbers = append(numbers, name[:3])
		text := read(t, dir+"/"+name)
		title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		if !strings.Contains(index, "["+title+"]("+name+")") {
			t.Errorf("the index has no line [%s](%s)", title, name)
		}
		var parts []string
		for _, heading := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(text, -1) {
			parts = append(parts, heading[1])
		}
		if !slices.Equal(parts, []string{"Context", "Decision", "Rejected", "Consequences"}) {
			t.Errorf("%s has the parts %v", name, parts)
		}
		if lines := strings.Count(text, "\n"); lines > decisionLines {
			t.Errorf("%s has %d lines, which is more than a page", name, lines)
		}
		checkLinks(t, dir+"/"+name)
		for _, test := range evidence.FindAllStringSubmatch(text, -1) {
			if err := find(tests, test[1], test[2], test[3]); err != nil {
				t.Errorf("%s names %s: %v", name, test[0], err)
			}
		}
	}
}

// checkLinks checks that the links of a document lead to files, and that a linked file declares the
// function or type in the text of the link.
func checkLinks(t *testing.T, name string) {
	t.Helper()
	for _, link := range linked.FindAllStringSubmatch(read(t, name), -1) {
		target := filepath.Join(filepath.Dir(name), link[2])
		if _, err := os.Stat(filepath.Join(root, target)); err != nil {
			t.Errorf("%s: %s leads nowhere", name, link[0])
			continue
		}
		symbol := named.FindStringSubmatch(link[1])
		if symbol == nil || !strings.HasSuffix(target, ".go") {
			continue
		}
		declares := regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |const |var )` + symbol[1] + `\b`)
		if !declares.MatchString(read(t, target)) {
			t.Errorf("%s: %s does not declare %s", name, target, symbol[1])
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

package arch_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	// specified matches a row about a requirement: number, requirement, state and evidence.
	specified = regexp.MustCompile(`(?m)^\| ([0-9]+) \| ([^|]+) \| ([a-z ]+) \| ([^|]+) \|$`)
	// evidence matches a test named in docs/specifications.md: the directory of the package, the
	// test, and a part of the test.
	evidence = regexp.MustCompile("`(?:([a-z0-9/]+)/)?((?:Test|Fuzz)[A-Za-z0-9_]+)(?:/([a-z0-9_]+))?`")
	// counted matches a row about a state: the state, its meaning, and the number of requirements.
	counted = regexp.MustCompile(`(?m)^\| ([a-z ]+) \| [^|]+ \| ([0-9]+) \|$`)
)

// TestSpecificationsPage checks that docs/specifications.md shows a test or a page for each
// requirement that is met, that all tests it names exist, and that it counts correctly.
func TestSpecificationsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "specifications.md"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for i, row := range specified.FindAllStringSubmatch(string(page), -1) {
		number, state, shown := row[1], row[3], row[4]
		counts[state]++
		if number != strconv.Itoa(i+1) {
			t.Fatalf("row %s stands in place %d", number, i+1)
		}
		if state != "not yet" && !evidence.MatchString(shown) && !strings.Contains(shown, "](") {
			t.Errorf("row %s is %q, and names no test and no page", number, state)
		}
	}
	if rows := strings.Count(string(page), "\n| "); rows != len(specified.FindAllString(string(page), -1))+headers(string(page)) {
		t.Error("there are rows in another form")
	}
	for _, row := range counted.FindAllStringSubmatch(string(page), -1) {
		if want := counts[row[1]]; row[2] != strconv.Itoa(want) {
			t.Errorf("%s requirements are said to be %q, want %d", row[2], row[1], want)
		}
		delete(counts, row[1])
	}
	if len(counts) > 0 {
		t.Errorf("the page does not say what these states mean: %v", counts)
	}
	packages := packagesOf(t)
	for _, named := range evidence.FindAllStringSubmatch(string(page), -1) {
		if err := find(packages, named[1], named[2], named[3]); err != nil {
			t.Errorf("docs/specifications.md names %s: %v", named[0], err)
		}
	}
}

// headers counts the rows of a page that are not requirements: heads of tables, the lines below
// them, and the states.
func headers(page string) int {
	return strings.Count(page, "\n| # |") + strings.Count(page, "\n| state |") + strings.Count(page, "\n| --- |") + len(counted.FindAllString(page, -1))
}

// packagesOf maps the name of each test to the directories of the packages that contain it.
func packagesOf(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for file, source := range testFiles(t) {
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range declared.FindAllStringSubmatch(source, -1) {
			out[match[1]] = append(out[match[1]], filepath.ToSlash(dir))
		}
	}
	return out
}

// cases maps tests to the files of their cases.
var cases = map[string]string{
	"TestScripts":      "cmd/kolla/testdata/script/%s.txtar",
	"TestScriptsAlone": "cmd/kolla/testdata/alone/%s.txtar",
	"TestDiagnostics":  "lang/testdata/diagnostics/%s",
}

// find checks that a named test exists, with the named part.
func find(packages map[string][]string, dir, test, part string) error {
	if file := cases[test]; file != "" && dir == "" && part != "" {
		_, err := os.Stat(filepath.Join(root, fmt.Sprintf(file, part)))
		return err
	}
	at := packages[test]
	switch {
	case dir != "" && slices.Contains(at, dir):
		at = []string{dir}
	case dir != "" || len(at) == 0:
		return errors.New("there is no such test")
	case len(at) > 1:
		return fmt.Errorf("several packages have a test of that name: %v", at)
	}
	if part == "" {
		return nil
	}
	return findStep(filepath.Join(root, at[0]), part)
}

// findStep checks that a test has a step. Steps are written as in internal/dev/realcloud.
func findStep(dir, part string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.Contains(string(source), fmt.Sprintf("{%q, ", strings.ReplaceAll(part, "_", " "))) {
			return nil
		}
	}
	return errors.New("the test has no such step")
}

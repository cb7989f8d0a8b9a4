package arch_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the root directory of the project.
const root = "../../.."

var (
	// namedTest matches a test or a script named in docs/security.md.
	namedTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+)(?:/([a-z0-9_]+))?`")
	declared  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	comment   = regexp.MustCompile(`(?s)<!--.*?-->`)
)

// TestSecurityPage checks that each promise in docs/security.md names tests, and that all
// of them exist.
func TestSecurityPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := comment.ReplaceAllString(string(page), "")
	_, table, found := strings.Cut(text, "| promise | tests |\n| --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(strings.TrimSpace(table), "\n")
	if !found || len(rows) < 10 {
		t.Fatalf("found %d promises", len(rows))
	}
	for _, row := range rows {
		if !namedTest.MatchString(row) {
			t.Errorf("no test holds: %s", row)
		}
	}
	tests := testsOf(t)
	for _, named := range namedTest.FindAllStringSubmatch(text, -1) {
		name, script := named[1], named[2]
		if !tests[name] {
			t.Errorf("docs/security.md names %s, which does not exist", name)
		}
		if script == "" || script == "NAME" {
			continue
		}
		dir := map[string]string{"TestScripts": "script", "TestScriptsAlone": "alone"}[name]
		if _, err := os.Stat(filepath.Join(root, "cmd", "kolla", "testdata", dir, script+".txtar")); dir == "" || err != nil {
			t.Errorf("docs/security.md names %s/%s, which does not exist", name, script)
		}
	}
}

// testsOf returns the names of all tests and fuzz tests of the project.
func testsOf(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	for _, source := range testFiles(t) {
		for _, match := range declared.FindAllStringSubmatch(source, -1) {
			tests[match[1]] = true
		}
	}
	return tests
}

// testFiles returns the sources of all tests, by file name.
func testFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "testdata" || path == filepath.Join(root, "bin")):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("look for tests: %w", err)
		}
		files[path] = string(source)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestShippedBuild checks that the released program contains no directory names of the machine that
// built it.
func TestShippedBuild(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	builds := regexp.MustCompile(`(?m)^\tgo build .*-o bin/kolla .*$`).FindAllString(string(makefile), -1)
	if len(builds) != 1 || !strings.Contains(builds[0], " -trimpath ") {
		t.Errorf("bin/kolla is built by %q, without -trimpath", builds)
	}
}

// TestVulnerabilities checks how make check handles the results of govulncheck.
func TestVulnerabilities(t *testing.T) {
	tests := map[string]struct {
		answer string // the script that stands in for govulncheck
		code   int
		says   string
	}{
		"none":             {`echo "No vulnerabilities found."`, 0, "No known vulnerability (file:///mirror)"},
		"some":             {`echo "Vulnerability #1: GO-1"; exit 3`, 1, "Vulnerability #1: GO-1"},
		"no database":      {`echo "govulncheck: fetching vulnerabilities: no such host" >&2; exit 1`, 0, "NOT CHECKED for known vulnerabilities: file:///mirror"},
		"it does not work": {`echo "loading packages: no go.mod" >&2; exit 1`, 1, "loading packages"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tool := filepath.Join(t.TempDir(), "govulncheck")
			if err := os.WriteFile(tool, []byte("#!/bin/sh\n"+test.answer+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			command := exec.Command(filepath.Join(root, "internal", "dev", "tools", "vulnerabilities"))
			command.Env = append(os.Environ(), "GOVULNCHECK="+tool, "GOVULNDB=file:///mirror")
			output, err := command.CombinedOutput()
			code := 0
			var exit *exec.ExitError
			switch {
			case errors.As(err, &exit):
				code = exit.ExitCode()
			case err != nil:
				t.Fatal(err)
			}
			if code != test.code || !strings.Contains(string(output), test.says) {
				t.Errorf("exit code %d, want %d, and %q in:\n%s", code, test.code, test.says, output)
			}
		})
	}
}

package lang_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// smallCatalogue is a catalogue whose line numbers tests can rely on.
func smallCatalogue() fs.FS { return os.DirFS("testdata/catalogue") }

// builtinCatalogue is the one that kolla comes with.
func builtinCatalogue() fs.FS { return os.DirFS("../providers/openstack/catalogue") }

// cases are the directories below a directory of testdata.
func cases(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if len(names) == 0 {
		t.Fatalf("no cases in %s", dir)
	}
	return names
}

// assigned are the options -var.
func assigned(assignments ...string) []lang.Var {
	var out []lang.Var
	for _, a := range assignments {
		out = append(out, lang.Var{Assignment: a})
	}
	return out
}

// varFiles are the options -var-file.
func varFiles(names ...string) []lang.Var {
	var out []lang.Var
	for _, name := range names {
		out = append(out, lang.Var{File: name})
	}
	return out
}

// lines are the lines of a file that need not be there.
func lines(t *testing.T, name string) []string {
	t.Helper()
	source, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(source)), "\n")
}

// render writes diagnostics so that all of what they say can be compared, with
// the names of files relative to dir, if that is not empty.
func render(diags hcl.Diagnostics, dir string) []byte {
	var b bytes.Buffer
	for _, d := range diags {
		severity := "Error"
		if d.Severity == hcl.DiagWarning {
			severity = "Warning"
		}
		fmt.Fprintf(&b, "%s: %s\n", severity, d.Summary)
		if d.Subject != nil {
			fmt.Fprintf(&b, "  at %s\n", d.Subject)
		}
		for _, fact := range lang.FactsOf(d) {
			fmt.Fprintf(&b, "  where %s %s\n", fact.Reference, fact.Statement)
		}
		if d.Detail != "" {
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(d.Detail, "\n", "\n  "))
		}
		b.WriteString("\n")
	}
	if dir == "" {
		return b.Bytes()
	}
	return bytes.ReplaceAll(b.Bytes(), []byte(dir+string(filepath.Separator)), nil)
}

// TestDiagnostics compares what is said about faulty configurations, one in each
// directory, with want.txt there.
func TestDiagnostics(t *testing.T) {
	const root = "testdata/diagnostics"
	for _, name := range cases(t, root) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			config, diags := lang.Load(dir, lang.Options{
				Catalogue: smallCatalogue(),
				Vars:      append(varFiles(lines(t, filepath.Join(dir, "varfiles.txt"))...), assigned(lines(t, filepath.Join(dir, "vars.txt"))...)...),
				Environ:   lines(t, filepath.Join(dir, "environ.txt")),
				Prompt:    silent(lines(t, filepath.Join(dir, "prompt.txt"))),
			})
			got := render(diags, dir)
			golden.Compare(t, filepath.Join(dir, "want.txt"), got)
			checkDiagnostics(t, diags, config.Files)
			if bytes.Contains(got, []byte("hunter2")) {
				t.Error("a sensitive value is shown")
			}
			if bytes.ContainsAny(got, "\uefe0\uefe1") {
				t.Error("a token is shown")
			}
		})
	}
}

// silent is a prompt that nobody answers, because of the reason given; nil: there is
// nobody to ask.
func silent(reason []string) func(configs.Variable) (string, error) {
	if reason == nil {
		return nil
	}
	return func(configs.Variable) (string, error) { return "", errors.New(reason[0]) }
}

// checkDiagnostics holds what is true of all diagnostics.
func checkDiagnostics(t *testing.T, diags hcl.Diagnostics, files map[string]*hcl.File) {
	t.Helper()
	for _, d := range diags {
		if d.EvalContext != nil || d.Expression != nil {
			t.Errorf("%s: a renderer could show values of variables", d.Summary)
		}
		if !slices.Contains([]string{".", "?", ")", "}", "]", ","}, d.Detail[max(0, len(d.Detail)-1):]) && !strings.Contains(d.Detail, "\n\n") {
			t.Errorf("%s: the detail is not a sentence: %q", d.Summary, d.Detail)
		}
		if d.Subject == nil {
			continue
		}
		file := files[d.Subject.Filename]
		if strings.HasSuffix(strings.TrimSuffix(d.Subject.Filename, ".json"), ".vars.hcl") {
			if file != nil {
				t.Errorf("%s: %s holds values and would be quoted", d.Summary, d.Subject.Filename)
			}
			continue
		}
		if file == nil {
			t.Errorf("%s: the source of %s is not known", d.Summary, d.Subject.Filename)
			continue
		}
		if d.Subject.End.Byte > len(file.Bytes) {
			t.Errorf("%s: %s is after the end of the file", d.Summary, d.Subject)
		}
	}
}

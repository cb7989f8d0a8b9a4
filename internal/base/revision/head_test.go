package revision_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/base/revision"
)

// TestHead checks which files make a work tree differ from its commit, and that git runs no filter
// that the repository configures.
func TestHead(t *testing.T) {
	root := t.TempDir()
	t.Setenv("HOME", root)
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", root, "-c", "user.name=dev", "-c", "user.email=dev@example.org"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	t.Chdir(root)
	head := func(dir string) (string, bool, error) {
		return revision.Head(t.Context(), dir, []string{".hcl"}, func(name string) bool { return name == "state.json" })
	}
	if _, _, err := head("."); err == nil {
		t.Error("a repository without a commit has one")
	}
	write("prod/cloud.hcl", "cloud")
	write("prod/files/a.txt", "a")
	write("prod/state.json", "1")
	write("other/cloud.hcl", "other")
	if err := os.Symlink("files/a.txt", "prod/link"); err != nil {
		t.Fatal(err)
	}
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	commit := git("rev-parse", "HEAD")
	write(".gitattributes", "* filter=evil\n")
	git("config", "filter.evil.clean", "touch "+filepath.Join(root, "ran"))

	for _, step := range []struct {
		name    string
		do      func()
		changed bool
	}{
		{"nothing", func() {}, false},
		{"the state", func() { write("prod/state.json", "2") }, false},
		{"another directory", func() { write("other/cloud.hcl", "x") }, false},
		{"an untracked file of another kind", func() { write("prod/notes.txt", "x") }, false},
		{"the same content again", func() { write("prod/cloud.hcl", "cloud") }, false},
		{"a template", func() { write("prod/files/a.txt", "b") }, true},
		{"back", func() { write("prod/files/a.txt", "a") }, false},
		{"an untracked file", func() { write("prod/sub/more.hcl", "x") }, true},
		{"back again", func() { _ = os.Remove("prod/sub/more.hcl") }, false},
		{"a link", func() { _ = os.Remove("prod/link"); _ = os.Symlink("files/b.txt", "prod/link") }, true},
		{"a file for the link", func() { _ = os.Remove("prod/link"); write("prod/link", "files/a.txt") }, true},
		{"a missing file", func() {
			_ = os.Remove("prod/link")
			_ = os.Symlink("files/a.txt", "prod/link")
			_ = os.Remove("prod/cloud.hcl")
		}, true},
	} {
		step.do()
		got, changed, err := head("prod")
		if err != nil || got != commit || changed != step.changed {
			t.Errorf("%s: commit %s, changed %t, %v; want %s, %t", step.name, got, changed, err, commit, step.changed)
		}
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Error("git ran a filter of the repository")
	}
	if _, _, err := revision.Head(t.Context(), t.TempDir(), nil, func(string) bool { return false }); err == nil {
		t.Error("a directory without a repository has a commit")
	}
}

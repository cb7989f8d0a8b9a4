package revision_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/revision"
)

// repository makes a repository with a commit, and changes into a directory of it. It removes the
// files from the disk, so that only the commit contains them.
func repository(t *testing.T) *revision.Tree {
	t.Helper()
	root := t.TempDir()
	t.Setenv("HOME", root)
	for name, content := range map[string]string{
		"clouds/prod/cloud.hcl": "cloud", "clouds/prod/files/a.txt": "a", "clouds/prod/files/deep/b.txt": "b",
		"common/main.hcl": "module", "big": strings.Repeat("x", files.MaxSize+1),
	} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"clouds/prod/link.hcl": "../../common/main.hcl", "clouds/prod/dir": "files", "clouds/prod/out": "../../../etc/passwd",
		"clouds/prod/absolute": "/etc/passwd", "clouds/prod/loop": "loop", "clouds/prod/nowhere": "missing",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=dev", "-c", "user.email=dev@example.org", "commit", "-q", "-m", "first"}, {"tag", "first"},
	} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, name := range []string{"common", "clouds/prod/files", "clouds/prod/cloud.hcl"} {
		if err := os.RemoveAll(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(root, "clouds/prod"))
	r, err := revision.Find(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.Tree(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestTree checks that files, directories and links are read from a commit although they are not on
// the disk.
func TestTree(t *testing.T) {
	tree := repository(t)
	for name, want := range map[string]string{
		"cloud.hcl": "cloud", "./files/a.txt": "a", "../../common/main.hcl": "module", "link.hcl": "module", "dir/deep/b.txt": "b",
	} {
		if got, err := fs.ReadFile(tree, name); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
		if info, err := fs.Stat(tree, name); err != nil || info.IsDir() || info.Size() == 0 && want != "" {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	list := func(dir string) (names []string) {
		entries, err := fs.ReadDir(tree, dir)
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			name := e.Name()
			if e.IsDir() {
				name += "/"
			}
			names = append(names, name)
		}
		return names
	}
	if got, want := list("."), []string{"absolute", "cloud.hcl", "dir/", "files/", "link.hcl", "loop", "nowhere", "out"}; !slices.Equal(got, want) {
		t.Errorf("the directory has %q, want %q", got, want)
	}
	if got, want := list("../.."), []string{"big", "clouds/", "common/"}; !slices.Equal(got, want) {
		t.Errorf("the repository has %q, want %q", got, want)
	}
	if got, err := fs.Glob(tree, "dir/*.txt"); len(got) != 1 || err != nil {
		t.Errorf("dir/*.txt matches %q, %v", got, err)
	}
}

// TestAbsolute checks that absolute paths in the work tree name files of the revision.
func TestAbsolute(t *testing.T) {
	tree := repository(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := errors.Join(os.Symlink(filepath.Join(here, "../.."), filepath.Join(elsewhere, "root")), os.Symlink(here, filepath.Join(elsewhere, "prod"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(here, "files/a.txt"): "files/a.txt", filepath.Join(here, "../../common"): "../../common", here: ".",
		filepath.Join(elsewhere, "root/clouds/prod/files/a.txt"): "files/a.txt", filepath.Join(elsewhere, "prod/files"): "files",
	} {
		if name, ok := tree.Relative(path); name != want || !ok {
			t.Errorf("%s is %q, %v, want %q", path, name, ok, want)
		}
	}
	for _, path := range []string{"/etc/passwd", filepath.Join(here, "../../.."), filepath.Join(here, "../../..", filepath.Base(filepath.Dir(filepath.Dir(here)))+"-more")} {
		if name, ok := tree.Relative(path); ok {
			t.Errorf("%s is %q of the work tree", path, name)
		}
	}
	if got, err := fs.ReadFile(tree, filepath.Join(here, "files/a.txt")); string(got) != "a" || err != nil {
		t.Errorf("an absolute path has %q, %v", got, err)
	}
}

// TestInterrupted checks the error after an interruption.
func TestInterrupted(t *testing.T) {
	repository(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := revision.Find(ctx, "."); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want an interruption", err)
	}
}

// TestNoTree checks the errors about files that are missing, too large or outside of the
// repository, and about unknown revisions.
func TestNoTree(t *testing.T) {
	tree := repository(t)
	for name, want := range map[string]string{
		"missing": "file does not exist", "nowhere": "file does not exist", "files": "but a directory",
		"../../../etc/passwd": "outside of the git repository", "out": "outside of the git repository", "absolute": "outside of the git repository",
		"loop": "too many links", "../../big": "more than 16 MiB",
	} {
		_, err := fs.ReadFile(tree, name)
		var path *fs.PathError
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &path) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	r, err := revision.Find(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"second", "--all", ""} {
		_, err := r.Tree(t.Context(), name)
		var f *failure.Error
		if !errors.As(err, &f) || !strings.Contains(f.Summary, "No revision") {
			t.Errorf("revision %q: %v", name, err)
		}
	}
}

// TestNoGit checks the errors if the directory is in no repository, and if git is not installed.
func TestNoGit(t *testing.T) {
	if _, err := revision.Find(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "No git repository") {
		t.Errorf("outside of a repository: %v", err)
	}
	repository(t)
	t.Setenv("PATH", t.TempDir())
	if _, err := revision.Find(t.Context(), "."); err == nil || !strings.Contains(err.Error(), "git is not installed") {
		t.Errorf("without git: %v", err)
	}
}

// TestUntracked checks that untracked files of the directory are listed, even if git ignores them.
func TestUntracked(t *testing.T) {
	repository(t)
	for _, name := range []string{"kolla.vars.hcl", "other.txt", "tracked.vars.hcl", "below/x.vars.hcl"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("../../.gitignore", []byte("*.vars.hcl\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "add", "-f", "tracked.vars.hcl").CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	r, err := revision.Find(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Untracked(t.Context(), "*.vars.hcl")
	if !slices.Equal(got, []string{"kolla.vars.hcl"}) || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

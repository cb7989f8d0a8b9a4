// Package revision reads the files of a git revision. It needs no work tree of the revision,
// writes nothing, and reads only the files that are asked for.
package revision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/internal/failure"
)

// Repository is the git repository that contains a directory.
type Repository struct {
	dir    string
	prefix string // of the directory in the repository, with slashes
}

// Find returns the repository that contains a directory.
func Find(ctx context.Context, dir string) (*Repository, error) {
	r := &Repository{dir: dir}
	prefix, err := r.git(ctx, "rev-parse", "--show-prefix")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, failure.New("git is not installed", "kolla reads the files of a revision with git. Install it, or compare two directories.")
	case err != nil && ctx.Err() == nil:
		return nil, failure.New("No git repository", fmt.Sprintf("A revision is one of the repository that contains the configuration: %s. Work in a clone, or compare two directories.", err))
	case err != nil:
		return nil, err
	}
	r.prefix = strings.TrimSuffix(strings.TrimSuffix(string(prefix), "\n"), "/")
	return r, nil
}

// Untracked lists the files in the directory itself that are not in the index and match one
// of the patterns.
func (r *Repository) Untracked(ctx context.Context, patterns ...string) ([]string, error) {
	list, err := r.git(ctx, append([]string{"ls-files", "-z", "--others", "--"}, patterns...)...)
	if err != nil {
		return nil, fmt.Errorf("list untracked files: %w", err)
	}
	var out []string
	for name := range strings.SplitSeq(string(list), "\x00") {
		if name != "" && !strings.Contains(name, "/") {
			out = append(out, name)
		}
	}
	return out, nil
}

// Tree returns the files of a revision: a branch, a tag, a commit, or anything else that git
// knows as a commit.
func (r *Repository) Tree(ctx context.Context, name string) (*Tree, error) {
	commit, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, failure.New(fmt.Sprintf("No revision %q", name), "There is no directory and no branch, tag or commit of that name. A clone may have only a part of the history: a job of CI usually has to fetch the branch first (git fetch origin NAME), and to name it as origin/NAME.")
	}
	t := &Tree{ctx: ctx, repository: r, Commit: strings.TrimSpace(string(commit)), files: map[string]*entry{}, children: map[string][]string{}}
	list, err := r.git(ctx, "ls-tree", "-r", "-l", "-z", "--full-tree", t.Commit)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", name, err)
	}
	for line := range strings.SplitSeq(string(list), "\x00") {
		about, file, ok := strings.Cut(line, "\t")
		parts := strings.Fields(about)
		if !ok || len(parts) != 4 || parts[1] != "blob" { // a submodule has a commit
			continue
		}
		size, err := strconv.ParseInt(parts[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("list the files of %s: %q is no size", name, parts[3])
		}
		t.add(file, &entry{id: parts[2], size: size, link: parts[0] == "120000"})
	}
	return t, nil
}

// git runs git. The error has its first message.
func (r *Repository) git(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", r.dir, "--no-optional-locks"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && stderr.Len() > 0 {
		first, _, _ := strings.Cut(strings.TrimPrefix(stderr.String(), "fatal: "), "\n")
		err = errors.New(strings.TrimSuffix(first, "."))
	}
	return stdout.Bytes(), err
}

// within returns the path in the repository of a path that is relative to the directory.
func (r *Repository) within(name string) (string, error) {
	full := path.Join(r.prefix, filepath.ToSlash(name))
	if full == ".." || strings.HasPrefix(full, "../") {
		return "", errOutside
	}
	return full, nil
}

var errOutside = errors.New("it is outside of the git repository")

// Package revision reads the files of a git revision. It needs no work tree of the revision,
// writes nothing, and reads only the files that are asked for.
//
// The work tree may be the branch of a stranger, and git can be told to start programs and to look
// elsewhere: by a directory that looks like a repository, by the environment, and by settings that
// a repository includes from its work tree. So this package finds the repository itself and gives
// it to git, and takes from git only commands that read objects and the index; see run.
package revision

import (
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
	gitDir string // HEAD and index are here
	root   string // of the work tree
	dir    string // the directory, below root
}

// Find returns the repository that contains a directory. It is the one that the closest entry
// ".git" names, because no commit can contain such an entry. A directory that only looks like a
// repository (HEAD, objects, refs, config) is content like any other.
func Find(ctx context.Context, dir string) (*Repository, error) {
	r, err := find(dir)
	if err != nil {
		return nil, err
	}
	switch _, err := r.run(ctx, "rev-parse", "--git-dir"); {
	case errors.Is(err, exec.ErrNotFound):
		return nil, failure.New("git is not installed", "kolla reads the files of a revision with git. Install it, or compare two directories.")
	case err != nil && ctx.Err() == nil:
		return nil, noRepository(err.Error())
	case err != nil:
		return nil, err
	}
	return r, nil
}

func noRepository(why string) error {
	return failure.New("No git repository", fmt.Sprintf("A revision is one of the repository that contains the configuration: %s. Work in a clone, or compare two directories, each written as a path: ./NAME.", why))
}

// Untracked lists the files in the directory itself that are not in the index and match one
// of the patterns.
func (r *Repository) Untracked(ctx context.Context, patterns ...string) ([]string, error) {
	list, err := r.run(ctx, append([]string{"ls-files", "-z", "--others", "--"}, patterns...)...)
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
	commit, err := r.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, failure.New(fmt.Sprintf("No revision %q", name), "There is no branch, tag or commit of that name. CI often clones only a part of the history: fetch the branch first (git fetch origin NAME), and name it as origin/NAME. A directory is written as a path: ./NAME.")
	}
	t := &Tree{ctx: ctx, repository: r, Commit: strings.TrimSpace(string(commit)), files: map[string]*entry{}, children: map[string][]string{}}
	list, err := r.run(ctx, "ls-tree", "-r", "-l", "-z", "--full-tree", t.Commit)
	lacking := failure.New(fmt.Sprintf("The clone lacks files of %s", name), fmt.Sprintf("It is partial or damaged. kolla does not let git fetch missing files, because a clone can name programs for that. For a partial clone, fetch them first: git archive %s > /dev/null", t.Commit))
	switch {
	case err != nil && strings.Contains(err.Error(), "promisor"): // the source of a partial clone
		return nil, lacking
	case err != nil:
		return nil, fmt.Errorf("list the files of %s: %w", name, err)
	}
	for line := range strings.SplitSeq(string(list), "\x00") {
		about, file, ok := strings.Cut(line, "\t")
		parts := strings.Fields(about)
		if !ok || len(parts) != 4 || parts[1] != "blob" { // a submodule has a commit
			continue
		}
		if parts[3] == "BAD" { // what git knows no size of
			return nil, lacking
		}
		size, err := strconv.ParseInt(parts[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("list the files of %s: %q is no size", name, parts[3])
		}
		t.add(file, &entry{id: parts[2], size: size, link: parts[0] == "120000"})
	}
	return t, nil
}

// within returns the path in the repository of a path that is relative to the directory.
func (r *Repository) within(name string) (string, error) {
	prefix, err := filepath.Rel(r.root, r.dir)
	if err != nil {
		return "", err
	}
	full := path.Join(filepath.ToSlash(prefix), filepath.ToSlash(name))
	if full == ".." || strings.HasPrefix(full, "../") {
		return "", errOutside
	}
	return full, nil
}

var errOutside = errors.New("it is outside of the git repository")

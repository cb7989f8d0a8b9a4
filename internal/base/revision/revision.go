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
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/internal/base/failure"
)

// Repository is the git repository that contains a directory.
type Repository struct {
	gitDir string // HEAD and index are here
	root   string // of the work tree, without links
	dir    string // the directory, in root or below it, without links
}

// Find returns the repository that contains a directory. It is the one of the closest entry
// ".git": no commit can contain such an entry, and one of a submodule is refused. A directory that
// only looks like a repository (HEAD, objects, refs, config) is content like any other.
func Find(ctx context.Context, dir string) (*Repository, error) {
	r, err := find(dir)
	if err != nil {
		return nil, err
	}
	_, _, err = r.run(ctx, "", "rev-parse", "--git-dir")
	var said *failure.Error
	if err != nil && ctx.Err() == nil && !errors.As(err, &said) {
		return nil, noRepository(err.Error())
	}
	if err != nil {
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
	args := []string{"ls-files", "-z", "--others", "--"}
	for _, pattern := range patterns {
		args = append(args, ":(glob)"+pattern)
	}
	list, _, err := r.run(ctx, "", args...)
	if err != nil {
		return nil, fmt.Errorf("list untracked files: %w", err)
	}
	return fields(list), nil
}

// fields splits a list of git.
func fields(list []byte) []string {
	return strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 })
}

// fullName matches the full name of a commit. It names the commit even if a ref has the same name.
var fullName = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Tree returns the files of a revision: a branch, a tag, a commit, or anything else with which git
// names a commit.
func (r *Repository) Tree(ctx context.Context, name string) (*Tree, error) {
	commit, messages, err := r.run(ctx, "", "rev-parse", "--verify", "--end-of-options", name+"^{commit}")
	var said *failure.Error
	switch {
	case err != nil && (ctx.Err() != nil || errors.As(err, &said)):
		return nil, err
	case err != nil:
		return nil, failure.New(fmt.Sprintf("No revision %q", name), "There is no branch, tag or commit of that name. CI often clones only a part of the history: fetch the branch first (git fetch origin NAME), and name it as origin/NAME. A directory is written as a path: ./NAME.")
	case !fullName.MatchString(strings.TrimSpace(string(commit))): // such as ^main
		return nil, failure.New(fmt.Sprintf("No revision %q", name), "It does not name one commit.")
	case strings.Contains(messages, "is ambiguous") && !fullName.MatchString(name):
		return nil, failure.New(fmt.Sprintf("Several revisions are called %q", name), "A fetch also brings tags, which anybody may have named so. Write refs/remotes/origin/NAME, refs/heads/NAME or refs/tags/NAME, or the full name of the commit.")
	}
	if err := r.refuseTag(ctx, name); err != nil {
		return nil, err
	}
	t := &Tree{ctx: ctx, repository: r, Commit: strings.TrimSpace(string(commit)), files: map[string]*entry{}, children: map[string][]string{}}
	list, _, err := r.run(ctx, "", "ls-tree", "-r", "-l", "-z", "--full-tree", t.Commit)
	switch {
	case errors.Is(err, errPartial):
		return nil, failure.New(fmt.Sprintf("The clone lacks files of %s", name), fmt.Sprintf("It is a partial clone, and kolla lets git fetch nothing. Fetch the files first: git archive %s > /dev/null", t.Commit))
	case err != nil:
		return nil, fmt.Errorf("list the files of %s: %w", name, err)
	}
	for _, line := range fields(list) {
		about, file, ok := strings.Cut(line, "\t")
		parts := strings.Fields(about)
		if !ok || len(parts) != 4 || parts[1] != "blob" { // a submodule has a commit
			continue
		}
		size, err := strconv.ParseInt(parts[3], 10, 64)
		if err != nil {
			size = missing // git has no number for an object that is not there
		}
		if err := t.add(file, &entry{id: parts[2], size: size, link: parts[0] == "120000"}); err != nil {
			return nil, fmt.Errorf("list the files of %s: %w", name, err)
		}
	}
	if err := t.readLinks(); err != nil {
		return nil, fmt.Errorf("read the links of %s: %w", name, err)
	}
	if err := t.refuseLinks(); err != nil {
		return nil, err
	}
	if full, err := t.resolve("."); err != nil || full != "." && t.children[full] == nil {
		return nil, failure.New(fmt.Sprintf("%s has no such directory", name), fmt.Sprintf("The configuration is in %s, which this revision does not have. If it was at another place, check the revision out (git worktree add), and compare two directories.", full))
	}
	return t, nil
}

// refuseTag refuses a tag whose name looks like a branch: a fetch brings tags of strangers.
func (r *Repository) refuseTag(ctx context.Context, name string) error {
	if strings.HasPrefix(name, "tags/") || strings.HasPrefix(name, "refs/") || !strings.Contains(name, "/") && !strings.HasSuffix(name, "HEAD") {
		return nil
	}
	ref, _, err := r.run(ctx, "", "rev-parse", "--symbolic-full-name", "--end-of-options", name)
	if ctx.Err() != nil {
		return err
	}
	if tag, ok := strings.CutPrefix(lastLine(ref), "refs/tags/"); ok {
		return failure.New(fmt.Sprintf("%q is only a tag", name), fmt.Sprintf("There is no branch of that name, and tags of that form may come from anybody. Fetch the branch, or write refs/tags/%s if it is meant.", tag))
	}
	return nil
}

// lastLine returns the last line of git's output, because git may print an option before it.
func lastLine(answer []byte) string {
	lines := strings.Split(strings.TrimSpace(string(answer)), "\n")
	return lines[len(lines)-1]
}

// refuseLinks refuses a revision in which a link of the work tree is a directory, if the link leads
// to the directory of the configuration or to a parent. The branch has replaced the directory by a
// link, and the user may have come through it: the revision would be read at another place.
func (t *Tree) refuseLinks() error {
	list, _, err := t.repository.run(t.ctx, "", "ls-files", "-z", "--full-name", "--stage", ":/")
	if err != nil {
		return fmt.Errorf("list the links of the work tree: %w", err)
	}
	for _, line := range fields(list) {
		about, file, _ := strings.Cut(line, "\t")
		if !strings.HasPrefix(about, "120000 ") || t.children[file] == nil {
			continue
		}
		real, err := filepath.EvalSymlinks(filepath.Join(t.repository.root, filepath.FromSlash(file)))
		if err == nil && (real == t.repository.dir || within(real, t.repository.dir)) {
			return failure.New("The directory is a link", fmt.Sprintf("%s is a link to the directory of the configuration, and in %s it was a directory of its own. Check the revision out (git worktree add), and compare two directories.", file, t.Commit))
		}
	}
	return nil
}

// within returns the path in the repository of a name that is absolute or relative to the
// directory.
func (r *Repository) within(name string) (string, error) {
	full := filepath.Join(r.dir, filepath.FromSlash(name))
	if filepath.IsAbs(name) {
		full = r.real(filepath.Clean(name))
	}
	rel, err := filepath.Rel(r.root, full)
	if rel = filepath.ToSlash(rel); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return "", errOutside
	}
	return path.Clean(rel), nil
}

// real resolves the links at the beginning of an absolute path that leads into the work tree. Links
// within the work tree stay, because the links of the revision count.
func (r *Repository) real(full string) string {
	separator := string(filepath.Separator)
	for end := 0; end < len(full); {
		next := strings.Index(full[end+1:], separator)
		if next < 0 {
			next = len(full) - end - 1
		}
		end += 1 + next
		real, err := filepath.EvalSymlinks(full[:end])
		if err != nil {
			break
		}
		if real == r.root || within(r.root, real) {
			return real + full[end:]
		}
	}
	return full
}

var errOutside = errors.New("it is outside of the git repository")

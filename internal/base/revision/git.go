package revision

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/failure"
)

// find returns the repository of a directory without asking git.
func find(dir string) (*Repository, error) {
	named, err := filepath.Abs(dir) // contains the links through which the user came, if $PWD does
	r := &Repository{}
	if err == nil {
		r.dir, err = filepath.EvalSymlinks(named)
	}
	if err != nil {
		return nil, noRepository(err.Error())
	}
	if r.root, r.gitDir, err = closest(r.dir); err != nil {
		return nil, err
	}
	// A branch can contain a link to another clone. refuseLinks finds links within the clone.
	if came, _, err := closest(named); err == nil {
		if real, err := filepath.EvalSymlinks(came); err == nil && real != r.root {
			return nil, failure.New("The directory is a link", fmt.Sprintf("%s, in the clone %s, leads to another clone, %s. Work in the directory itself.", named, came, r.root))
		}
	}
	return r, refuseSubmodule(r)
}

// refuseSubmodule refuses a repository that is a submodule of one in a parent directory: the branch
// of the outer repository can make any directory a submodule.
func refuseSubmodule(r *Repository) error {
	for dir := r.root; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		outer, err := gitDirOf(filepath.Join(dir, ".git"))
		if err != nil { // for example, it belongs to another user
			outer = filepath.Join(dir, ".git")
		}
		if outer != "" && within(commonDir(outer), commonDir(r.gitDir)) {
			return failure.New("The configuration is in a submodule", fmt.Sprintf("%s is a submodule of %s. A branch can replace it by a repository with branches of its own, so kolla takes no revision from it. Check the other version out elsewhere (git worktree add), and compare the two directories: kolla diff ../OTHER .", r.root, dir))
		}
	}
	return nil
}

// errNoEntry means that neither the directory nor a parent has an entry ".git".
var errNoEntry = noRepository("the directory is in no work tree of git")

// closest returns the first directory with a repository, from dir upwards, and the directory of
// the repository.
func closest(dir string) (root, gitDir string, err error) {
	for root := dir; ; root = filepath.Dir(root) {
		gitDir, err := gitDirOf(filepath.Join(root, ".git"))
		if err != nil {
			return "", "", noRepository(err.Error())
		}
		if gitDir != "" {
			return root, gitDir, nil
		}
		if root == filepath.Dir(root) {
			return "", "", errNoEntry
		}
	}
}

// gitDirOf returns the directory of the repository that an entry ".git" names: itself, or the
// directory in the file, as in a linked work tree. It is empty if there is no such entry.
func gitDirOf(entry string) (string, error) {
	info, err := os.Stat(entry)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case info.IsDir():
		_, err := os.Lstat(filepath.Join(entry, "HEAD"))
		if errors.Is(err, os.ErrNotExist) {
			return "", nil // git passes over it as well
		}
		if err != nil {
			return "", err
		}
		return filepath.EvalSymlinks(entry)
	}
	text, err := readLine(entry)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok {
		return "", fmt.Errorf("%s names no repository", entry)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(entry), target)
	}
	return filepath.EvalSymlinks(target)
}

// commonDir returns the directory that a linked work tree shares with the others.
func commonDir(gitDir string) string {
	target, err := readLine(filepath.Join(gitDir, "commondir"))
	switch {
	case err != nil:
		return gitDir
	case filepath.IsAbs(target):
		return target
	}
	return filepath.Join(gitDir, target)
}

// readLine reads a small regular file with one line.
func readLine(name string) (string, error) {
	const maxSize = 8192
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSize {
		return "", fmt.Errorf("%s is no small file, as git writes it", name)
	}
	text, err := os.ReadFile(name)
	return strings.TrimRight(string(text), "\r\n"), err
}

// program returns the path of git. It must not be a program of the work tree.
func (r *Repository) program() (string, error) {
	name, err := exec.LookPath("git")
	if errors.Is(err, exec.ErrNotFound) {
		return "", failure.New("git is not installed", "kolla reads the files of a revision with git. Install it, or compare two directories.")
	}
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", err
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(name) || within(r.root, real) || within(r.root, filepath.Join(dir, "git")) {
		return "", failure.New("git is in the work tree", fmt.Sprintf("$PATH finds %s, which a branch can bring. Take the work tree out of $PATH.", name))
	}
	return name, nil
}

// within reports whether a path is below a directory.
func within(dir, path string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// maxAnswer limits the memory for the output of git: the list of about 500,000 files.
const maxAnswer = 64 << 20

// errPartial means that a partial clone lacks an object.
var errPartial = errors.New("the clone is partial and lacks it")

// run runs a command of git that reads objects or the index, and returns its output and its
// messages. The error has the message of git.
//
// Nothing in the work tree can influence git:
//
//   - The repository is given, so git does not look for one. Its owner does not matter: in
//     containers of CI, the owner is often another user.
//   - The settings of the user, of the system and of the environment have no effect.
//   - The settings of the repository have an effect, because git needs its formats. They may
//     include a file of the work tree. So the command line overrides the settings with which
//     these commands would start a program. TestNoSettingStartsAProgram tries all settings of git.
//   - No transport is permitted, not even to fetch an object that a partial clone lacks.
func (r *Repository) run(parent context.Context, stdin string, args ...string) (out []byte, messages string, err error) {
	program, err := r.program()
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append([]string{
		"--git-dir=" + r.gitDir, "--work-tree=" + r.root, "--no-optional-locks", "--no-replace-objects", "--no-pager",
		"-c", "core.fsmonitor=", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.warnAmbiguousRefs=true",
	}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), steers), environment...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.WaitDelay = time.Second // for child processes of git
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, "", fmt.Errorf("start git: %w", err)
	}
	out, err = io.ReadAll(io.LimitReader(stdout, maxAnswer+1))
	if len(out) > maxAnswer {
		cancel()
		err = fmt.Errorf("the answer of git %s has more than %d MiB; compare two directories instead", args[0], maxAnswer>>20)
	}
	ended := cmd.Wait()
	switch {
	case parent.Err() != nil:
		return nil, "", parent.Err()
	case err != nil:
		return nil, "", err
	case ended != nil && strings.Contains(stderr.String(), "promisor"): // git's word for the source of a partial clone
		return nil, "", errPartial
	case ended != nil && stderr.Len() > 0:
		ended = errors.New(reason(stderr.String()))
	}
	return out, stderr.String(), ended
}

// steers reports whether a variable changes what git does, or which libraries it loads. An empty
// element in the library path is the current directory.
func steers(variable string) bool {
	return strings.HasPrefix(variable, "GIT_") || strings.HasPrefix(variable, "LD_") || strings.HasPrefix(variable, "DYLD_")
}

// environment replaces git's variables: only the settings of the repository, no transport, and
// messages in English.
var environment = []string{
	"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
}

// reason returns the last fatal message of git, or else the last one.
func reason(stderr string) string {
	last, fatal := "", ""
	for line := range strings.Lines(stderr) {
		last = strings.TrimSuffix(strings.TrimSpace(line), ".")
		if message, ok := strings.CutPrefix(last, "fatal: "); ok {
			fatal = message
		}
	}
	return cmp.Or(fatal, last)
}

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

	"kolla.openstack.org/kolla/internal/failure"
)

// find returns the repository of a directory without asking git.
func find(dir string) (*Repository, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, noRepository(err.Error())
	}
	root, gitDir, err := closest(dir)
	if err != nil {
		return nil, err
	}
	// The branch that is looked at can make a submodule of the directory.
	if parent, outer, err := closest(filepath.Dir(root)); err == nil && strings.HasPrefix(commonDir(gitDir), commonDir(outer)+string(filepath.Separator)) {
		return nil, failure.New("The configuration is in a submodule", fmt.Sprintf("%s is a submodule of %s. A branch can replace it by a repository with branches of its own, so kolla takes no revision from it. Compare two directories: git -C %s worktree add BASE REVISION, then kolla diff BASE .", root, parent, root))
	}
	return &Repository{gitDir: gitDir, root: root, dir: dir}, nil
}

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
			return "", "", noRepository(fmt.Sprintf("%s is in no work tree of git", dir))
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
		if _, err := os.Lstat(filepath.Join(entry, "HEAD")); err != nil {
			return "", nil // git passes over it as well
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
	const largest = 8192
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > largest {
		return "", fmt.Errorf("%s is no file of git", name)
	}
	text, err := os.ReadFile(name)
	return strings.TrimRight(string(text), "\r\n"), err
}

// largestAnswer bounds the memory for an answer of git: the list of about 600,000 files.
const largestAnswer = 64 << 20

// run runs a command of git that reads objects or the index, and returns its output. The error
// has the message of git.
//
// Nothing in the work tree can steer it. The repository is given, so that git does not look for
// one, and its owner does not matter. The settings of the user, of the system and of the
// environment do not count. Those of the repository do, as git needs its formats, and they may
// include a file of the work tree: the command line overrides the settings with which these
// commands would start a program, and no transport is permitted, not even to fetch an object that
// a partial clone lacks. TestNoSettingStartsAProgram tries all settings that git has.
func (r *Repository) run(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{
		"--git-dir=" + r.gitDir, "--work-tree=" + r.root, "--no-optional-locks", "--no-replace-objects", "--no-pager",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull,
	}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GIT_") }),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(stdout, largestAnswer+1))
	if len(out) > largestAnswer {
		cancel()
		err = fmt.Errorf("the answer of git %s has more than %d MiB", args[0], largestAnswer>>20)
	}
	ended := cmd.Wait()
	if err != nil {
		return nil, err
	}
	var exit *exec.ExitError
	if errors.As(ended, &exit) && stderr.Len() > 0 {
		ended = errors.New(reason(stderr.String()))
	}
	return out, ended
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

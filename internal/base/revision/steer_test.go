package revision_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/base/revision"
)

// reviewed is a clone whose work tree contains the branch of a stranger.
type reviewed struct {
	root   string
	canary string // a program that the stranger wants to run
	ran    string // a file that the program writes
}

// review makes a clone with the revision "origin/main", and changes into a directory of it.
func review(t *testing.T) reviewed {
	t.Helper()
	outside := t.TempDir()
	r := reviewed{root: t.TempDir(), canary: filepath.Join(outside, "canary"), ran: filepath.Join(outside, "ran")}
	t.Setenv("HOME", outside)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	write(t, r.canary, "#!/bin/sh\necho \"$0 $*\" >> "+r.ran+"\n")
	for name, content := range map[string]string{"cloud.hcl": "reviewed", "deep/file": "deep"} {
		write(t, filepath.Join(r.root, "prod", name), content)
	}
	r.git(t, "init", "-q", "-b", "main")
	r.commit(t)
	r.git(t, "update-ref", "refs/remotes/origin/main", "HEAD")
	write(t, filepath.Join(r.root, "prod", "cloud.hcl"), "changed by a stranger")
	r.commit(t)
	t.Chdir(filepath.Join(r.root, "prod"))
	return r
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o755)); err != nil { //nolint:gosec // some are programs
		t.Fatal(err)
	}
}

// gitIn runs git like a developer would.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=dev", "-c", "user.email=dev@example.org", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r reviewed) git(t *testing.T, args ...string) string {
	t.Helper()
	return gitIn(t, r.root, args...)
}

func (r reviewed) commit(t *testing.T) {
	t.Helper()
	r.git(t, "add", "-A")
	r.git(t, "commit", "-q", "-m", "change")
}

// use calls every method of the repository. It returns a file of the revision and the untracked
// files.
func use(t *testing.T) (content string, untracked []string, err error) {
	t.Helper()
	r, err := revision.Find(t.Context(), ".")
	if err != nil {
		return "", nil, err
	}
	tree, err := r.Tree(t.Context(), "origin/main")
	if err != nil {
		return "", nil, err
	}
	data, err := fs.ReadFile(tree, "cloud.hcl")
	untracked, listed := r.Untracked(t.Context(), "*.vars.hcl")
	return string(data), untracked, errors.Join(err, listed)
}

// want fails the test if use returns files other than the reviewer's, or if the stranger's program
// ran.
func (r reviewed) want(t *testing.T) {
	t.Helper()
	write(t, filepath.Join(r.root, "prod", "mine.vars.hcl"), "")
	content, untracked, err := use(t)
	if err != nil || content != "reviewed" || !slices.Equal(untracked, []string{"mine.vars.hcl"}) {
		t.Errorf("origin/main has %q, and %q are not tracked: %v", content, untracked, err)
	}
	r.quiet(t)
}

func (r reviewed) quiet(t *testing.T) {
	t.Helper()
	if ran, err := os.ReadFile(r.ran); err == nil {
		t.Errorf("a program of the stranger ran:\n%s", ran)
	}
}

// TestPlantedRepository checks that a directory that looks like a repository is treated as content.
// Git itself uses it as a repository, with its settings and branches.
func TestPlantedRepository(t *testing.T) {
	r := review(t)
	planted := r.plant(t)
	planted.want(t)

	r.lures(t, "ls-files", "--others")
}

// plant commits the files of another repository to the directory, as ordinary files.
func (r reviewed) plant(t *testing.T) reviewed {
	t.Helper()
	other := t.TempDir()
	write(t, filepath.Join(other, "cloud.hcl"), "of the stranger")
	gitIn(t, other, "init", "-q")
	gitIn(t, other, "add", "-A")
	gitIn(t, other, "commit", "-q", "-m", "first")
	gitIn(t, other, "update-ref", "refs/remotes/origin/main", "HEAD")
	for key, value := range map[string]string{"core.fsmonitor": r.canary, "core.worktree": ".", "core.hooksPath": filepath.Dir(r.canary)} {
		gitIn(t, other, "config", key, value)
	}
	if err := os.CopyFS(filepath.Join(r.root, "prod"), os.DirFS(filepath.Join(other, ".git"))); err != nil {
		t.Fatal(err)
	}
	r.commit(t)
	return r
}

// TestEnvironmentDoesNotSteer checks that environment variables of git have no effect.
func TestEnvironmentDoesNotSteer(t *testing.T) {
	r := review(t)
	other := t.TempDir()
	gitIn(t, other, "init", "-q")
	for name, value := range map[string]string{
		"GIT_DIR": filepath.Join(other, ".git"), "GIT_WORK_TREE": other, "GIT_INDEX_FILE": filepath.Join(other, "index"),
		"GIT_OBJECT_DIRECTORY": other, "GIT_COMMON_DIR": other, "GIT_NAMESPACE": "other", "GIT_CEILING_DIRECTORIES": r.root,
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": r.canary,
		"GIT_CONFIG_PARAMETERS": "'core.fsmonitor'='" + r.canary + "'", "GIT_EXEC_PATH": filepath.Dir(r.canary),
		"GIT_PAGER": r.canary, "GIT_SSH_COMMAND": r.canary, "GIT_EXTERNAL_DIFF": r.canary, "GIT_TRACE": r.ran, "GIT_TRACE2": r.ran,
	} {
		t.Setenv(name, value)
	}
	r.want(t)
}

// TestProgramOfTheTree checks that a program named git in the work tree does not run, although its
// directory is in PATH.
func TestProgramOfTheTree(t *testing.T) {
	for name, path := range map[string]string{"relative": ".", "empty": "", "absolute": "ROOT/prod", "link": "ROOT/../link"} {
		t.Run(name, func(t *testing.T) {
			r := review(t)
			if err := errors.Join(os.Symlink(r.canary, "git"), os.Symlink(r.canary, filepath.Join(r.root, "git"))); err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(filepath.Dir(r.root), "link")
			if err := os.Symlink(r.root, link); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Remove(link) })
			t.Setenv("PATH", strings.ReplaceAll(path, "ROOT", r.root)+string(filepath.ListSeparator)+os.Getenv("PATH"))
			t.Setenv("GODEBUG", "execerrdot=0")
			if _, _, err := use(t); err == nil || !strings.Contains(err.Error(), "git is in the work tree") {
				t.Errorf("with a program of the work tree in PATH: %v", err)
			}
			r.quiet(t)
		})
	}
}

// TestSettingsOfTheUser checks that the user's git configuration has no effect.
func TestSettingsOfTheUser(t *testing.T) {
	r := review(t)
	write(t, filepath.Join(os.Getenv("HOME"), ".gitconfig"), "[core]\n\tbare = no-such\n")
	r.want(t)
}

// TestAmbiguousNames checks that a name of several revisions is refused. A fetch brings tags of
// strangers, and git prefers tags to branches.
func TestAmbiguousNames(t *testing.T) {
	r := review(t)
	commit := r.git(t, "rev-parse", "origin/main")
	short := commit[:8]
	r.git(t, "config", "core.warnAmbiguousRefs", "false")
	for _, name := range []string{"origin/main", "main", short, commit} {
		r.git(t, "update-ref", "refs/tags/"+name, "HEAD")
	}
	repository, err := revision.Find(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"origin/main", "main", short, short + "~0"} {
		if _, err := repository.Tree(t.Context(), name); err == nil || !strings.Contains(err.Error(), "Several revisions are called") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"refs/remotes/origin/main", commit, "HEAD~1"} {
		if tree, err := repository.Tree(t.Context(), name); err != nil || tree.Commit != commit {
			t.Errorf("%s: %+v, %v", name, tree, err)
		}
	}
}

// TestLinkInPlaceOfTheDirectory checks that a directory is refused if the branch replaced it by a
// link: the revision would be read at the target of the link.
func TestLinkInPlaceOfTheDirectory(t *testing.T) {
	for name, target := range map[string]string{"inside": "old", "outside": "OTHER"} {
		t.Run(name, func(t *testing.T) {
			other := review(t)
			r := review(t)
			write(t, filepath.Join(r.root, "old", "cloud.hcl"), "old")
			if err := errors.Join(os.RemoveAll(filepath.Join(r.root, "prod")), os.Symlink(strings.ReplaceAll(target, "OTHER", other.root+"/prod"), filepath.Join(r.root, "prod"))); err != nil {
				t.Fatal(err)
			}
			r.commit(t)
			// The base revision contains both directories.
			r.git(t, "rm", "-q", "--cached", "prod")
			r.git(t, "read-tree", "--prefix=prod/", r.git(t, "rev-parse", "HEAD~1:prod"))
			r.git(t, "update-ref", "refs/remotes/origin/main", r.git(t, "commit-tree", "-m", "both", r.git(t, "write-tree")))
			r.git(t, "reset", "-q")
			refused := func(how string) {
				t.Helper()
				if content, _, err := use(t); err == nil || !strings.Contains(err.Error(), "The directory is a link") {
					t.Errorf("%s: it has %q, %v", how, content, err)
				}
			}
			t.Chdir(filepath.Join(r.root, "prod")) // also sets $PWD
			refused("through the link")
			if name == "inside" { // if the target is in another clone, only $PWD contains the link
				t.Chdir(filepath.Join(r.root, "old"))
				refused("without the name of the link")
			}
		})
	}
}

// TestOtherLinks checks that a link to the clone is followed if no branch contains it.
func TestOtherLinks(t *testing.T) {
	r := review(t)
	link := filepath.Join(t.TempDir(), "clone")
	if err := os.Symlink(r.root, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(link, "prod"))
	r.want(t)
}

// TestOnlyATag checks that a tag is refused if its name looks like a branch.
func TestOnlyATag(t *testing.T) {
	r := review(t)
	commit := r.git(t, "rev-parse", "origin/main")
	r.git(t, "update-ref", "-d", "refs/remotes/origin/main")
	for _, tag := range []string{"origin/main", "FETCH_HEAD", "v1"} {
		r.git(t, "update-ref", "refs/tags/"+tag, commit)
	}
	repository, err := revision.Find(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"origin/main", "FETCH_HEAD"} {
		if _, err := repository.Tree(t.Context(), name); err == nil || !strings.Contains(err.Error(), "is only a tag") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"v1", "refs/tags/origin/main", "tags/origin/main", "v1~0"} {
		if tree, err := repository.Tree(t.Context(), name); err != nil || tree.Commit != commit {
			t.Errorf("%s: %+v, %v", name, tree, err)
		}
	}
	for _, name := range []string{"^v1", "v1..main", "v1^{tree}", "v1:prod"} {
		if _, err := repository.Tree(t.Context(), name); err == nil || !strings.Contains(err.Error(), "No revision") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOuterRepositoryOfOthers checks that a broken or foreign repository in a parent directory of
// the clone is ignored.
func TestOuterRepositoryOfOthers(t *testing.T) {
	r := review(t)
	write(t, filepath.Join(filepath.Dir(r.root), ".git"), "gitdir: "+filepath.Join(r.root, "gone")+"\n")
	r.want(t)
}

// TestPathsThatGitRefuses checks that a revision is refused if it contains paths that git would not
// check out. A fetch accepts such paths.
func TestPathsThatGitRefuses(t *testing.T) {
	for _, name := range []string{"..", ".", ".git", ".GIT", "twice"} {
		r := review(t)
		blob := r.git(t, "rev-parse", "origin/main:prod/cloud.hcl")
		var id []byte
		for i := range len(blob) / 2 {
			var b byte
			if _, err := fmt.Sscanf(blob[2*i:2*i+2], "%02x", &b); err != nil {
				t.Fatal(err)
			}
			id = append(id, b)
		}
		cmd := exec.CommandContext(t.Context(), "git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
		cmd.Dir, cmd.Stdin = r.root, strings.NewReader(strings.Repeat("100644 "+name+"\x00"+string(id), 2))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		r.git(t, "update-ref", "refs/remotes/origin/main", r.git(t, "commit-tree", "-m", "odd", strings.TrimSpace(string(out))))
		if _, _, err := use(t); err == nil || !strings.Contains(err.Error(), "git checks out no file of the name") && !strings.Contains(err.Error(), "\"twice\" is there twice") {
			t.Errorf("a path with %q: %v", name, err)
		}
	}
}

// TestReplacedObjects checks that replacements of objects (git replace) have no effect.
func TestReplacedObjects(t *testing.T) {
	r := review(t)
	r.git(t, "replace", r.git(t, "rev-parse", "origin/main"), "HEAD")
	r.want(t)
}

// TestSubmodule checks that a submodule is refused, because the branch of the outer repository
// decides which repository it is.
func TestSubmodule(t *testing.T) {
	r := review(t)
	other := t.TempDir()
	write(t, filepath.Join(other, "cloud.hcl"), "of the stranger")
	gitIn(t, other, "init", "-q", "-b", "main")
	gitIn(t, other, "add", "-A")
	gitIn(t, other, "commit", "-q", "-m", "first")
	r.git(t, "submodule", "--quiet", "add", other, "sub/inner")
	t.Chdir(filepath.Join(r.root, "sub", "inner"))
	if _, _, err := use(t); err == nil || !strings.Contains(err.Error(), "is a submodule of "+r.root) {
		t.Errorf("origin/main of a submodule: %v", err)
	}

	// The outer directory looks like another submodule.
	write(t, filepath.Join(r.root, "sub", ".git"), "gitdir: ../.git/modules/gone\n")
	gitIn(t, r.root, "init", "-q", "--bare", filepath.Join(r.root, ".git", "modules", "gone"))
	if _, _, err := use(t); err == nil || !strings.Contains(err.Error(), "is a submodule of "+r.root) {
		t.Errorf("origin/main of a submodule below the place of another: %v", err)
	}
	if err := os.Remove(filepath.Join(r.root, "sub", ".git")); err != nil {
		t.Fatal(err)
	}

	// A submodule of a linked work tree is refused, too.
	r.commit(t)
	linked := filepath.Join(t.TempDir(), "linked")
	r.git(t, "worktree", "add", "-q", linked)
	gitIn(t, linked, "submodule", "--quiet", "update", "--init")
	t.Chdir(filepath.Join(linked, "sub", "inner"))
	if _, _, err := use(t); err == nil || !strings.Contains(err.Error(), "is a submodule of "+linked) {
		t.Errorf("origin/main of a submodule of a linked work tree: %v", err)
	}
}

// TestLinkedWorkTree checks that files are read from a work tree that `git worktree add` made, and
// through a link to a directory.
func TestLinkedWorkTree(t *testing.T) {
	r := review(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(r.root, "prod"), link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(link)
	r.want(t)
	linked := filepath.Join(t.TempDir(), "linked")
	r.git(t, "worktree", "add", "-q", linked)
	t.Chdir(filepath.Join(linked, "prod"))
	if content, untracked, err := use(t); content != "reviewed" || len(untracked) > 0 || err != nil {
		t.Errorf("a linked work tree: %q, %q, %v", content, untracked, err)
	}
}

// TestOwner checks that the repository of another user can be read. CI often runs as root in the
// clone of another user, and git alone would refuse the clone.
func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: only root can give files away")
	}
	r := review(t)
	err := filepath.WalkDir(r.root, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, 12345, 12345))
	})
	if err != nil {
		t.Fatal(err)
	}
	r.want(t)
}

// TestTooManyFiles checks that a revision is refused if its few objects expand to more files than
// fit into memory.
func TestTooManyFiles(t *testing.T) {
	r := review(t)
	mktree := func(entries string) string {
		cmd := exec.CommandContext(t.Context(), "git", "mktree")
		cmd.Dir, cmd.Stdin = r.root, strings.NewReader(entries)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	tree := r.git(t, "rev-parse", "HEAD^{tree}")
	long := strings.Repeat("x", 200) // reaches the limit sooner
	for range 9 {
		var level strings.Builder
		for i := range 10 {
			fmt.Fprintf(&level, "040000 tree %s\t%d%s\n", tree, i, long)
		}
		tree = mktree(level.String())
	}
	r.git(t, "update-ref", "refs/remotes/origin/main", r.git(t, "commit-tree", "-m", "bomb", tree))
	if _, _, err := use(t); err == nil || !strings.Contains(err.Error(), "has more than 64 MiB") {
		t.Errorf("a revision with a billion files: %v", err)
	}
}

// typed lists settings that git validates at its start, or that name the repository. None of them
// can name a program.
var typed = []string{"extensions.", "core.repositoryformatversion", "core.bare", "core.worktree", "include.path", "includeif."}

// TestNoSettingStartsAProgram sets every setting of git to the name of a program. The repository
// includes the settings from a file of the work tree, because some projects ask their developers to
// do so. All hooks, filters and drivers are programs, too.
func TestNoSettingStartsAProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	r := review(t)
	var settings []string
	for key := range strings.Lines(r.git(t, "help", "--config")) {
		key = strings.ToLower(strings.TrimSpace(key))
		if !strings.Contains(key, ".") || strings.ContainsAny(key, " \t'") || slices.ContainsFunc(typed, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			continue
		}
		for _, name := range []string{"origin", "main", "evil"} {
			section, option := key[:strings.LastIndex(key, ".")], key[strings.LastIndex(key, ".")+1:]
			section, sub, _ := strings.Cut(section, ".")
			if strings.HasPrefix(option, "<") || strings.HasPrefix(option, "*") {
				option = "ls-files" // for pager and alias
			}
			header := "[" + section + "]"
			if sub != "" {
				header = fmt.Sprintf("[%s %q]", section, name)
			}
			settings = append(settings, fmt.Sprintf("%s\n\t%s = %q\n", header, option, r.canary))
			if sub == "" {
				break
			}
		}
	}
	settings = r.accepted(t, settings)
	const minKeys = 200
	if len(settings) < minKeys {
		t.Errorf("only %d settings, want %d and more", len(settings), minKeys)
	}
	t.Logf("%d settings", len(settings))
	hooks := filepath.Join(r.root, ".git", "hooks")
	for _, name := range []string{"post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout", "pre-auto-gc"} {
		write(t, filepath.Join(hooks, name), "#!/bin/sh\nexec "+r.canary+" hook\n")
	}
	write(t, filepath.Join(r.root, ".gitattributes"), "* filter=evil diff=evil merge=evil text eol=crlf working-tree-encoding=UTF-16\n")
	write(t, filepath.Join(r.root, ".gitconfig"), strings.Join(settings, ""))
	r.git(t, "config", "include.path", "../.gitconfig")
	r.want(t)
}

// TestPartialClone checks that git does not fetch objects that a partial clone lacks. The settings
// of such a clone can name programs.
func TestPartialClone(t *testing.T) {
	for name, remote := range map[string]string{
		"transport": "url = ext::CANARY", "upload-pack": "url = ROOT/.git\n uploadpack = CANARY", "ssh": "url = ssh://127.0.0.1/x", "helper": "url = x\n vcs = canary",
		"alias": "url = x\n vcs = none\n[alias]\n remote-none = !CANARY",
	} {
		t.Run(name, func(t *testing.T) {
			r := review(t)
			blob := r.git(t, "rev-parse", "origin/main:prod/cloud.hcl")
			if err := os.Remove(filepath.Join(r.root, ".git", "objects", blob[:2], blob[2:])); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(filepath.Dir(r.canary), "git-remote-canary"), "#!/bin/sh\nexec "+r.canary+" helper\n")
			t.Setenv("PATH", filepath.Dir(r.canary)+string(filepath.ListSeparator)+os.Getenv("PATH"))
			git, err := exec.LookPath("git")
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(r.root, ".git", "config"), strings.NewReplacer("CANARY", r.canary, "ROOT", r.root).Replace(`
[core]
 repositoryformatversion = 1
 sshCommand = CANARY
[extensions]
 partialClone = origin
[protocol]
 allow = always
[protocol "ext"]
 allow = always
[remote "origin"]
 promisor = true
 partialclonefilter = blob:none
 `+remote+"\n"))
			if content, _, err := use(t); err == nil || !strings.Contains(err.Error(), "the clone is partial and lacks it") {
				t.Errorf("the missing object has %q, %v", content, err)
			}
			r.quiet(t)
			// This git ignores the variable, like an old version.
			write(t, filepath.Join(filepath.Dir(r.canary), "git"), "#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec "+git+" \"$@\"\n")
			if content, _, err := use(t); err == nil || content != "" {
				t.Errorf("with an old git, the missing object has %q, %v", content, err)
			}
			r.quiet(t)
			r.lures(t, "cat-file", "blob", blob)
		})
	}
}

// lures logs a line if git without kolla's options does not start the stranger's program.
func (r reviewed) lures(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Env = append(os.Environ(), "GIT_SSH_VARIANT=ssh")
	_ = cmd.Run()
	if _, err := os.Stat(r.ran); err != nil {
		t.Log("this git does not start the program, even without kolla's options")
	}
}

// accepted returns the settings that git accepts.
func (r reviewed) accepted(t *testing.T, settings []string) []string {
	t.Helper()
	switch half := len(settings) / 2; {
	case r.accepts(t, strings.Join(settings, "")):
		return settings
	case half == 0:
		return nil
	default:
		return append(r.accepted(t, settings[:half:half]), r.accepted(t, settings[half:])...)
	}
}

// accepts reports whether git accepts settings.
func (r reviewed) accepts(t *testing.T, settings string) bool {
	t.Helper()
	name := filepath.Join(filepath.Dir(r.canary), "setting")
	write(t, name, "[core]\n\trepositoryformatversion = 0\n"+settings)
	for _, args := range [][]string{{"ls-files", "-z"}, {"cat-file", "blob", "HEAD:prod/cloud.hcl"}} {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "include.path=" + name}, args...)...)
		cmd.Dir = r.root
		err := cmd.Run()
		_ = os.Remove(r.ran) // git may have started the program
		if err != nil {
			return false
		}
	}
	return true
}

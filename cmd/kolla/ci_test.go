package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// shell runs programs for a test. TestMain puts kolla and kubectl into PATH.
type shell struct {
	dir string
	env []string // besides PATH and HOME
}

// newShell returns a shell in a new directory, with the given environment variables.
func newShell(t *testing.T, env ...string) shell {
	t.Helper()
	for variable, value := range clustertest.Environment {
		env = append(env, variable+"="+value)
	}
	return shell{dir: t.TempDir(), env: append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		clustertest.BinaryVariable + "=" + os.Getenv(clustertest.BinaryVariable),
	}, env...)}
}

// try runs a program, and returns its exit code, and its output and errors together.
func (s shell) try(t *testing.T, program string, args ...string) (code int, out string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir, command.Env = s.dir, s.env
	text, err := command.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), string(text)
}

// want runs a program, and checks its exit code and the words in its output.
func (s shell) want(t *testing.T, code int, words []string, program string, args ...string) string {
	t.Helper()
	got, out := s.try(t, program, args...)
	if got != code {
		t.Fatalf("%s %s: exit code %d, want %d:\n%s", program, strings.Join(args, " "), got, code, out)
	}
	for _, word := range words {
		if !strings.Contains(out, word) {
			t.Fatalf("%s %s does not say %q:\n%s", program, strings.Join(args, " "), word, out)
		}
	}
	return out
}

// in returns the shell in another directory.
func (s shell) in(dir string) shell { return shell{dir, s.env} }

// with returns the shell with more variables.
func (s shell) with(env ...string) shell {
	return shell{s.dir, append(s.env[:len(s.env):len(s.env)], env...)}
}

// write writes a file below the directory.
func (s shell) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// needs skips the test if this machine lacks one of the programs.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("NOT RUN: there is no %s", name)
		}
	}
}

// repository makes a repository of a cloud with the scripts of examples/ci. Its configuration
// is in the directory cloud.
func (s shell) repository(t *testing.T, config string) {
	t.Helper()
	if err := os.CopyFS(filepath.Join(s.dir, "ci"), os.DirFS("../../examples/ci")); err != nil {
		t.Fatal(err)
	}
	s.write(t, "cloud/cloud.hcl", config)
	s.want(t, 0, nil, "git", "init", "-q", "-b", "main")
	s.commit(t)
}

func (s shell) commit(t *testing.T) {
	t.Helper()
	s.want(t, 0, nil, "git", "add", "-A", ".")
	s.want(t, 0, nil, "git", "commit", "-q", "-m", "a change")
}

// TestCI checks the scripts of examples/ci with each forge: a plan creates one comment and later
// replaces it, and the main branch applies the reviewed plan and no other.
func TestCI(t *testing.T) {
	t.Parallel()
	needs(t, "curl", "jq", "git", "unzip")
	kubeconfig, err := os.ReadFile(clustertest.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"github", "gitlab", "gitea"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			namespace := fmt.Sprintf("t-ci-%s-%d", kind, os.Getpid())
			t.Cleanup(func() { clustertest.Kubectl(t, "delete", "namespace", namespace, "--ignore-not-found", "--wait=false") })
			config := func(replicas int, more string) string {
				return fmt.Sprintf("cloud %[1]q {\n  release   = \"2025.1\"\n  namespace = %[1]q\n}\n\nservice \"memcached\" { replicas = %[2]d }\n%[3]s", namespace, replicas, more)
			}
			f := newForge(t, kind, "<!-- kolla plan of "+namespace+" -->")
			pull := newShell(t, append(f.environment(), "KOLLA_DIR=cloud", "KOLLA_KUBECONFIG="+string(kubeconfig))...)
			state := "-state=" + filepath.Join(t.TempDir(), "kolla.state.json")
			output := filepath.Join(t.TempDir(), "output")
			pull = pull.with("GITHUB_OUTPUT=" + output)

			// plan is a run for the pull request.
			plan := func(code int, says ...string) {
				t.Helper()
				_ = os.Remove(output)
				if out := pull.want(t, code, nil, "./ci/plan.sh", state); strings.Contains(out, forgeToken) {
					t.Errorf("the log has the token:\n%s", out)
				}
				for _, want := range says {
					if got := f.plan(t); !strings.Contains(got, want) {
						t.Errorf("the comment does not say %q:\n%s", want, got)
					}
				}
				if code == 0 && kind == "github" {
					uploadPlan(t, f, output, filepath.Join(pull.dir, "cloud", "kolla.plan"))
				}
			}
			// apply is a run for the main branch, in another checkout.
			apply := func(code int, says ...string) {
				t.Helper()
				main := pull.in(filepath.Join(t.TempDir(), "main"))
				pull.want(t, 0, nil, "git", "clone", "-q", ".", main.dir)
				main.want(t, code, says, "./ci/apply.sh", state)
			}

			pull.repository(t, config(1, ""))
			plan(0, "<!-- kolla plan of "+namespace+" -->\n", " to add, 0 to change")
			pull.write(t, "cloud/cloud.hcl", config(2, "\nmanifest \"note\" { object = { apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = \"note\" } } }\n"))
			pull.commit(t)
			plan(0, "manifest.note")
			plan(0, "manifest.note") // a second run of the same commit
			apply(0, "Apply complete!")
			apply(1, "The plan was used already")

			// A plan with the rights to read is enough.
			reader, writer := readerOf(t, pull.in(filepath.Join(pull.dir, "cloud")), state, namespace), pull
			pull = pull.with("KOLLA_KUBECONFIG=" + reader)
			pull.write(t, "cloud/cloud.hcl", config(4, ""))
			pull.commit(t)
			plan(0, "memcached-server")
			pull = writer
			apply(0, "Apply complete!")

			pull.write(t, "cloud/cloud.hcl", config(2, "oops"))
			pull.commit(t)
			plan(1, "**The plan failed.**")
			apply(1, "No plan was kept for this content")

			pull.write(t, "cloud/cloud.hcl", config(3, ""))
			pull.commit(t)
			plan(0, "1 to change")
			clustertest.Kubectl(t, "-n", namespace, "patch", "statefulset", "memcached-server", "--type=json",
				"-p", `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"example.org/other:1"}]`)
			apply(1, `written by "kubectl-patch"`)
		})
	}
}

// readerOf returns the path of a kubeconfig whose user has the rights of kolla rbac -read-only.
func readerOf(t *testing.T, s shell, state, namespace string) string {
	t.Helper()
	s = s.with("KUBECONFIG=" + clustertest.Kubeconfig())
	s.want(t, 0, nil, "kubectl", "-n", namespace, "create", "serviceaccount", "plan")
	s.want(t, 0, nil, "sh", "-c", "kolla rbac -read-only "+state+" -serviceaccount="+namespace+":plan | kubectl apply -f -")
	t.Cleanup(func() {
		clustertest.Kubectl(t, "delete", "clusterrole,clusterrolebinding", "kolla-"+namespace+"-read-only", "--ignore-not-found")
	})
	token := strings.TrimSpace(clustertest.Kubectl(t, "-n", namespace, "create", "token", "plan"))
	text, err := os.ReadFile(clustertest.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "reader")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.want(t, 0, nil, "kubectl", "--kubeconfig="+path, "config", "set-credentials", "plan", "--token="+token)
	s.want(t, 0, nil, "kubectl", "--kubeconfig="+path, "config", "set-context", "--current", "--user=plan")
	if text, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// uploadPlan stores the plan of a run, as the workflow does. Afterwards it stores another plan
// under the same name, as a fork can do.
func uploadPlan(t *testing.T, f *forge, output, plan string) {
	t.Helper()
	said, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(string(said)), "artifact=")
	if !ok {
		t.Fatalf("plan.sh gives the workflow %q", said)
	}
	f.upload(t, name, content, false)
	f.upload(t, name, []byte("of a fork"), true)
}

// TestCIWithoutForge checks plans and applies with the scripts alone, without a forge.
func TestCIWithoutForge(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	namespace := fmt.Sprintf("t-ci-shell-%d", os.Getpid())
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "namespace", namespace, "--ignore-not-found", "--wait=false") })
	s := newShell(t, "KOLLA_KUBECONFIG="+clustertest.Kubeconfig(), "KOLLA_DIR=cloud")
	s.repository(t, fmt.Sprintf("cloud %[1]q {\n  release   = \"2025.1\"\n  namespace = %[1]q\n}\n\nservice \"memcached\" {}\n", namespace))
	s.want(t, 0, []string{"Saved the plan to kolla.plan"}, "./ci/plan.sh")
	s.want(t, 0, []string{"Apply complete!"}, "./ci/apply.sh")
}

// TestCIFork checks that fork.sh needs no cluster, and finds errors and changes.
func TestCIFork(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	s := newShell(t, "KUBECONFIG=/nowhere", "KOLLA_DIR=cloud")
	const config = "cloud \"forked\" {\n  release = \"2025.1\"\n}\n\nservice \"memcached\" {}\n"
	s.repository(t, config)
	s.write(t, "cloud/cloud.hcl", config+"\nservice \"mariadb\" {}\n")
	s.commit(t)
	s.want(t, 0, nil, "./ci/fork.sh", "HEAD~1")
	page, err := os.ReadFile(filepath.Join(s.dir, "cloud", "diff.md"))
	if err != nil || !strings.Contains(string(page), "mariadb") || strings.Contains(string(page), "memcached") {
		t.Errorf("diff.md is %q: %v", page, err)
	}
	// Changes to BASE after the branch point are no part of the change.
	s.want(t, 0, nil, "git", "checkout", "-q", "-b", "later", "HEAD~1")
	s.write(t, "cloud/cloud.hcl", config+"\nservice \"rabbitmq\" {}\n")
	s.commit(t)
	s.want(t, 0, nil, "git", "checkout", "-q", "-")
	s.want(t, 0, nil, "./ci/fork.sh", "later")
	page, err = os.ReadFile(filepath.Join(s.dir, "cloud", "diff.md"))
	if err != nil || !strings.Contains(string(page), "mariadb") || strings.Contains(string(page), "rabbitmq") {
		t.Errorf("with a BASE that went on, diff.md is %q: %v", page, err)
	}
	s.write(t, "cloud/cloud.hcl", config+"\nservice \"marriadb\" {}\n")
	s.commit(t)
	s.with("KOLLA_ANNOTATIONS=github").want(t, 1, []string{"marriadb", "::error file="}, "./ci/fork.sh", "HEAD~1")
}

// TestCIPlanted checks hostile changes. A change contains a repository as ordinary files, with a
// program in its settings and another origin/main, and directories with the names of revisions.
func TestCIPlanted(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	s := newShell(t, "KUBECONFIG=/nowhere", "KOLLA_DIR=cloud", "FORGE=github", "FORGE_TOKEN=none")
	const config = "cloud \"forked\" {\n  release = \"2025.1\"\n}\n\nservice \"memcached\" {}\n"
	s.repository(t, config)
	base := strings.TrimSpace(s.want(t, 0, nil, "git", "rev-parse", "HEAD"))
	s.want(t, 0, nil, "git", "update-ref", "refs/remotes/origin/main", "HEAD")

	changed := config + "\nservice \"mariadb\" {}\n"
	ran := filepath.Join(t.TempDir(), "ran")
	other := newShell(t)
	other.write(t, "cloud.hcl", changed)
	other.want(t, 0, nil, "git", "init", "-q")
	other.commit(t)
	other.want(t, 0, nil, "git", "update-ref", "refs/remotes/origin/main", "HEAD")
	other.want(t, 0, nil, "git", "config", "core.fsmonitor", "touch "+ran+"; false")
	other.want(t, 0, nil, "git", "config", "core.worktree", ".")
	if err := os.CopyFS(filepath.Join(s.dir, "cloud"), os.DirFS(filepath.Join(other.dir, ".git"))); err != nil {
		t.Fatal(err)
	}
	s.write(t, "cloud/cloud.hcl", changed)
	for _, name := range []string{"origin/main", base} {
		s.write(t, "cloud/"+name+"/cloud.hcl", changed)
	}
	s.commit(t)

	s.want(t, 0, nil, "./ci/fork.sh", "origin/main")
	page, err := os.ReadFile(filepath.Join(s.dir, "cloud", "diff.md"))
	if err != nil || !strings.Contains(string(page), "mariadb") {
		t.Errorf("diff.md is %q: %v", page, err)
	}
	s.want(t, 0, nil, "git", "tag", "origin/main")
	s.want(t, 1, []string{"Write refs/remotes/origin/NAME"}, "./ci/fork.sh", "origin/main")
	s.want(t, 0, []string{"mariadb"}, "./ci/fork.sh", "refs/remotes/origin/main")
	s.want(t, 0, nil, "git", "tag", "pull/base")
	s.want(t, 1, []string{"pull/base is a tag"}, "./ci/fork.sh", "pull/base")
	tree := strings.TrimSpace(s.want(t, 0, nil, "git", "rev-parse", "HEAD:cloud"))
	s.in(filepath.Join(s.dir, "cloud")).want(t, 0, []string{"artifact=kolla-plan-" + tree}, "../ci/forge.sh", "put", "cloud.hcl")
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the change ran")
	}

	// A link in place of the directory, and the .git file of a submodule.
	s.want(t, 0, nil, "git", "mv", "cloud", "moved")
	if err := os.Symlink("moved", filepath.Join(s.dir, "cloud")); err != nil {
		t.Fatal(err)
	}
	s.want(t, 1, []string{"is a link"}, "./ci/fork.sh", "HEAD")
	s.write(t, "moved/.git", "gitdir: "+filepath.Join(other.dir, ".git")+"\n")
	s.with("KOLLA_DIR=moved").want(t, 1, []string{"is a submodule"}, "./ci/fork.sh", "HEAD")
}

// TestInstall checks that install.sh installs an archive only if its checksum is right.
func TestInstall(t *testing.T) {
	needs(t, "curl")
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	files := tar.NewWriter(compressed)
	const program = "#!/bin/sh\necho kolla v9 \"$@\"\n"
	err := files.WriteHeader(&tar.Header{Name: "kolla_v9_linux_amd64/kolla", Mode: 0o755, Size: int64(len(program))})
	if err == nil {
		_, err = files.Write([]byte(program))
	}
	if err := errors.Join(err, files.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive.Bytes()) }))
	t.Cleanup(server.Close)
	script, err := filepath.Abs("../../examples/ci/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t, "KOLLA_ARCHIVE="+server.URL)
	s.with("KOLLA_SHA256="+strings.Repeat("0", 64)).want(t, 1, []string{"does not have the checksum"}, script, "bin")
	if _, err := os.Stat(filepath.Join(s.dir, "bin", "kolla")); err == nil {
		t.Error("it is installed all the same")
	}
	s.with(fmt.Sprintf("KOLLA_SHA256=%x", sha256.Sum256(archive.Bytes()))).want(t, 0, []string{"kolla v9 version"}, script, "bin")
}

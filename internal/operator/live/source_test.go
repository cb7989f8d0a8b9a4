package live_test

import (
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// repository is a Git repository behind a server that can go away.
type repository struct {
	*bench
	dir, url string
	away     atomic.Bool
}

func newRepository(b *bench) *repository {
	b.Helper()
	r := &repository{bench: b, dir: filepath.Join(b.TempDir(), "cloud.git")}
	r.git(".", "init", "-q", "--bare", "-b", "main", r.dir)
	backend := &cgi.Handler{
		Path: filepath.Join(r.git(".", "--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Dir(r.dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.away.Load() {
			panic(http.ErrAbortHandler) // the connection breaks
		}
		backend.ServeHTTP(w, q)
	}))
	b.Cleanup(server.Close)
	r.url = server.URL + "/cloud.git"
	return r
}

func (r *repository) git(dir string, args ...string) string {
	r.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit makes a configuration the only file of the branch.
func (r *repository) commit(text string) {
	r.Helper()
	work := r.TempDir()
	if err := os.WriteFile(filepath.Join(work, "cloud.hcl"), []byte(r.named(text)), 0o600); err != nil {
		r.Fatal(err)
	}
	r.git(work, "init", "-q", "-b", "main")
	r.git(work, "add", "-A")
	r.git(work, "commit", "-q", "-m", "c")
	r.git(work, "push", "-q", "-f", r.dir, "main")
}

// TestGitOutOfReach takes the Git server away. The configuration that was applied last stays in force, and
// when the server is back, the operator goes on by itself.
func TestGitOutOfReach(t *testing.T) {
	b := newBench(t)
	r := newRepository(b)
	r.commit(configuration)
	b.start()
	b.cloudOf("{git: {url: \""+r.url+"\", branch: main}}", "  approval: automatic\n")
	b.until(v1alpha1.ReasonAsDeclared)
	r.away.Store(true)
	r.commit(changed("bonjour"))
	b.kubectl("annotate", "cloud", "prod", "-n", b.namespace, v1alpha1.AnnotationReconcile+"=now")
	away := b.until(v1alpha1.ReasonSourceFailed)
	if ready := meta.FindStatusCondition(away.Status.Conditions, v1alpha1.Ready); !strings.Contains(ready.Message, "fetch "+r.url+": ") || !strings.Contains(ready.Message, "EOF") {
		t.Errorf("Ready says: %s", ready.Message)
	}
	b.kubectl("delete", "configmap", "note", "-n", b.target)
	clustertest.Eventually(t, "the last good source puts back what somebody deleted", func() bool { return b.note() == "hello" })
	b.until(v1alpha1.ReasonSourceFailed)
	r.away.Store(false)
	b.until(v1alpha1.ReasonAsDeclared)
	if b.note() != "bonjour" {
		t.Errorf("the ConfigMap has %q", b.note())
	}
	b.configured(changed("ciao"))
	b.kolla(1, "It applies the branch main of "+r.url+", so commit the change there instead.", "apply", "-auto-approve", "-no-color")
}

// TestWarnings shows warnings of the configuration and of the server in the plan and in the status.
func TestWarnings(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration+`
check "calm" {
  assert {
    condition     = var.greeting == "good night"
    error_message = "It is not calm."
  }
}
manifest "old" {
  object = {
    apiVersion = "v1"
    kind       = "Endpoints"
    metadata   = { name = "old" }
  }
}
`)
	b.start()
	b.cloud("")
	waiting := b.until(v1alpha1.ReasonAwaitsApproval)
	record := b.kubectl("get", "cloudplan", waiting.Status.Plan.Name, "-n", b.namespace, "-o", "jsonpath={.spec.warnings}\n{.spec.page}")
	for _, want := range []string{"It is not calm.", "v1 Endpoints is deprecated"} {
		if status := strings.Join(waiting.Status.Warnings, "\n"); !strings.Contains(status, want) || strings.Count(record, want) < 2 {
			t.Errorf("%q is not in status.warnings:\n%s\nor not in the CloudPlan:\n%s", want, status, record)
		}
	}
	b.cloud("  approvedPlan: " + waiting.Status.Plan.Digest + "\n")
	if done := b.until(v1alpha1.ReasonAsDeclared); len(done.Status.Warnings) == 0 {
		t.Error("the warnings are gone although nothing changed")
	}
}

// TestFailingPod names the pod in the condition, the plan, the event and the notification, and why it fails: with
// the last lines of its log, and without a secret.
func TestFailingPod(t *testing.T) {
	const value = "swordfish-of-the-pod"
	b := newBench(t)
	told := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		text, _ := io.ReadAll(q.Body)
		told <- string(text)
	}))
	t.Cleanup(receiver.Close)
	b.files("files", configuration+`
variable "password" {
  sensitive = true
}
manifest "login" {
  object = {
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = "login" }
    stringData = { password = var.password }
  }
}
manifest "stuck" {
  object = {
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = "stuck" }
    spec = {
      selector = { matchLabels = { app = "stuck" } }
      template = {
        metadata = {
          labels      = { app = "stuck" }
          annotations = { "devcluster.kolla/outcome" = "crash", "devcluster.kolla/logs" = "no such database for `+value+`" }
        }
        spec = { containers = [{ name = "c", image = "c" }] }
      }
    }
  }
}
`)
	b.kubectl("create", "secret", "generic", "values", "-n", b.namespace, "--from-literal=password="+value)
	b.kubectl("create", "secret", "generic", "receiver", "-n", b.namespace, "--from-literal=url="+receiver.URL)
	b.start()
	b.cloud("  approval: automatic\n  timeout: 20s\n  variablesFrom: [{secret: {name: values}}]\n  notify: [{name: receiver}]\n")
	failed := b.until(v1alpha1.ReasonApplyFailed)
	pod := b.kubectl("get", "pods", "-n", b.target, "-l", "app=stuck", "-o", "jsonpath={.items[0].metadata.name}")
	var event string
	clustertest.Eventually(t, "there is an event", func() bool {
		event = b.kubectl("get", "events", "-n", b.namespace, "-o", `jsonpath={.items[?(@.reason=="ApplyFailed")].message}`)
		return event != ""
	})
	news := ""
	for !strings.Contains(news, "an apply failed") {
		news = <-told
	}
	for where, text := range map[string]string{
		"condition":    meta.FindStatusCondition(failed.Status.Conditions, v1alpha1.Ready).Message,
		"last apply":   failed.Status.LastApply.Message,
		"plan":         b.kubectl("get", "cloudplan", failed.Status.LastApply.Plan, "-n", b.namespace, "-o", "jsonpath={.status.message}"),
		"event":        event,
		"notification": news,
	} {
		for _, want := range []string{"manifest.stuck/Deployment/stuck", pod, "no such database"} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s has no %q: %s", where, want, text)
			}
		}
		if strings.Contains(text, value) {
			t.Errorf("the %s has the secret: %s", where, text)
		}
	}
}

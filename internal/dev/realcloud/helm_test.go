package realcloud_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/tooltest"
)

// TestHelm installs a cloud with Helm, as the README.md of its chart says, until clients outside get tokens.
// Then an option changes, and the cloud is removed and installed again with its data.
func TestHelm(t *testing.T) {
	c := newCloud(t, "real-keystone", 3)
	h := &helmTest{cloud: c, program: tooltest.Module("helm").Program(t, "helm"), chart: filepath.Join(c.dir, "charts", "real")}
	take(t, c, []step{{"install", h.installs}})
	c.haproxy(t)
	take(t, c, []step{
		{"token", h.answers},
		{"option changed", h.upgrades},
		{"rolled back", h.rollsBack},
		{"installed again", h.keepsData},
	})
}

// helmTest is a cloud that Helm installs.
type helmTest struct {
	*cloud
	program string
	chart   string // directory
}

// helm runs Helm in the directory of the chart, and fails the test if Helm fails.
func (h *helmTest) helm(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(h.interruptible(t), h.program, args...)
	cmd.Dir = h.chart
	home := filepath.Join(h.dir, "helm")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+h.cluster.Kubeconfig(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	r := finish(t, cmd)
	if r.code != 0 {
		t.Fatalf("helm %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.out)
	}
	measured(t, "helm "+args[0], r.took.Round(100*time.Millisecond))
}

// installs runs the commands of the README.md.
func (h *helmTest) installs(t *testing.T, c *cloud) {
	c.kolla(t, 0, "export", "helm")
	page, err := os.ReadFile(filepath.Join(h.chart, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, commands, _ := strings.Cut(string(page), "## Install\n\n```\n")
	commands, _, found := strings.Cut(commands, "```")
	if !found || strings.Count(commands, "kubectl ") < 4 || strings.Count(commands, "helm install") != 1 {
		t.Fatalf("the README.md has these commands:\n%s", commands)
	}
	for line := range strings.Lines(commands) {
		switch words := strings.Fields(line); words[0] {
		case "kubectl":
			c.cluster.Kubectl(t, words[1:]...)
		case "helm":
			h.helm(t, words[1:]...)
		default:
			t.Fatalf("the README.md has the command %s", line)
		}
	}
	if pods := c.kubectl(t, "get", "pods", "-o", "jsonpath={range .items[*]}{.metadata.name} {.status.phase} {.status.containerStatuses[*].restartCount}{\"\\n\"}{end}"); strings.Contains(pods, "Pending") || strings.Contains(pods, "Failed") {
		t.Errorf("helm install --wait ended before the cloud was ready, or pods failed while they waited:\n%s", pods)
	}
}

// answers checks that clients outside get a token through the VIP, and that the catalogue has the VIP.
func (h *helmTest) answers(t *testing.T, c *cloud) {
	measured(t, "first token through the VIP after helm install", c.eventualToken(t).Round(100*time.Millisecond))
	if r := c.openstack(t, "endpoint", "list", "-f", "value", "-c", "URL"); !strings.Contains(r.out, "http://"+vip+":5000/v3") {
		t.Errorf("the endpoints are %s", r.out)
	}
}

// upgrades changes an option, and checks that the pods have it and clients are served.
func (h *helmTest) upgrades(t *testing.T, c *cloud) {
	jobs := c.kubectl(t, "get", "jobs", "-o", "name")
	h.helm(t, "upgrade", "real", ".", "--namespace", namespace, "--wait", "--timeout", "10m", `--set=keystone.config.keystone\.conf.token.expiration=1234`)
	if got := h.expiration(t); got != "expiration = 1234\n" {
		t.Errorf("keystone.conf in the pod has %q", got)
	}
	if now := c.kubectl(t, "get", "jobs", "-o", "name"); now != jobs {
		t.Errorf("an option that no job reads ran jobs: %s, before %s", now, jobs)
	}
	c.eventualToken(t)
}

// expiration returns the line of the option in a pod.
func (h *helmTest) expiration(t *testing.T) string {
	t.Helper()
	return h.kubectl(t, "exec", "deployment/keystone-api", "--", "grep", "^expiration", "/etc/keystone/keystone.conf")
}

func (h *helmTest) rollsBack(t *testing.T, c *cloud) {
	h.helm(t, "rollback", "real", "1", "--namespace", namespace, "--wait", "--timeout", "10m")
	if got := h.expiration(t); got != "expiration = 86400\n" {
		t.Errorf("keystone.conf in the pod has %q", got)
	}
	c.eventualToken(t)
}

// keepsData removes the release and installs it again: passwords and data are the same.
func (h *helmTest) keepsData(t *testing.T, c *cloud) {
	if r := c.openstack(t, "project", "create", "kept", "-f", "value", "-c", "name"); r.out != "kept\n" {
		t.Fatalf("the project was not created: %s", r.out)
	}
	password := c.password(t)
	h.helm(t, "uninstall", "real", "--namespace", namespace, "--wait", "--timeout", "10m")
	h.helm(t, "install", "real", ".", "--namespace", namespace, "--wait", "--wait-for-jobs", "--timeout", "20m")
	if c.password(t) != password {
		t.Error("the password is another one")
	}
	c.eventualToken(t)
	if r := c.openstack(t, "project", "show", "kept", "-f", "value", "-c", "name"); r.out != "kept\n" {
		t.Errorf("the project is gone: %s", r.out)
	}
}

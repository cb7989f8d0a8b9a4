package realcloud_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCheck runs kolla check against a cloud with all services, as a machine outside that also reaches floating IPs:
// in a cloud that works, killed in the middle, and after breaks by hand. HAProxy runs in the cluster, and the logs
// of all services go to a store.
func TestCheck(t *testing.T) {
	c := newCloud(t, "compute-kit", 3)
	c.encrypt(t)
	c.backends = []string{"rbd"}
	c.write(t, "real.auto.vars.hcl", values(`rbd = { type = "rbd" }`))
	const nodes = "  nodes = role.control\n}\n"
	c.edit(t, nodes, "  mode  = \"managed\"\n\n  keepalived {\n    interface = \"eth0\"\n  }\n"+nodes)
	s := newLogStore(t, c)
	c.ceph(t)
	take(t, c, []step{{"apply", appliesAll}})
	c.kolla(t, 0, "exposure", "certificate", "-ca", "-out", caFile)
	steps := []step{{"resources", resourcesAreMade}, {"request followed", s.followsRequest}, {"works", checkPasses}, {"killed", killedCheckIsCleaned}, {"deep", tempestRunsInside}}
	for _, b := range faults {
		steps = append(steps, step{b.name, func(t *testing.T, c *cloud) { b.isFound(t, c) }})
	}
	take(t, c, append(steps, step{"no changes", func(t *testing.T, c *cloud) { c.noChanges(t) }}))
}

// checked is the JSON of kolla check.
type checked struct {
	Clean  bool
	Checks []struct {
		Name, Result, Problem string
		Seconds               float64
		Request               struct {
			Status int
		}
	}
	Causes []string
	Left   []string `json:"left_behind"`
}

// failed returns the names of the checks that failed.
func (r checked) failed() (names []string) {
	for _, check := range r.Checks {
		if check.Result == "failed" {
			names = append(names, check.Name)
		}
	}
	return names
}

// checkCommand returns the command of kolla check on a machine that reaches the VIP, floating IPs and the API server.
// The file check.pid gets the ID of its process.
func (c *cloud) checkCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	const kubeconfig = "outside.kubeconfig"
	text, err := os.ReadFile(c.cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	c.write(t, kubeconfig, strings.ReplaceAll(string(text), "127.0.0.1", "10.200.0.1"))
	argv := append([]string{"sh", "-c", `echo $$ > check.pid; exec "$@"`, "sh", filepath.Join(c.root, "bin", "kolla"), "check"}, args...)
	cmd, err := c.cluster.OnProvider(c.interruptible(t), providerAddress, externalGateway, "", argv...)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(c.dir, kubeconfig), "NO_COLOR=1")
	return cmd
}

// check runs kolla check.
func (c *cloud) check(t *testing.T, args ...string) checked {
	t.Helper()
	cmd := c.checkCommand(t, append([]string{"-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var report checked
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := map[bool]int{true: 0, false: 2}[report.Clean]; cmd.ProcessState.ExitCode() != want {
		t.Errorf("exit code %d, want %d:\n%s", cmd.ProcessState.ExitCode(), want, out)
	}
	if strings.Contains(string(out), c.password(t)) {
		t.Error("the report has the password of the administrator")
	}
	return report
}

// leftByChecks returns the names of projects and users of checks.
func (c *cloud) leftByChecks(t *testing.T) (out []string) {
	t.Helper()
	for _, kind := range []string{"project", "user"} {
		for name := range strings.Lines(c.value(t, kind, "list", "-f", "value", "-c", "Name")) {
			if strings.HasPrefix(name, "kolla-check-") {
				out = append(out, kind+" "+strings.TrimSpace(name))
			}
		}
	}
	return out
}

// things lists what checks make, of all projects. Neutron makes the default groups of projects when it likes.
func (c *cloud) things(t *testing.T) string {
	t.Helper()
	var out []string
	projects := strings.Fields(c.value(t, "project", "list", "-f", "value", "-c", "ID"))
	for _, list := range []string{"server list --all-projects", "volume list --all-projects", "network list", "router list", "port list", "floating ip list", "security group list -c Name -c Project", "image list"} {
		found := strings.Split(c.value(t, append(strings.Fields(list), "-f", "value", "-c", "ID")...), "\n")
		found = slices.DeleteFunc(found, func(line string) bool {
			return slices.ContainsFunc(projects, func(id string) bool { return strings.HasSuffix(line, " default "+id) })
		})
		slices.Sort(found)
		out = append(out, list+": "+strings.Join(found, ", "))
	}
	return strings.Join(out, "\n")
}

// checkPasses checks that all checks succeed in a cloud that works, and that nothing is left behind.
func checkPasses(t *testing.T, c *cloud) {
	c.value(t, "image", "set", "--public", "guest")
	before := c.things(t)
	began := time.Now()
	report := c.check(t, "-timeout=10m")
	measured(t, "kolla check, all services", time.Since(began).Round(time.Second))
	for _, check := range report.Checks {
		measured(t, "kolla check: "+check.Name, fmt.Sprintf("%s, %.1f s", check.Result, check.Seconds))
		if check.Result != "ok" {
			t.Errorf("%s: %s: %s (HTTP %d)", check.Name, check.Result, check.Problem, check.Request.Status)
		}
	}
	if len(report.Checks) < 11 || len(report.Left) > 0 {
		t.Errorf("%d checks, left behind: %q", len(report.Checks), report.Left)
	}
	if left := c.leftByChecks(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if after := c.things(t); after != before {
		t.Errorf("there was\n%s\nand after the checks there is\n%s", before, after)
	}
}

// killedCheckIsCleaned kills a check that has a server, and checks that the next one removes all of it.
func killedCheckIsCleaned(t *testing.T, c *cloud) {
	before := c.things(t)
	cmd := c.checkCommand(t, "-timeout=2m")
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if !strings.Contains(out.String(), "\nserver ") {
			return errors.New("there is no server yet:\n" + out.String())
		}
		return nil
	})
	text, err := os.ReadFile(filepath.Join(c.dir, "check.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if left := c.leftByChecks(t); len(left) != 2 {
		t.Fatalf("the killed check left behind %q, want a project and a user:\n%s", left, out)
	}
	eventually(t, func() error {
		if report := c.check(t, "-only=token"); !report.Clean {
			t.Fatalf("%+v", report)
		}
		if left := c.leftByChecks(t); len(left) > 0 {
			return fmt.Errorf("left behind: %q", left)
		}
		return nil
	})
	if after := c.things(t); after != before {
		t.Errorf("there was\n%s\nand after the killed check there is\n%s", before, after)
	}
}

// tempestRunsInside runs a few tests of Tempest in a pod.
func tempestRunsInside(t *testing.T, c *cloud) {
	r := finish(t, c.checkCommand(t, "-deep", "-tests=tempest.api.identity.v3.test_tokens|tempest.api.image.v2.test_versions"))
	if r.code != 0 || !strings.Contains(r.out, "\n| identity |") || !strings.Contains(r.out, "\n| images |") {
		t.Errorf("exit code %d\n%s", r.code, r.out)
	}
	if left := c.probes(t); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// fault is something that is broken by hand.
type fault struct {
	name   string
	breaks func(*testing.T, *cloud)
	mends  func(*testing.T, *cloud) // and an apply
	only   string                   // the checks to run
	failed string                   // the check that fails; empty: any
	cause  string                   // a part of a cause
}

// scaled returns a break that leaves a workload without pods.
func scaled(workload string) func(*testing.T, *cloud) {
	return func(t *testing.T, c *cloud) {
		c.kubectl(t, "scale", workload, "--replicas=0")
		name := workload[strings.Index(workload, "/")+1:]
		eventually(t, func() error {
			if pods := c.kubectl(t, "get", "pods", "-l", "app.kubernetes.io/component="+name, "-o", "name"); pods != "" {
				return errors.New("there still is " + pods)
			}
			return nil
		})
	}
}

// faults are the faults that kolla check finds.
var faults = []fault{
	{name: "Glance without pods", breaks: scaled("deployment/glance-api"), only: "image", failed: "image", cause: "Deployment/glance-api has no pods"},
	{name: "no scheduler", breaks: scaled("statefulset/nova-scheduler"), only: "server", failed: "server", cause: "StatefulSet/nova-scheduler has no pods"},
	{name: "no queue", breaks: scaled("statefulset/rabbitmq-server"), only: "server,volume", cause: "StatefulSet/rabbitmq-server has no pods"},
	{
		name: "no controller of OVN", only: "server,floating-ip", failed: "server", cause: "ovn-controller on real-2, ovn-controller on real-3",
		breaks: func(t *testing.T, c *cloud) {
			for _, set := range strings.Fields(c.kubectl(t, "get", "daemonsets", "-l", "app.kubernetes.io/name=ovn-controller", "-o", "name")) {
				c.kubectl(t, "patch", set, "--type=merge", "-p", `{"spec": {"template": {"spec": {"nodeSelector": {"kubernetes.io/hostname": "nowhere"}}}}}`)
			}
			eventually(t, func() error {
				for agent := range strings.Lines(c.value(t, "network", "agent", "list", "-f", "value", "-c", "Agent Type", "-c", "Alive")) {
					if strings.HasPrefix(agent, "OVN Controller") && strings.Contains(agent, "True") {
						return errors.New("an agent is alive: " + agent)
					}
				}
				return nil
			})
		},
	},
	{
		name: "another password", only: "image", failed: "image", cause: "Keystone refuses the password of user glance",
		breaks: func(t *testing.T, c *cloud) { c.value(t, "user", "set", "--password", "set-by-somebody", "glance") },
		mends: func(t *testing.T, c *cloud) {
			c.kolla(t, 0, "apply", "-auto-approve", "-replace="+c.jobOf(t, "glance", "register-users"))
		},
	},
}

// isFound breaks the cloud, and checks that kolla check fails and says why. It succeeds again when the cloud is mended,
// and then nothing is left behind.
func (f fault) isFound(t *testing.T, c *cloud) {
	f.breaks(t, c)
	eventually(t, func() error { // connections and tokens of before may serve for a while
		report := c.check(t, "-timeout=2m", "-only="+f.only)
		failed := report.failed()
		if len(failed) == 0 || f.failed != "" && !slices.Contains(failed, f.failed) || !strings.Contains(strings.Join(report.Causes, "\n"), f.cause) {
			t.Logf("not yet: %+v", report)
			return fmt.Errorf("want a failure of %s, because of %q: %+v", f.failed, f.cause, report)
		}
		return nil
	})
	if f.mends != nil {
		f.mends(t, c)
	}
	c.kolla(t, 0, "apply", "-auto-approve")
	eventually(t, func() error {
		if report := c.check(t, "-timeout=10m", "-only="+f.only); !report.Clean {
			return fmt.Errorf("%+v", report)
		}
		if left := c.leftByChecks(t); len(left) > 0 {
			return fmt.Errorf("left behind: %q", left)
		}
		return nil
	})
}

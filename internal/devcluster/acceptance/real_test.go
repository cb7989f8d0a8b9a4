package acceptance_test

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

//go:embed testdata/real.yaml
var realWorkloads string

// needsRealNodes leaves a test out where real nodes cannot be. `make test-real`
// sets the variable, after it has seen to all that they need.
func needsRealNodes(t *testing.T) {
	t.Helper()
	if os.Getenv("KOLLA_REAL") == "" {
		t.Skip("real nodes need root; run make test-real")
	}
}

// TestRealNodes goes through the life of one cluster with real nodes; each step
// finds it as the step before has left it.
func TestRealNodes(t *testing.T) {
	needsRealNodes(t)
	before := traces(t)
	c := devcluster{dir: filepath.Join(t.TempDir(), "cluster")}
	c.up(t, "-real=2", "-node", "simulated")
	t.Cleanup(func() { c.end(t) })
	if now := traces(t); now != before {
		t.Errorf("the computer is not as it was before: %s\nbefore: %s", now, before)
	}
	c.apply(t, realWorkloads)
	steps := []struct {
		name string
		do   func(*testing.T, devcluster)
	}{
		{"pods run", realPodsRun},
		{"volumes are folders of a node", volumesAreFolders},
		{"reached from outside", reachedFromOutside},
		{"names resolve", namesResolve},
		{"node reboots", nodeReboots},
		{"network restarts", networkRestarts},
		{"supervisor killed", realSupervisorKilled},
		{"stopped", func(t *testing.T, c devcluster) { must(t, run(t, "down", "-dir", c.dir, "-delete")) }},
	}
	for _, step := range steps {
		if !t.Run(step.name, func(t *testing.T) { step.do(t, c) }) {
			return
		}
	}
	if now := traces(t); now != before {
		t.Errorf("the computer is not as it was before: %s\nbefore: %s", now, before)
	}
	if left := cgroups(t); len(left) > 0 {
		t.Errorf("cgroups are left: %v", left)
	}
}

// traces are what a machine could leave behind on the computer it runs on.
func traces(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	files := []string{
		"/proc/self/mounts", "/proc/net/route", "/proc/net/dev_mcast", "/proc/sys/net/ipv4/ip_forward",
		"/proc/sys/vm/overcommit_memory", "/proc/sys/vm/panic_on_oom", "/proc/sys/kernel/panic", "/proc/sys/kernel/panic_on_oops",
		"/proc/sys/kernel/keys/root_maxkeys", "/proc/sys/kernel/hostname",
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s:\n%s", file, data)
	}
	rules, err := exec.Command("iptables-save").Output()
	if err != nil {
		t.Fatalf("iptables-save: %v", err)
	}
	for line := range strings.Lines(string(rules)) {
		if !strings.HasPrefix(line, "#") {
			all.WriteString(line)
		}
	}
	return all.String()
}

func cgroups(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"/sys/fs/cgroup/kolla-devcluster-*", "/sys/fs/cgroup/*/kolla-devcluster-*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

func realPodsRun(t *testing.T, c devcluster) {
	c.kubectl(t, "rollout", "status", "daemonset/everywhere", "deployment/simulated", "--timeout=60s")
	if logs := c.kubectl(t, "-n", "kube-system", "logs", "deployment/coredns"); !strings.Contains(logs, "CoreDNS") {
		t.Errorf("the logs of coredns are %q", logs)
	}
	c.kubectl(t, "-n", "default", "rollout", "status", "statefulset/keeper", "--timeout=60s")
}

func volumesAreFolders(t *testing.T, c devcluster) {
	path := c.get(t, "{.items[0].spec.local.path}", "pv")
	node := c.get(t, "{.spec.nodeName}", "pod/keeper-0")
	folder := filepath.Join(c.dir, "machines", node, path)
	info, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	const group = 4242
	if owner := info.Sys().(*syscall.Stat_t); owner.Gid != group {
		t.Errorf("%s belongs to group %d, want the pod's, %d", folder, owner.Gid, group)
	}
	if err := os.WriteFile(filepath.Join(folder, "kept"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// reachedFromOutside asks the node that does not have the pod.
func reachedFromOutside(t *testing.T, c devcluster) {
	other := "10.200.0.11"
	if strings.TrimSpace(c.get(t, "{.items[0].status.hostIP}", "pods", "-n", "kube-system", "-l", "k8s-app=kube-dns")) == other {
		other = "10.200.0.12"
	}
	eventually(t, 10*time.Second, func() error {
		r := run(t, "outside", "-dir", c.dir, "-address", "10.200.0.100", "curl", "-sS", "-m", "2", "http://"+other+":30080/health")
		if r.code != 0 || r.stdout != "OK" {
			return fmt.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
		}
		return nil
	})
	r := run(t, "outside", "-dir", c.dir, "-address", other, "true")
	if r.code == 0 || !strings.Contains(r.stderr, "the address is taken") {
		t.Errorf("taking a node's address: exit code %d, %s", r.code, r.stderr)
	}
	if r := run(t, "outside", "-dir", c.dir, "sh", "-c", "exit 7"); r.code != 7 {
		t.Errorf("exit code %d, want the command's own, 7", r.code)
	}
}

// namesResolve asks the cluster's DNS from outside: for a Service, and for a name
// that only another name server could know.
func namesResolve(t *testing.T, c devcluster) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"kubernetes.default.svc.cluster.local.": "10.96.0.1",
		"example.org.":                          "no such host",
	} {
		t.Setenv(lookupVariable, name)
		if r := run(t, "outside", "-dir", c.dir, "-address", "10.200.0.100", self); !strings.Contains(r.stdout, want) {
			t.Errorf("%s resolves to %q, want %s\n%s", name, r.stdout, want, r.stderr)
		}
	}
}

// lookupVariable makes the test binary look up a name with the cluster's DNS.
const lookupVariable = "DEVCLUSTER_TEST_LOOKUP"

func lookup(name string) {
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", "10.200.0.11:30053")
	}}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	fmt.Println(resolver.LookupHost(ctx, name))
}

// nodeReboots: everything that ran on it is killed, and runs again.
func nodeReboots(t *testing.T, c devcluster) {
	node := c.get(t, "{.spec.nodeName}", "pod/keeper-0")
	must(t, run(t, "restart", "-dir", c.dir, node))
	eventually(t, 60*time.Second, func() error {
		restarts := c.get(t, "{.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].ready}", "pod/keeper-0")
		if restarts != "1 true" {
			return fmt.Errorf("restarts and readiness of the pod are %q", restarts)
		}
		return nil
	})
	kept := filepath.Join(c.dir, "machines", node, c.get(t, "{.items[0].spec.local.path}", "pv"), "kept")
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

// networkRestarts: the machines find it again.
func networkRestarts(t *testing.T, c devcluster) {
	must(t, run(t, "restart", "-dir", c.dir, "fabric"))
	reachedFromOutside(t, c)
	c.kubectl(t, "-n", "kube-system", "logs", "deployment/coredns", "--tail=1")
}

// realSupervisorKilled: everything on the machines ends with it, and the next
// start clears up the rest.
func realSupervisorKilled(t *testing.T, c devcluster) {
	found, _ := c.status(t)
	signal(t, found.PID, syscall.SIGKILL)
	gone(t, 5*time.Second, found.pids()...)
	eventually(t, 10*time.Second, func() error {
		if running := processesIn(t, "/run/programs/containerd"); running > 0 {
			return fmt.Errorf("%d processes of the machines still run", running)
		}
		return nil
	})
	c.up(t, "-real=2")
	c.kubectl(t, "rollout", "status", "daemonset/everywhere", "statefulset/keeper", "--timeout=60s")
}

// processesIn counts processes whose command line begins with a path.
func processesIn(t *testing.T, path string) int {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, line := range lines {
		if data, err := os.ReadFile(line); err == nil && strings.HasPrefix(string(data), path) {
			n++
		}
	}
	return n
}

// TestRealNodesMissing: what is missing is said before anything is made.
func TestRealNodesMissing(t *testing.T) {
	needsRealNodes(t)
	const nobody = 65534
	tests := []struct {
		name string
		args []string
		path string
		uid  uint32
		want string
	}{
		{"root", nil, os.Getenv("PATH"), nobody, "real nodes need root"},
		{"images", []string{"-images", "/nonexistent"}, os.Getenv("PATH"), 0, "make images"},
		{"programs", []string{"-programs", "/nonexistent"}, os.Getenv("PATH"), 0, "make devnode"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cluster")
			cmd := exec.Command(binary, append([]string{"up", "-dir", dir, "-real"}, test.args...)...)
			cmd.Env = append(os.Environ(), "PATH="+test.path)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: test.uid}}
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.want) {
				t.Errorf("%v, want %q:\n%s", err, test.want, out)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("the directory was made")
			}
		})
	}
	t.Run("program", func(t *testing.T) {
		cmd := exec.Command(binary, "up", "-dir", filepath.Join(t.TempDir(), "cluster"), "-real")
		cmd.Env = append(os.Environ(), "PATH=/nonexistent")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "apt-get install iptables") {
			t.Errorf("%v, want to be told how to get iptables:\n%s", err, out)
		}
	})
}

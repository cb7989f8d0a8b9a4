package acceptance_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
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

// needsRealNodes skips a test if real nodes are not available. `make test-real` prepares all that
// the nodes need and then sets the variable.
func needsRealNodes(t *testing.T) {
	t.Helper()
	if os.Getenv("KOLLA_REAL") == "" {
		t.Skip("real nodes need root; run make test-real")
	}
}

// TestRealNodes goes through the life of one cluster with real nodes. Each step continues with the
// cluster of the step before.
func TestRealNodes(t *testing.T) {
	needsRealNodes(t)
	before := traces(t)
	c := devcluster{dir: filepath.Join(t.TempDir(), "cluster")}
	c.up(t, "-real=2", "-node", "simulated")
	t.Cleanup(func() { c.end(t) })
	if now := traces(t); now != before {
		t.Errorf("the computer is not as it was before: %s\nbefore: %s", now, before)
	}
	cgroup := c.cgroup(t)
	c.apply(t, realWorkloads)
	steps := []struct {
		name string
		do   func(*testing.T, devcluster)
	}{
		{"pods run", realPodsRun},
		{"volumes are folders of a node", volumesAreFolders},
		{"reached from outside", reachedFromOutside},
		{"names resolve", namesResolve},
		{"pods see each other", podsSeeEachOther},
		{"node reboots", nodeReboots},
		{"network restarts", networkRestarts},
		{"supervisor killed", realSupervisorKilled},
		{"stopped", stopped},
	}
	for _, step := range steps {
		if !t.Run(step.name, func(t *testing.T) { step.do(t, c) }) {
			return
		}
	}
	if now := traces(t); now != before {
		t.Errorf("the computer is not as it was before: %s\nbefore: %s", now, before)
	}
	wantNoCgroup(t, cgroup)
}

// traces returns the settings of the computer that real nodes could change.
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

// cgroup returns the cgroup that contains the machines of a cluster.
func (c devcluster) cgroup(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, "machines", "real-1", "etc", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	var settings struct{ Cgroup string }
	if err := json.Unmarshal(data, &settings); err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(settings.Cgroup)
}

// wantNoCgroup checks that no hierarchy has a cgroup with the name.
func wantNoCgroup(t *testing.T, name string) {
	t.Helper()
	for _, pattern := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} {
		left, err := filepath.Glob(pattern + name)
		if err != nil || len(left) > 0 {
			t.Errorf("cgroups are left: %v %v", left, err)
		}
	}
}

func realPodsRun(t *testing.T, c devcluster) {
	c.kubectl(t, "rollout", "status", "daemonset/everywhere", "deployment/simulated", "--timeout="+patience.String())
	if logs := c.kubectl(t, "-n", "kube-system", "logs", "deployment/coredns"); !strings.Contains(logs, "CoreDNS") {
		t.Errorf("the logs of coredns are %q", logs)
	}
	c.kubectl(t, "-n", "default", "rollout", "status", "statefulset/keeper", "--timeout="+patience.String())
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

// reachedFromOutside sends requests to the node that does not run the pod.
func reachedFromOutside(t *testing.T, c devcluster) {
	other := "10.200.0.11"
	if strings.TrimSpace(c.get(t, "{.items[0].status.hostIP}", "pods", "-n", "kube-system", "-l", "k8s-app=kube-dns")) == other {
		other = "10.200.0.12"
	}
	eventually(t, func() error {
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
	for script, want := range map[string]int{"exit 7": 7, "kill $$": 128 + int(syscall.SIGTERM)} {
		if r := run(t, "outside", "-dir", c.dir, "sh", "-c", script); r.code != want {
			t.Errorf("%s: exit code %d, want the command's own, %d", script, r.code, want)
		}
	}
	const folder = "/nonexistent/folder"
	if r := run(t, "outside", "-dir", c.dir, "-root", folder, "true"); r.code == 0 || !strings.Contains(r.stderr, folder) {
		t.Errorf("a file system that is not there: exit code %d, %s", r.code, r.stderr)
	}
	if _, err := os.Stat(filepath.Dir(folder)); err == nil {
		t.Error("a file system that is not there was made")
	}
}

// namesResolve queries the cluster's DNS from outside: for a Service, and for a name that only
// another name server could know.
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

// lookupVariable turns the test binary into a program that looks up a name with the cluster's DNS.
const lookupVariable = "DEVCLUSTER_TEST_LOOKUP"

func lookup(name string) {
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", "10.200.0.11:30053")
	}}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	fmt.Println(resolver.LookupHost(ctx, name))
}

// podsSeeEachOther checks that pods on different nodes see each other's own addresses.
func podsSeeEachOther(t *testing.T, c devcluster) {
	address, want := c.podOn(t, "real-1", "{.items[0].status.podIP}"), c.podOn(t, "real-2", "{.items[0].status.podIP}")
	wantSeen(t, c.inPod(t, "real-1"), c.inPod(t, "real-2"), address, want)
}

func (c devcluster) podOn(t *testing.T, node, path string) string {
	t.Helper()
	return c.get(t, path, "pods", "-l", "app=everywhere", "--field-selector", "spec.nodeName="+node)
}

// inPod returns a command that runs this test binary in the network namespace of the pod on a node.
func (c devcluster) inPod(t *testing.T, node string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	uid := c.podOn(t, node, "{.items[0].metadata.uid}")
	tables, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if data, err := os.ReadFile(table); err == nil && strings.Contains(string(data), "pod"+uid) {
			return exec.Command("nsenter", "--net="+filepath.Join(filepath.Dir(table), "ns", "net"), self)
		}
	}
	t.Fatalf("the pod on %s has no process", node)
	return nil
}

// peerVariable turns the test binary into one end of a connection. The value is "listen" or the
// address to connect to.
const (
	peerVariable = "DEVCLUSTER_TEST_PEER"
	peerPort     = "9999"
)

// peer connects to an address, or listens and prints the address of the client.
func peer(address string) error {
	if address != "listen" {
		conn, err := net.DialTimeout("tcp", address, 2*time.Second)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	listener, err := net.Listen("tcp", ":"+peerPort)
	if err != nil {
		return err
	}
	defer listener.Close()
	_ = listener.(*net.TCPListener).SetDeadline(time.Now().Add(patience))
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Print(conn.RemoteAddr().(*net.TCPAddr).IP)
	return nil
}

// nodeReboots checks that a reboot of a node kills all its processes, and that its pods run again.
func nodeReboots(t *testing.T, c devcluster) {
	node := c.get(t, "{.spec.nodeName}", "pod/keeper-0")
	_, before, _ := strings.Cut(c.get(t, "{.status.containerStatuses[0].containerID}", "pod/keeper-0"), "://")
	if len(cgroupsOf(t, before)) == 0 {
		t.Fatalf("container %s has no cgroup", before)
	}
	must(t, run(t, "restart", "-dir", c.dir, node))
	eventually(t, func() error {
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
	if left := cgroupsOf(t, before); len(left) > 0 {
		t.Errorf("the cgroups of a container outlived the power of its node: %s", left)
	}
}

// cgroupsOf returns the cgroups of a container.
func cgroupsOf(t *testing.T, container string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Base(path) == container {
			out = append(out, path)
		}
		return nil // cgroups come and go during the walk
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// networkRestarts checks that all machines are connected again after a restart of the network, also
// machines outside of the cluster.
func networkRestarts(t *testing.T, c devcluster) {
	cmd := exec.Command(binary, "outside", "-dir", c.dir, "-address", "10.200.0.101",
		"sh", "-c", "echo here; while read -r line; do curl -s -m 2 -o /dev/null http://10.200.0.1:5000/v2/ && exit 7; sleep 0.5; done")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = stdout.Read(make([]byte, 16))
	must(t, run(t, "restart", "-dir", c.dir, "fabric"))
	_, _ = fmt.Fprint(stdin, strings.Repeat("again\n", 20))
	stdin.Close()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("a command outside does not find the network again: %v", err)
	}
	reachedFromOutside(t, c)
	c.kubectl(t, "-n", "kube-system", "logs", "deployment/coredns", "--tail=1")
}

// realSupervisorKilled checks that all processes on the machines end with the supervisor, and that
// no cgroup is left even if the cluster is never started again. Then it starts the cluster and
// checks that its pods run again.
func realSupervisorKilled(t *testing.T, c devcluster) {
	if processesIn(t, c.dir) == 0 {
		t.Error("no process is found to run on the machines")
	}
	found, _ := c.status(t)
	cgroup := c.cgroup(t)
	signal(t, found.PID, syscall.SIGKILL)
	gone(t, found.pids()...)
	if running := processesIn(t, c.dir); running > 0 {
		t.Errorf("%d processes of the machines still run", running)
	}
	wantNoCgroup(t, cgroup)
	c.up(t, "-real=2")
	restarts := c.get(t, "{.items[*].status.containerStatuses[*].restartCount}", "pods", "-n", "kube-system", "-l", "k8s-app=kube-dns")
	if restarts == "0" {
		t.Error("the cluster was ready before its DNS was started again")
	}
	c.kubectl(t, "rollout", "status", "daemonset/everywhere", "statefulset/keeper", "--timeout="+patience.String())
}

// stopped checks that a stop also ends programs outside of the cluster that use its network.
func stopped(t *testing.T, c devcluster) {
	outside := map[string]int{
		"trap 'exit 5' TERM; echo here; while :; do sleep 0.1; done": 5,
		"echo here; exec sleep 600":                                  128 + int(syscall.SIGTERM),
	}
	var all []*exec.Cmd
	for script := range outside {
		cmd := exec.Command(binary, "outside", "-dir", c.dir, "-address", fmt.Sprintf("10.200.0.%d", 120+len(all)), "sh", "-c", script)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = stdout.Read(make([]byte, 16))
		all = append(all, cmd)
	}
	must(t, run(t, "down", "-dir", c.dir, "-delete"))
	for _, cmd := range all {
		timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		if !timer.Stop() {
			t.Errorf("%v ran on after the cluster", cmd.Args)
		}
		if want := outside[cmd.Args[len(cmd.Args)-1]]; cmd.ProcessState.ExitCode() != want {
			t.Errorf("%v: %v, want exit status %d", cmd.Args, err, want)
		}
	}
}

// processesIn counts processes that see a file system of the machines in a cluster's directory.
func processesIn(t *testing.T, dir string) int {
	t.Helper()
	tables, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, table := range tables {
		if data, err := os.ReadFile(table); err == nil && strings.Contains(string(data), filepath.Join(dir, "machines")) {
			n++
		}
	}
	return n
}

// TestRealNodesLater adds a real node to a cluster that had only simulated nodes. The path of the
// cluster's directory contains a comma, which mount options would misread. Then it moves the
// directory away, and checks that no process or cgroup is left.
func TestRealNodesLater(t *testing.T) {
	needsRealNodes(t)
	c := devcluster{dir: filepath.Join(t.TempDir(), "a cluster, or two")}
	c.up(t)
	must(t, run(t, "down", "-dir", c.dir))
	c.up(t, "-real")
	t.Cleanup(func() { c.end(t) })
	c.apply(t, realWorkloads)
	c.kubectl(t, "rollout", "status", "statefulset/keeper", "--timeout="+patience.String())
	if path := c.get(t, "{.items[0].spec.local.path}", "pv"); path == "" {
		t.Error("the volume is not a folder of the node")
	}
	cgroup := c.cgroup(t)
	found, _ := c.status(t)
	if err := os.Rename(c.dir, c.dir+" gone"); err != nil {
		t.Fatal(err)
	}
	gone(t, found.pids()...)
	wantNoCgroup(t, cgroup)
}

// TestRealNodesMissing checks that missing requirements are reported before a directory is created.
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
		{"programs", []string{"-programs", "/nonexistent"}, os.Getenv("PATH"), 0, "/nonexistent/cni/portmap"},
		{"programs, detached", []string{"-programs", "/nonexistent", "-detach"}, os.Getenv("PATH"), 0, "make devnode"},
		{"a name", []string{"-node", "real-1"}, os.Getenv("PATH"), 0, "real-1 is the name of a real node"},
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

package acceptance_test

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "embed"
)

//go:embed testdata/workloads.yaml
var workloads string

// TestCluster goes through the life of one cluster. Each step continues with the cluster of the
// step before.
func TestCluster(t *testing.T) {
	c := devcluster{dir: filepath.Join(t.TempDir(), "cluster")}
	c.up(t, "-nodes", "2", "-node", "ctl-1=tier=control", "-audit")
	t.Cleanup(func() { c.end(t) })
	c.apply(t, workloads)

	steps := []struct {
		name string
		do   func(*testing.T, devcluster)
	}{
		{"status", statusOfRunning},
		{"kubeconfig", kubeconfigIsPrivate},
		{"nodes", nodesAreThere},
		{"listens on loopback only", listensOnLoopbackOnly},
		{"workloads become ready", workloadsBecomeReady},
		{"outcomes", outcomesHappen},
		{"pod recovers", podRecovers},
		{"logs", logsCanBeRead},
		{"volumes", volumesFollowTheirClaims},
		{"node becomes not ready", nodeBecomesNotReady},
		{"audit log", auditLogIsWritten},
		{"second start is refused", secondStartIsRefused},
		{"beside another", besideAnother},
		{"component restarts", componentRestarts},
		{"supervisor killed", supervisorKilled},
		{"stopped and started", stoppedAndStarted},
		{"deleted", deleted},
	}
	for _, step := range steps {
		if !t.Run(step.name, func(t *testing.T) { step.do(t, c) }) {
			break
		}
	}
}

func statusOfRunning(t *testing.T, c devcluster) {
	found, code := c.status(t)
	if code != 0 || !found.Running || !found.Ready || len(found.Components) != 5 {
		t.Errorf("exit code %d, %+v; want a running cluster of 5 components", code, found)
	}
	if !strings.HasPrefix(found.Versions["kubernetes"], "v1.") || found.Versions["etcd"] == "" || found.Versions["kwok"] == "" {
		t.Errorf("versions are %v", found.Versions)
	}
	server := c.kubectl(t, "version", "-o", "yaml")
	if !strings.Contains(server, "gitVersion: "+found.Versions["kubernetes"]) {
		t.Errorf("kubectl version says\n%s", server)
	}
	if text := must(t, run(t, "status", "-dir", c.dir)); !strings.Contains(text, found.URL) {
		t.Errorf("status does not tell the URL:\n%s", text)
	}
}

func kubeconfigIsPrivate(t *testing.T, c devcluster) {
	file := filepath.Join(c.dir, "kubeconfig")
	stat, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if stat.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, want 0600", stat.Mode())
	}
	if server := c.kubectl(t, "config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"); !strings.HasPrefix(server, "https://127.0.0.1:") {
		t.Errorf("it names the server %s, want one on loopback", server)
	}
	t.Setenv("KUBECONFIG", file)
	if can := must(t, run(t, "kubectl", "auth", "can-i", "*", "*", "--all-namespaces")); strings.TrimSpace(can) != "yes" {
		t.Errorf("its user is no administrator: %s", can)
	}
}

func nodesAreThere(t *testing.T, c devcluster) {
	if got, want := c.get(t, "{.items[*].metadata.name}", "nodes"), "ctl-1 node-1 node-2"; got != want {
		t.Errorf("nodes are %q, want %q", got, want)
	}
	if got := c.get(t, "{.items[*].metadata.name}", "nodes", "-l", "tier=control,type=kwok,kubernetes.io/hostname=ctl-1"); got != "ctl-1" {
		t.Errorf("nodes with the labels are %q, want ctl-1", got)
	}
	if got := c.get(t, "{.items[*].spec.taints}", "nodes"); got != "" {
		t.Errorf("nodes have taints: %s", got)
	}
}

func workloadsBecomeReady(t *testing.T, c devcluster) {
	c.wait(t, "condition=Available", "deployment/web")
	c.wait(t, "jsonpath={.status.phase}=Bound", "pvc/data-db-0", "pvc/data-db-1")
	c.wait(t, "jsonpath={.status.readyReplicas}=2", "statefulset/db")
	c.wait(t, "jsonpath={.status.numberReady}=3", "daemonset/agent")
	c.wait(t, "condition=Complete", "job/good")
	if got := c.get(t, "{.items[*].spec.nodeName}", "pods", "-l", "app=pinned"); got != "ctl-1" {
		t.Errorf("the pod with a node selector is on %q, want ctl-1", got)
	}
}

func outcomesHappen(t *testing.T, c devcluster) {
	c.wait(t, "condition=Failed", "job/bad", "job/bad-on-failure")
	const state = "{.items[*].status.containerStatuses[0].state"
	tests := []struct{ app, path, want string }{
		{"bad", state + ".terminated.exitCode}", "1"},
		{"bad", state + ".terminated.message}", "no database"},
		{"crash", state + ".waiting.reason}", "CrashLoopBackOff"},
		{"image-pull", state + ".waiting.reason}", "ImagePullBackOff"},
		{"image-pull", "{.items[*].status.phase}", "Pending"},
		{"not-ready", "{.items[*].status.phase}", "Running"},
		{"not-ready", "{.items[*].status.containerStatuses[0].ready}", "false"},
		{"misspelt", state + ".waiting.reason}", "UnknownOutcome"},
	}
	for _, test := range tests {
		eventually(t, func() error {
			if got := c.get(t, test.path, "pods", "-l", "app="+test.app); got != test.want {
				return fmt.Errorf("%s of the pod of %s is %q, want %q", test.path, test.app, got, test.want)
			}
			return nil
		})
	}
	if got := c.get(t, "{.status.availableReplicas}", "deployment/crash"); got != "" {
		t.Errorf("the crashing Deployment has %s available replicas", got)
	}
	// The delay counts from the creation of the pod, so it may already be over.
	c.wait(t, "condition=Available", "deployment/slow")
	created := c.get(t, "{.items[0].metadata.creationTimestamp}", "pods", "-l", "app=slow")
	became := c.get(t, `{.items[0].status.conditions[?(@.type=="Ready")].lastTransitionTime}`, "pods", "-l", "app=slow")
	if took := parseTime(t, became).Sub(parseTime(t, created)); took < 2*time.Second {
		t.Errorf("the slow pod became ready after %s, want about 3 s", took)
	}
}

func parseTime(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// podRecovers checks that a change of the outcome annotation takes effect while the pod runs.
func podRecovers(t *testing.T, c devcluster) {
	c.kubectl(t, "annotate", "pod", "-l", "app=crash", "devcluster.kolla/outcome-")
	c.wait(t, "condition=Available", "deployment/crash")
	c.kubectl(t, "annotate", "pod", "-l", "app=crash", "devcluster.kolla/outcome=crash")
	c.wait(t, "condition=Available=false", "deployment/crash")
}

func logsCanBeRead(t *testing.T, c devcluster) {
	if got, want := c.kubectl(t, "logs", "job/bad"), "connecting\ngiving up\n"; got != want {
		t.Errorf("logs of job/bad are %q, want %q", got, want)
	}
	if got := c.kubectl(t, "logs", "deployment/web", "-c", "init"); !strings.Contains(got, "simulated container init") {
		t.Errorf("logs of an init container are %q", got)
	}
	if r := run(t, "kubectl", "-dir", c.dir, "logs", "deployment/image-pull"); r.code == 0 || !strings.Contains(r.stderr, "ImagePullBackOff") {
		t.Errorf("logs of a pod without an image: exit code %d, %s", r.code, r.stderr)
	}
}

func volumesFollowTheirClaims(t *testing.T, c devcluster) {
	volume := c.get(t, "{.spec.volumeName}", "pvc/data-db-1")
	c.kubectl(t, "patch", "pvc/data-db-1", "-p", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
	c.wait(t, "jsonpath={.status.capacity.storage}=2Gi", "pvc/data-db-1")
	c.wait(t, "jsonpath={.spec.capacity.storage}=2Gi", "pv/"+volume)
	c.kubectl(t, "scale", "statefulset/db", "--replicas=1")
	c.kubectl(t, "delete", "pvc/data-db-1", "--timeout="+patience.String())
	c.wait(t, "delete", "pv/"+volume)
}

func nodeBecomesNotReady(t *testing.T, c devcluster) {
	c.kubectl(t, "annotate", "node/node-2", "devcluster.kolla/outcome=not-ready")
	c.wait(t, "condition=Ready=false", "node/node-2")
	c.kubectl(t, "annotate", "node/node-2", "devcluster.kolla/outcome-")
	c.wait(t, "condition=Ready", "node/node-2")
}

func auditLogIsWritten(t *testing.T, c devcluster) {
	c.kubectl(t, "create", "configmap", "audited")
	eventually(t, func() error {
		file, err := os.Open(filepath.Join(c.dir, "audit.log"))
		if err != nil {
			return err
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"verb":"create"`) && strings.Contains(lines.Text(), `"name":"audited"`) {
				return nil
			}
		}
		return fmt.Errorf("no event about the ConfigMap (%v)", lines.Err())
	})
}

func secondStartIsRefused(t *testing.T, c devcluster) {
	found, _ := c.status(t)
	for _, flags := range [][]string{{}, {"-detach"}} {
		r := run(t, append([]string{"up", "-dir", c.dir}, flags...)...)
		if r.code != 1 || !strings.Contains(r.stderr, "already running") || !strings.Contains(r.stderr, found.URL) {
			t.Errorf("up %v: exit code %d, %s", flags, r.code, r.stderr)
		}
	}
}

// besideAnother starts a second cluster and ends it by closing its standard input. The path of its
// directory is longer than the path of a socket may be.
func besideAnother(t *testing.T, c devcluster) {
	other := devcluster{dir: filepath.Join(t.TempDir(), "a longer path "+strings.Repeat("x", 100), "cluster")}
	stdin, cmd := other.untilEOF(t, "-nodes", "0", "-delete")
	t.Cleanup(func() { other.end(t) })
	eventually(t, func() error {
		if found, _ := other.status(t); !found.Ready {
			return fmt.Errorf("not ready: %+v", found)
		}
		return nil
	})
	found, _ := other.status(t)
	if len(found.Nodes) != 0 {
		t.Errorf("nodes are %v, want none", found.Nodes)
	}
	other.kubectl(t, "create", "namespace", "beside")
	if got := c.kubectl(t, "get", "namespace", "beside", "--ignore-not-found"); got != "" {
		t.Errorf("a namespace of one cluster is in the other: %s", got)
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("after the end of its input: %v", err)
	}
	if err := goneNow(found.pids()...); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(other.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its directory is still there: %v", err)
	}
}

func componentRestarts(t *testing.T, c devcluster) {
	before, _ := c.status(t)
	must(t, run(t, "restart", "-dir", c.dir, "apiserver"))
	after, _ := c.status(t)
	if before.pid(t, "kube-apiserver") == after.pid(t, "kube-apiserver") || before.pid(t, "etcd") != after.pid(t, "etcd") {
		t.Errorf("components were %+v and are %+v", before.Components, after.Components)
	}
	c.kubectl(t, "rollout", "restart", "deployment/web")
	c.kubectl(t, "rollout", "status", "deployment/web", "--timeout="+patience.String())
}

// supervisorKilled checks that all components end with the supervisor. A component that hangs is
// the exception: the next start must kill it.
func supervisorKilled(t *testing.T, c devcluster) {
	before, _ := c.status(t)
	hung := before.pid(t, "kube-scheduler")
	signal(t, hung, syscall.SIGSTOP)
	signal(t, before.PID, syscall.SIGKILL)
	var others []int
	for _, pid := range before.pids() {
		if pid != hung {
			others = append(others, pid)
		}
	}
	gone(t, others...)
	if _, code := c.status(t); code != 3 {
		t.Errorf("status exits with %d, want 3", code)
	}
	c.up(t)
	if err := goneNow(hung); err != nil {
		t.Error(err)
	}
	after, _ := c.status(t)
	if after.URL != before.URL {
		t.Errorf("the URL was %s and is %s", before.URL, after.URL)
	}
	if len(after.Nodes) != 3 {
		t.Errorf("nodes are %v, want the 3 from before", after.Nodes)
	}
	c.kubectl(t, "get", "configmap", "audited")
}

func signal(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatalf("send %s to %d: %v", sig, pid, err)
	}
}

func stoppedAndStarted(t *testing.T, c devcluster) {
	before, _ := c.status(t)
	must(t, run(t, "down", "-dir", c.dir))
	if err := goneNow(before.pids()...); err != nil {
		t.Error(err)
	}
	if _, code := c.status(t); code != 3 {
		t.Errorf("status exits with %d, want 3", code)
	}
	if r := run(t, "kubectl", "-dir", c.dir, "get", "nodes"); r.code != 1 || !strings.Contains(r.stderr, "not running") {
		t.Errorf("kubectl of a stopped cluster: exit code %d, %s", r.code, r.stderr)
	}
	must(t, run(t, "down", "-dir", c.dir))

	c.up(t, "-nodes", "3", "-node", "node-1=added=yes")
	after, _ := c.status(t)
	if after.URL != before.URL {
		t.Errorf("the URL was %s and is %s", before.URL, after.URL)
	}
	if got, want := c.get(t, "{.items[*].metadata.name}", "nodes"), "ctl-1 node-1 node-2 node-3"; got != want {
		t.Errorf("nodes are %q, want %q", got, want)
	}
	if got := c.get(t, "{.metadata.labels.added}", "node/node-1"); got != "yes" {
		t.Errorf("the label added to node-1 is %q", got)
	}
	c.kubectl(t, "rollout", "restart", "deployment/web", "statefulset/db")
	c.kubectl(t, "rollout", "status", "statefulset/db", "--timeout="+patience.String())
	c.kubectl(t, "rollout", "status", "deployment/web", "--timeout="+patience.String())
}

func deleted(t *testing.T, c devcluster) {
	found, _ := c.status(t)
	must(t, run(t, "down", "-dir", c.dir, "-delete"))
	if err := goneNow(found.pids()...); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
		t.Errorf("the directory is still there (%v)", err)
	}
}

// listensOnLoopbackOnly checks the sockets of every process of the cluster.
func listensOnLoopbackOnly(t *testing.T, c devcluster) {
	found, _ := c.status(t)
	inodes := map[string]bool{}
	for _, pid := range found.pids() {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil || len(files) == 0 {
			t.Fatalf("list files of process %d: %d, %v", pid, len(files), err)
		}
		for _, file := range files {
			target, _ := os.Readlink(file)
			if inode, ok := strings.CutPrefix(target, "socket:["); ok {
				inodes[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	listening := 0
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		for _, socket := range sockets(t, "/proc/net/"+table) {
			const listen, unconnected = "0A", "07"
			if !inodes[socket.inode] || socket.state != listen && socket.state != unconnected {
				continue
			}
			listening++
			if !socket.loopback(t) {
				t.Errorf("%s listens on %s", table, socket.local)
			}
		}
	}
	if listening != 2 {
		t.Errorf("%d sockets listen, want those of the API server and the kubelets", listening)
	}
}

type socket struct{ local, state, inode string }

func sockets(t *testing.T, table string) []socket {
	t.Helper()
	data, err := os.ReadFile(table)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []socket
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 9 && fields[0] != "sl" {
			all = append(all, socket{local: fields[1], state: fields[3], inode: fields[9]})
		}
	}
	return all
}

// loopback reports whether the socket is on the loopback network. Addresses are hexadecimal, in the
// machine's byte order.
func (s socket) loopback(t *testing.T) bool {
	t.Helper()
	address, _, _ := strings.Cut(s.local, ":")
	octets, err := hex.DecodeString(address)
	if err != nil {
		t.Fatal(err)
	}
	return len(octets) == 4 && (octets[0] == 127 || octets[3] == 127)
}

package realcloud_test

import (
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
	"text/tabwriter"
	"time"
)

// managedExposure is the body of an exposure of the mode managed.
const managedExposure = `
  vip   = "` + vip + `"
  mode  = "managed"
  nodes = role.edge

  keepalived {
    interface = "eth0"
  }

  tls {}
`

// edge returns a cloud with one small service behind an exposure with a body. The service runs on a node that
// no step breaks.
func edge(exposure string) string {
	return `
cloud "edge" {
  release  = "2025.1"
  distro   = "debian-trixie"
  registry = "kolla.test/openstack.kolla"
}

role "inside" {
  nodes = ["real-1"]
}

role "edge" {
  nodes = ["real-2", "real-3"]
}

exposure "public" {` + exposure + `}

definition "answers" {
  port "web" {
    number = 8080
    expose = true
    tls    = false
  }

  port "secure" {
    number = 8081
    public = 8443
    expose = true
  }

  config "answers.cfg" {
    format  = "raw"
    path    = "/etc/answers/answers.cfg"
    content = <<-EOT
      defaults
        mode http
        timeout connect 5s
        timeout client 5s
        timeout server 5s
      frontend answers
        bind :8080
        bind :8081
        http-request return status 200 content-type text/plain string answered
    EOT
  }

  workload "server" {
    kind     = "Deployment"
    image    = "haproxy"
    user     = 42454
    command  = ["haproxy", "-db", "-f", "/etc/answers/answers.cfg"]
    ports    = ["web", "secure"]
    config   = ["answers.cfg"]
    replicas = 2

    ready {
      http = "/"
      port = "web"
    }
  }
}

service "answers" {
  role   = role.inside
  expose = exposure.public
}
`
}

// TestVIP breaks the node that has the VIP, in one way after another, while clients outside of the cluster
// open new connections. At the end it prints a table.
func TestVIP(t *testing.T) {
	c := emptyCloud(t, 3)
	c.write(t, "cloud.hcl", ofChosen(edge(managedExposure)))
	v := &vipTest{cloud: c}
	c.whole.Cleanup(func() { t.Log(v.table()) })
	take(t, c, []step{
		{"apply", v.comesUp},
		{"certificate renewed", v.renews},
		{"pod deleted", v.breaks("pod deleted", v.deletePod, nil)},
		{"pod killed", v.breaks("pod killed (SIGKILL)", func(t *testing.T, node string) { v.kill(t, node, "keepalived", "haproxy") }, nil)},
		{"keepalived killed", v.breaks("keepalived killed, HAProxy lives", func(t *testing.T, node string) { v.kill(t, node, "keepalived") }, nil)},
		{"HAProxy killed", v.breaks("HAProxy killed, keepalived lives", func(t *testing.T, node string) { v.kill(t, node, "haproxy") }, nil)},
		{"link down", v.breaks("link of the node down", v.linkDown, v.linkUp)},
		{"power cut", v.breaks("power of the node cut", func(t *testing.T, node string) { c.cluster.CutPower(t, node) }, func(t *testing.T, node string) { c.cluster.Restart(t, node) })},
		{"rollout", v.rollsOut},
		{"destroyed", v.goes},
	})
}

// vipTest is the cloud with its measurements.
type vipTest struct {
	*cloud
	rows   []outage
	routes string // of the node whose link is down
}

// outage is the effect of an event on clients.
type outage struct {
	event            string
	gap              time.Duration // the longest time between two right answers
	requests, failed int
}

// table returns the measurements as text.
func (v *vipTest) table() string {
	var out strings.Builder
	fmt.Fprintln(&out, "The VIP, on real nodes:")
	table := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "EVENT\tSECONDS WITHOUT AN ANSWER\tREQUESTS\tFAILED")
	for _, o := range v.rows {
		fmt.Fprintf(table, "%s\t%.1f\t%d\t%d\n", o.event, o.gap.Seconds(), o.requests, o.failed)
	}
	_ = table.Flush()
	return out.String()
}

const (
	behindVIP = "http://" + vip + ":8080/"
	managed   = "daemonset/exposure-public-keepalived"
)

// comesUp checks that one apply is enough, and that one node has the VIP.
func (v *vipTest) comesUp(t *testing.T, c *cloud) {
	c.kolla(t, 0, "apply", "-auto-approve", "-timeout=10m")
	c.noChanges(t)
	v.answers(t)
	t.Logf("%s has the VIP", v.holder(t))
}

// answers waits until a client outside gets an answer.
func (v *vipTest) answers(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		if r := v.outside(t, nil, "curl", "-s", "-S", "-m", "2", behindVIP); r.code != 0 || !strings.Contains(r.out, "answered") {
			return fmt.Errorf("the VIP says %q, exit code %d", r.out, r.code)
		}
		return nil
	})
}

// holders returns the nodes of the role that have the VIP. A node without power has none.
func (v *vipTest) holders(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, node := range []string{"real-2", "real-3"} {
		text, err := v.seenOn(node, "ip", "-o", "-4", "address", "show", "dev", "eth0")
		if err == nil && strings.Contains(text, " "+vip+"/32 ") {
			out = append(out, node)
		}
	}
	return out
}

// holder waits until exactly one node has the VIP, and returns it.
func (v *vipTest) holder(t *testing.T) string {
	t.Helper()
	node := ""
	eventually(t, func() error {
		all := v.holders(t)
		if len(all) != 1 {
			return fmt.Errorf("the VIP is on the nodes %q", all)
		}
		node = all[0]
		return nil
	})
	return node
}

// seenOn runs a command in the network of a node, and returns its output.
func (v *vipTest) seenOn(node string, argv ...string) (string, error) {
	first, err := v.firstOf(node)
	if err != nil {
		return "", err
	}
	out, err := exec.Command("nsenter", append([]string{"--net=/proc/" + first + "/ns/net"}, argv...)...).CombinedOutput()
	return string(out), err
}

// clientsOutside are clients that do not wait long, so that the end of an outage is seen at once.
func clientsOutside() orders {
	o := orders{Pause: 500 * time.Millisecond, Timeout: time.Second}
	for range 10 {
		o.Clients = append(o.Clients, client{Requests: []request{{Method: "GET", URL: behindVIP, Says: "answered"}}})
	}
	return o
}

// measure runs clients while something happens, and records the effect on them.
func (v *vipTest) measure(t *testing.T, event string, work func()) {
	t.Helper()
	r := v.clientsRun(t, func() {
		time.Sleep(2 * time.Second)
		work()
		v.answers(t)
		time.Sleep(5 * time.Second)
	}, clientsOutside())[""]
	v.rows = append(v.rows, outage{event, r.Gap, r.Requests, r.Failed})
	measured(t, "VIP, "+event+": seconds without an answer, requests, and of them failed", fmt.Sprintf("%.1f, %d, %d", r.Gap.Seconds(), r.Requests, r.Failed))
	t.Logf("failures: %s", strings.Join(r.Failures, "; "))
	if r.Requests-r.Failed < 20 {
		t.Errorf("of %d requests %d failed", r.Requests, r.Failed)
	}
	const limit = time.Minute // it ends a test in which the VIP is lost, and is no measure of speed
	if r.Gap > limit {
		t.Errorf("nothing answered for %s", r.Gap)
	}
}

// breaks returns a step that breaks the node with the VIP. mend repairs the node, unless the cluster does.
// Another node may have the VIP afterwards, and then keeps it.
func (v *vipTest) breaks(event string, do, mend func(t *testing.T, node string)) func(*testing.T, *cloud) {
	return func(t *testing.T, c *cloud) {
		node := v.holder(t)
		v.measure(t, event, func() { do(t, node) })
		if mend != nil {
			if now := v.holders(t); !slices.ContainsFunc(now, func(other string) bool { return other != node }) {
				t.Errorf("the VIP is on the nodes %q, and %s is broken", now, node)
			}
			mend(t, node)
		}
		v.settles(t)
		if now := v.holder(t); mend != nil && now == node {
			t.Errorf("%s took the VIP back", node)
		}
		c.noChanges(t)
	}
}

// settles waits until all pods of the exposure are ready.
func (v *vipTest) settles(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		ready := v.kubectl(t, "get", managed, "-o", "jsonpath={.status.numberReady} {.status.updatedNumberScheduled} {.status.desiredNumberScheduled}")
		nodes := v.cluster.Kubectl(t, "get", "nodes", "-o", `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}`)
		if ready != "2 2 2" || nodes != "True True True" {
			return fmt.Errorf("of the exposure %s pods are ready, up to date and wanted; nodes are ready: %s", ready, nodes)
		}
		return nil
	})
}

// deletePod deletes the pod of a node, as a drain does.
func (v *vipTest) deletePod(t *testing.T, node string) {
	pods := strings.Fields(v.kubectl(t, "get", "pods", "-l", "kolla.openstack.org/service=exposure-public", "--field-selector=spec.nodeName="+node, "-o", "name"))
	if len(pods) != 1 {
		t.Fatalf("%s has the pods %q", node, pods)
	}
	v.kubectl(t, "delete", pods[0])
}

// kill kills all processes of some programs in the network of a node.
func (v *vipTest) kill(t *testing.T, node string, programs ...string) {
	first, err := v.firstOf(node)
	if err != nil {
		t.Fatal(err)
	}
	network, err := networkOf(filepath.Join("/proc", first))
	folders, err2 := filepath.Glob("/proc/[0-9]*")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	killed := map[string]bool{}
	for _, folder := range folders {
		program, _, err := statusOf(folder)
		if err != nil || !slices.Contains(programs, program) {
			continue // or it has ended
		}
		if its, err := networkOf(folder); err != nil || its != network {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
		killed[program] = true
	}
	if len(killed) < len(programs) {
		t.Fatalf("of %q, only %v run on %s", programs, killed, node)
	}
}

// networkOf returns the network namespace of a process, by its directory in /proc.
func networkOf(process string) (string, error) {
	return os.Readlink(filepath.Join(process, "ns", "net"))
}

// linkDown takes the link of a node down, and remembers its routes, which the kernel then forgets.
func (v *vipTest) linkDown(t *testing.T, node string) {
	routes, err := v.seenOn(node, "ip", "-4", "route", "show", "dev", "eth0")
	if err != nil {
		t.Fatalf("routes of %s: %v\n%s", node, err, routes)
	}
	v.routes = routes
	if err := v.inNetworkOf(node, "", "ip", "link", "set", "dev", "eth0", "down"); err != nil {
		t.Fatal(err)
	}
}

// linkUp brings the link of a node up, with the routes from before.
func (v *vipTest) linkUp(t *testing.T, node string) {
	if err := v.inNetworkOf(node, "", "ip", "link", "set", "dev", "eth0", "up"); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(v.routes) {
		if err := v.inNetworkOf(node, "", append([]string{"ip", "-4", "route", "replace"}, append(strings.Fields(line), "dev", "eth0")...)...); err != nil {
			t.Error(err)
		}
	}
}

// renews checks that HAProxy gets a renewed certificate without a restart. The kubelet needs a minute or
// two to bring it to the pod.
func (v *vipTest) renews(t *testing.T, c *cloud) {
	c.kolla(t, 0, "exposure", "certificate", "-ca", "-out", "ca.pem")
	serial := func() string {
		r := c.outside(t, nil, "sh", "-c", "echo | openssl s_client -connect "+vip+":8443 -CAfile ca.pem -verify_return_error 2> /dev/null | openssl x509 -noout -serial")
		if r.code != 0 || !strings.HasPrefix(r.out, "serial=") {
			t.Fatalf("the certificate at the VIP: exit code %d, %s", r.code, r.out)
		}
		return r.out
	}
	before := serial()
	started := func() string {
		return c.kubectl(t, "get", "pods", "-l", "kolla.openstack.org/service=exposure-public", "-o",
			"jsonpath={.items[*].status.initContainerStatuses[*].state.running.startedAt} {.items[*].status.containerStatuses[*].state.running.startedAt}")
	}
	began := time.Now()
	v.measure(t, "certificate renewed", func() {
		c.edit(t, "  tls {}\n", "  tls {\n    dns_names = [\"edge.example.org\"]\n  }\n")
		plan := c.kolla(t, 2, "plan", "-detailed-exitcode")
		wantSaid(t, "plan", plan.out, "0 to add, 1 to change, 0 to destroy")
		c.kolla(t, 0, "apply", "-auto-approve")
		applied := time.Now()
		eventually(t, func() error {
			if serial() == before {
				return errors.New("HAProxy serves the old certificate")
			}
			return nil
		})
		measured(t, "VIP, until HAProxy serves a renewed certificate", time.Since(applied).Round(time.Second))
	})
	for _, text := range strings.Fields(started()) {
		if at, err := time.Parse(time.RFC3339, text); err != nil || at.After(began) {
			t.Errorf("a container started at %s: %v", text, err)
		}
	}
}

// rollsOut changes the files of HAProxy. The nodes get them one after the other.
func (v *vipTest) rollsOut(t *testing.T, c *cloud) {
	c.edit(t, "public = 8443", "public = 8444")
	v.measure(t, "rollout of another configuration", func() {
		c.kolla(t, 0, "apply", "-auto-approve", "-timeout=10m")
	})
	v.settles(t)
	if r := c.outside(t, nil, "curl", "-s", "-S", "-k", "-m", "5", "https://"+vip+":8444/"); !strings.Contains(r.out, "answered") {
		t.Errorf("the new port says %q", r.out)
	}
	c.noChanges(t)
}

// goes checks that no node keeps the VIP.
func (v *vipTest) goes(t *testing.T, c *cloud) {
	c.kolla(t, 0, "destroy", "-auto-approve", "-delete-data=*")
	eventually(t, func() error {
		if all := v.holders(t); len(all) > 0 {
			return fmt.Errorf("the VIP is still on %q", all)
		}
		return nil
	})
}

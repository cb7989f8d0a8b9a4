package realcloud_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The network of floating IPs, outside of the cloud.
const (
	externalNetwork = "10.202.0.0/24"
	externalGateway = "10.202.0.200"
	externalPool    = "10.202.0.100-10.202.0.150"
)

// server is a virtual machine of the test.
type server struct {
	ID, Host, Fixed, Floating string
	Active                    float64
}

// servers runs a step of testdata/servers.py, and reads its output.
func (c *cloud) servers(t *testing.T, out any, args ...string) {
	t.Helper()
	r := c.outside(t, c.credentials(t), append([]string{"python3", "servers.py"}, args...)...)
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != 0 {
		t.Fatalf("servers.py %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.out)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), out); err != nil {
		t.Fatalf("servers.py %s: %v\n%s", strings.Join(args, " "), err, r.out)
	}
}

// userData is the script that each server runs. It reads a second disk, or writes to an empty
// one.
const userData = `#!/bin/sh
echo "user data of the test"
while sleep 1; do
  test -e /dev/vdb || continue
  found=$(head -c 32 /dev/vdb | tr -d '\\000')
  if test -n "$found"; then
    echo "guest: read $found"
  else
    echo "written by $(hostname)" > /tmp/text
    dd if=/tmp/text of=/dev/vdb bs=32 conv=sync,fsync 2>/dev/null && echo "guest: wrote"
  fi
  while test -e /dev/vdb; do sleep 1; done
done &
`

// console waits for a text on a server's console.
func (c *cloud) console(t *testing.T, name, text string) string {
	t.Helper()
	var out struct{ Output string }
	c.servers(t, &out, "console", name, text)
	return out.Output
}

// guests maps names to the servers of the test.
var guests = map[string]*server{}

// resourcesAreMade makes the resources that every server needs.
func resourcesAreMade(t *testing.T, c *cloud) {
	c.script(t, "servers.py")
	c.guest(t)
	c.servers(t, nil, "prepare", "guest.qcow2", externalNetwork, externalGateway, externalPool)
}

// guest copies the disk of the servers beside the configuration.
func (c *cloud) guest(t *testing.T) {
	t.Helper()
	disk, err := os.ReadFile(filepath.Join(c.root, "bin", "images", "guest.qcow2"))
	if err != nil {
		t.Fatal(err)
	}
	c.write(t, "guest.qcow2", string(disk))
}

// serversBoot checks that servers boot on each hypervisor, get their metadata, reach each
// other, and answer clients outside.
func serversBoot(t *testing.T, c *cloud) {
	resourcesAreMade(t, c)
	c.script(t, "ping.py")
	said := []string{"guest: metadata", "user data of the test"}
	script := userData
	for i, host := range []string{"real-2", "real-3"} {
		name := fmt.Sprintf("guest-%d", i+1)
		guest := &server{}
		began := time.Now()
		c.servers(t, guest, "boot", name, host, script)
		guests[name] = guest
		if guest.Host != host {
			t.Errorf("%s is on %s, want %s", name, guest.Host, host)
		}
		log := c.console(t, name, "guest: user data ended")
		for _, want := range append(said, guest.ID) {
			if !strings.Contains(log, want) {
				t.Errorf("the console of %s lacks %q:\n%s", name, want, log)
			}
		}
		c.answers(t, name)
		measured(t, name+": ACTIVE, and reached from outside", fmt.Sprintf("%.1f s, %s", guest.Active, time.Since(began).Round(time.Second)))
		// The second server sends a request to the first one, through the tunnel between their
		// nodes.
		script = userData + fmt.Sprintf("for i in 1 2 3 4 5 6 7 8 9; do wget -q -T 5 -O- http://%s/ && break; sleep 2; done\n", guest.Fixed)
		said = append(said, "hello from guest-1")
	}
}

// interfaceComesUp sets the interface of a server up again if it was set down. The userspace
// datapath sometimes does that when it adds an interface.
func interfaceComesUp(t *testing.T, c *cloud) {
	pid, err := c.processOf(guests["guest-1"].Host)
	if err != nil {
		t.Fatal(err)
	}
	ip := func(args ...string) string {
		out, err := exec.Command("nsenter", append([]string{"--net=/proc/" + pid + "/ns/net", "ip"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	interfaces := regexp.MustCompile(`\btap[0-9a-f-]+`).FindAllString(ip("-o", "link", "show", "type", "tun"), -1)
	if len(interfaces) != 1 {
		t.Fatalf("the interfaces of servers on %s are %v, want one", guests["guest-1"].Host, interfaces)
	}
	ip("link", "set", interfaces[0], "down")
	c.answers(t, "guest-1")
}

// softRebootKeepsNetwork reboots a server softly. Nova starts it anew, with another device of the
// same name, which the userspace datapath does not notice by itself.
func softRebootKeepsNetwork(t *testing.T, c *cloud) {
	before := qemu(t, "guest-2")
	var reboot struct{ Took float64 }
	c.servers(t, &reboot, "act", "guest-2", "reboot")
	if qemu(t, "guest-2") == before {
		t.Fatal("guest-2 was not started anew: this step proves nothing")
	}
	if reboot.Took > 100 {
		t.Errorf("the reboot took %.0f s: after two minutes Nova reboots hard, and this step proves nothing", reboot.Took)
	}
	measured(t, "soft reboot of a server, in seconds", reboot.Took)
	c.answers(t, "guest-2")
}

// qemu identifies the QEMU process of a server: a server that starts again has another one.
func qemu(t *testing.T, name string) string {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, folder := range folders {
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		if program, args, _ := strings.Cut(string(line), "\x00"); !strings.Contains(program, "qemu") || !strings.Contains(args, guests[name].ID) {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(folder, "stat"))
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		found = append(found, filepath.Base(folder)+" since "+strings.Fields(after)[19]) // clock ticks after the boot
	}
	if len(found) != 1 {
		t.Fatalf("the QEMU processes of %s are %v, want one", name, found)
	}
	return found[0]
}

// survive checks that servers go on running while do runs.
func survive(t *testing.T, names []string, do func()) {
	t.Helper()
	before := map[string]string{}
	for _, name := range names {
		before[name] = qemu(t, name)
	}
	do()
	for name, process := range before {
		if now := qemu(t, name); now != process {
			t.Errorf("%s did not survive: its QEMU was process %s, and is %s", name, process, now)
		}
	}
}

// answers waits until a server answers clients outside, by ping and HTTP.
func (c *cloud) answers(t *testing.T, name string) {
	t.Helper()
	ip := guests[name].Floating
	defer func() {
		if t.Failed() {
			c.explain(t, name)
		}
	}()
	eventually(t, func() error {
		r := finish(t, c.providerCommand(t, "curl", "-sf", "-m", "5", "http://"+ip+"/"))
		if r.code != 0 || !strings.Contains(r.out, "hello from") {
			return fmt.Errorf("%s serves nothing at %s: exit code %d %s", name, ip, r.code, r.out)
		}
		return nil
	})
	if r := finish(t, c.providerCommand(t, "python3", "ping.py", ip, "3")); r.code != 0 || strings.Contains(" "+r.out, " 0 ") {
		t.Errorf("%s does not answer to pings at %s: %s", name, ip, r.out)
	}
}

// explain logs possible reasons why a server does not answer: its status in Nova, its console, the
// pods of its node, and the ends of their logs.
func (c *cloud) explain(t *testing.T, name string) {
	t.Helper()
	node := guests[name].Host
	t.Logf("the pods of %s:\n%s", node, c.kubectl(t, "get", "pods", "-o", "wide", "--field-selector=spec.nodeName="+node))
	for _, service := range []string{"openvswitch", "ovn-controller", "libvirt", "nova-compute"} {
		t.Logf("the log of %s on %s:\n%s", service, node, c.kubectl(t, "logs", "-l", "app.kubernetes.io/name="+service, "--all-containers", "--prefix", "--tail=40"))
	}
	var found struct{ Status, Fault string }
	c.servers(t, &found, "status", name)
	t.Logf("Nova says of %s: %s %s; its console:\n%s", name, found.Status, found.Fault, c.console(t, name, ""))
}

// screenIsDrawn checks that the page of a server's console draws its screen, through the VIP.
func screenIsDrawn(t *testing.T, c *cloud) {
	c.screen(t, "guest-1", "6080")
}

// screen loads the page of a server's console from a port of the VIP.
func (c *cloud) screen(t *testing.T, name, port string) {
	t.Helper()
	var address string
	c.servers(t, &address, "vnc", name)
	if !strings.HasPrefix(address, c.at(port)+"/") {
		t.Errorf("the console of %s is at %s, want port %s of the VIP", name, address, port)
	}
	picture := "console-" + name + ".png"
	r := c.browse(t, nil, "console.py", address, picture)
	c.keep(t, picture)
	if r.code != 0 {
		t.Errorf("the browser: exit code %d\n%s", r.code, r.out)
	} else if strings.Contains(r.out, "nothing was drawn") {
		t.Logf("the page had to be loaded again:\n%s", r.out)
	}
}

// insideIsNotCompared checks a statement of README.md: a plan compares objects of Kubernetes, so it
// does not see changes inside of the services.
func insideIsNotCompared(t *testing.T, c *cloud) {
	pod := "pod/" + strings.Fields(c.podsOf(t, "ovn-controller"))[0]
	c.kubectl(t, "exec", pod, "--", "ovs-vsctl", "set", "Open_vSwitch", ".", "external-ids:by-hand=1")
	c.value(t, "compute", "service", "set", "--disable", "real-3", "nova-compute")
	c.noChanges(t)
	c.value(t, "compute", "service", "set", "--enable", "real-3", "nova-compute")
	c.kubectl(t, "exec", pod, "--", "ovs-vsctl", "remove", "Open_vSwitch", ".", "external-ids", "by-hand")
}

// rolloutReplaces checks that a rollout replaces the pods of the data plane one after the
// other, that an apply alone does not, and that Nova controls the servers afterwards. The apply also
// changes an option of the scheduler, which must not start a database job, and starts second pods of
// APIs.
func rolloutReplaces(t *testing.T, c *cloud) {
	c.edit(t, "service \"nova-compute\" {\n", "service \"nova-compute\" {\n  config \"nova-compute.conf\" { values = { DEFAULT = { reserved_host_memory_mb = 256 } } }\n")
	workloads := map[string]string{"openvswitch": "ovs", "ovn-controller": "controller", "neutron-ovn-metadata": "agent"}
	for service, workload := range workloads {
		c.edit(t, "service \""+service+"\" {\n", "service \""+service+"\" {\n  workload \""+workload+"\" { annotations = { \"example.org/round\" = \"2\" } }\n")
	}
	c.edit(t, "service \"nova\" {\n", "service \"nova\" {\n  config \"nova.conf\" { values = { scheduler = { max_attempts = 4 } } }\n")
	for _, service := range doubled() {
		c.edit(t, fmt.Sprintf("service %q {\n", service), fmt.Sprintf("service %q {\n  replicas = 2\n", service))
	}
	services := append(slices.Sorted(maps.Keys(workloads)), "nova-compute")
	plan := c.kolla(t, 2, "plan", "-detailed-exitcode")
	for _, job := range []string{"nova-db-sync", "nova-db-online", "nova-compute-discover"} {
		if strings.Contains(plan.out, job) {
			t.Errorf("%s runs for an option of the scheduler:\n%s", job, plan.out)
		}
	}
	wantSaid(t, "plan", plan.out, "go on as before until kolla rollout", "nobody can start, stop or move servers of the node", "servers of the node lose their network")
	before := map[string]string{}
	for _, service := range services {
		before[service] = c.podsOf(t, service)
	}
	names := c.namesForStorage(t)
	applied := c.kolla(t, 0, "apply", "-auto-approve")
	wantSaid(t, "apply", applied.out, "2 pods of service.nova-compute/DaemonSet/nova-compute-compute are as before")
	for _, service := range services {
		if after := c.podsOf(t, service); after != before[service] {
			t.Errorf("the pods of %s were %s, and are %s after an apply", service, before[service], after)
		}
	}
	survive(t, []string{"guest-1", "guest-2"}, func() {
		for _, service := range services {
			limit := blink
			if service == "openvswitch" || service == "ovn-controller" {
				limit = flowsAreBack
			}
			c.whilePinging(t, "guest-1", "rollout of "+service+" on two nodes", limit, func() { c.kolla(t, 0, "rollout", "-auto-approve", "service."+service) })
		}
	})
	for _, service := range services {
		if after := c.podsOf(t, service); after == before[service] {
			t.Errorf("the pods of %s are %s after a rollout too", service, after)
		}
	}
	if after := c.namesForStorage(t); !slices.Equal(after, names) {
		t.Errorf("the names of the hypervisors for storage were %q, and are %q after a rollout", names, after)
	}
	c.answers(t, "guest-1")
	eventually(t, func() error {
		var found struct{ Up []string }
		c.servers(t, &found, "hypervisors")
		if len(found.Up) != 2 {
			return fmt.Errorf("the hypervisors %v are up, want two", found.Up)
		}
		return nil
	})
	c.servers(t, nil, "act", "guest-1", "stop")
	c.servers(t, nil, "act", "guest-1", "start")
	c.answers(t, "guest-1")
	c.noChanges(t)
}

// namesForStorage returns the names of all hypervisors for iSCSI and NVMe, in order. It checks that no two
// hypervisors share one.
func (c *cloud) namesForStorage(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, pod := range strings.Fields(c.podsOf(t, "nova-compute")) {
		said := c.kubectl(t, "exec", pod, "-c", "compute", "--", "cat", "/etc/iscsi/initiatorname.iscsi", "/etc/nvme/hostnqn", "/etc/nvme/hostid")
		names = append(names, strings.Fields(said)...)
	}
	slices.Sort(names)
	if len(names) != 6 || len(slices.Compact(slices.Clone(names))) != 6 {
		t.Errorf("the names of two hypervisors are %q, want three of each", names)
	}
	return names
}

// podsOf returns the names of a service's running pods.
func (c *cloud) podsOf(t *testing.T, service string) string {
	t.Helper()
	return c.kubectl(t, "get", "pods", "-l", "app.kubernetes.io/name="+service, "--field-selector=status.phase=Running", "-o", "jsonpath={.items[*].metadata.name}")
}

// blink limits the time without an answer from a server while other parts are replaced.
// flowsAreBack limits the time while Open vSwitch starts again: ovn-controller connects to it
// within 8 seconds and writes its flows, and two busy processors delay both.
const (
	blink        = 10 * time.Second
	flowsAreBack = 30 * time.Second
)

// whilePinging pings a server while do runs, and returns the numbers of pings sent and lost. It
// prints them, and fails if the longest time without an answer is over the limit.
func (c *cloud) whilePinging(t *testing.T, name, what string, limit time.Duration, do func()) (sent, lost int) {
	t.Helper()
	cmd := c.providerCommand(t, "python3", "ping.py", guests[name].Floating)
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	do()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	var answered int
	var longest float64
	if n, err := fmt.Sscan(out.String(), &sent, &answered, &longest); n != 3 {
		t.Fatalf("ping.py: %v\n%s", err, out)
	}
	lost = sent - answered
	measured(t, what+": pings lost, of them in a row", fmt.Sprintf("%d of %d, %.1f s", lost, sent, longest))
	if longest > limit.Seconds() {
		t.Errorf("%s: %s did not answer for %.1f s, want at most %s", what, name, longest, limit)
	}
	return sent, lost
}

// providerAddress is the node network address of the machine that is also in the provider
// network.
const providerAddress = "10.200.0.104"

// providerCommand returns a command that the gateway of the external network runs.
func (c *cloud) providerCommand(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	cmd, err := c.cluster.OnProvider(c.interruptible(t), providerAddress, externalGateway, filepath.Join(c.root, "bin", "outside"), argv...)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir = c.dir
	return cmd
}

// volumeMoves checks that a volume moves from one server to another with its data.
func volumeMoves(t *testing.T, c *cloud) {
	var found struct{ Read string }
	c.servers(t, &found, "move_volume", "guest-1", "guest-2")
	if !strings.Contains(found.Read, "guest: read written by guest-1") {
		t.Errorf("the volume of guest-1 came to guest-2 without its content:\n%s", found.Read)
	}
}

// agentsOfHypervisors selects the pods that each hypervisor has.
const agentsOfHypervisors = "app.kubernetes.io/name in (nova-compute, openvswitch, ovn-controller)"

// nodeIsAdded checks that a labelled hypervisor boots a server after one apply, which has waited for its pods.
func nodeIsAdded(t *testing.T, c *cloud) {
	c.write(t, "scaled.auto.vars.hcl", `compute = ["real-1", "real-2", "real-3"]
first   = ["real-1", "real-2", "real-3"]
`)
	c.kolla(t, 0, "apply", "-auto-approve")
	pods := c.kubectl(t, "get", "pods", "-l", agentsOfHypervisors, "--field-selector=spec.nodeName=real-1",
		"-o", `jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status} {end}`)
	if all := strings.Fields(pods); len(all) < 3 || strings.Count(pods, "=True") < len(all) {
		t.Errorf("after the apply, real-1 has %s: not all are there and ready", pods)
	}
	guest := &server{}
	c.servers(t, guest, "boot", "guest-4", "real-1", userData)
	if guest.Host != "real-1" {
		t.Errorf("guest-4 is on %s, want real-1", guest.Host)
	}
	guests["guest-4"] = guest
	c.console(t, "guest-4", "guest: user data ended")
	c.answers(t, "guest-4")
	c.noChanges(t)
}

// serverIsEvacuated checks that a server of a dead hypervisor comes up on another node, by the commands
// in docs/hypervisors.md, and that an apply brings the hypervisor back. The node loses its pods of
// hypervisors and the process of its server. It keeps its power, because it may run the database.
func serverIsEvacuated(t *testing.T, c *cloud) {
	const node, target = "real-1", "real-2"
	const role = "kolla.openstack.org.node-restriction.kubernetes.io/role-"
	c.cluster.Kubectl(t, "label", "node", node, role+"compute-", role+"first-")
	eventually(t, func() error {
		pods := c.kubectl(t, "get", "pods", "-l", agentsOfHypervisors, "--field-selector=spec.nodeName="+node, "-o", "name")
		if pods != "" {
			return fmt.Errorf("%s still has %s", node, pods)
		}
		return nil
	})
	before, _, _ := strings.Cut(qemu(t, "guest-4"), " ")
	if out, err := exec.Command("kill", "-9", before).CombinedOutput(); err != nil {
		t.Fatalf("kill QEMU: %v\n%s", err, out)
	}
	began := time.Now()
	c.value(t, "--os-compute-api-version", "2.29", "compute", "service", "set", "--down", node, "nova-compute")
	c.value(t, "--os-compute-api-version", "2.29", "server", "evacuate", "--host", target, "guest-4")
	eventually(t, func() error {
		var found struct{ Status, Host, Fault string }
		c.servers(t, &found, "status", "guest-4")
		if found.Host != target || found.Status != "ACTIVE" {
			return fmt.Errorf("guest-4 is %s on %s: %s", found.Status, found.Host, found.Fault)
		}
		return nil
	})
	guests["guest-4"].Host = target
	c.answers(t, "guest-4")
	measured(t, "evacuation of a server, until it answers", time.Since(began).Round(time.Second))

	c.kolla(t, 0, "apply", "-auto-approve")
	eventually(t, func() error { // Nova refuses it until nova-compute has started and deleted the server that went away
		if r := c.openstack(t, "--os-compute-api-version", "2.29", "compute", "service", "set", "--up", node, "nova-compute"); r.code != 0 {
			return errors.New(r.out)
		}
		return nil
	})
	eventually(t, func() error {
		var found struct{ Up []string }
		c.servers(t, &found, "hypervisors")
		if !slices.Contains(found.Up, node) {
			return fmt.Errorf("the hypervisors %v are up, want %s among them", found.Up, node)
		}
		return nil
	})
	c.answers(t, "guest-4")
	c.noChanges(t)
}

// serverMoves checks that a running server moves to another node.
func serverMoves(t *testing.T, c *cloud) {
	var moved struct{ Took float64 }
	sent, lost := c.whilePinging(t, "guest-4", "live migration of a server", blink, func() {
		c.servers(t, &moved, "migrate", "guest-4", "real-2")
		time.Sleep(5 * time.Second)
	})
	measured(t, "live migration of a server, in seconds", moved.Took)
	c.answers(t, "guest-4")
	var found struct{ Host string }
	c.servers(t, &found, "status", "guest-4")
	if found.Host != "real-2" || lost > sent/2 {
		t.Errorf("guest-4 is on %s, and %d of %d pings were lost on the way: it has started anew", found.Host, lost, sent)
	}
}

// serverMovesOff checks that a server moves to another node while it is off, and gets a larger flavor.
func serverMovesOff(t *testing.T, c *cloud) {
	var moved struct {
		Host          string
		Took, Resized float64
	}
	c.servers(t, &moved, "move_off", "guest-4", "real-3")
	if moved.Host != "real-3" {
		t.Errorf("guest-4 is on %s, want real-3", moved.Host)
	}
	measured(t, "cold migration of a server, in seconds", moved.Took)
	measured(t, "resize of a server, in seconds", moved.Resized)
	c.answers(t, "guest-4")
}

// nodeIsTakenOut checks that an apply removes a node without the label from Nova, Neutron and
// Placement.
func nodeIsTakenOut(t *testing.T, c *cloud) {
	c.write(t, "scaled.auto.vars.hcl", "")
	c.kolla(t, 0, "apply", "-auto-approve")
	var found struct{ Agents, Providers, Services []string }
	c.servers(t, &found, "hypervisors")
	for _, of := range [][]string{found.Agents, found.Providers, found.Services} {
		if text := strings.Join(of, ", "); strings.Contains(text, "real-1") || !strings.Contains(text, "real-2") {
			t.Errorf("after real-1 was taken out there are: %s", text)
		}
	}
	c.noChanges(t)
}

// cells adds the daemons of a second cell, which gets a hypervisor in cellIsAdded. The hypervisors
// of the first cell get their own role, in addition to the role of all hypervisors.
func (c *cloud) cells(t *testing.T) {
	c.write(t, "first.hcl", `
variable "first" { default = ["real-2", "real-3"] }
role "first" { nodes = var.first }
`)
	c.edit(t, "  role            = role.compute\n  virt_type", "  role            = role.first\n  virt_type")
	c.write(t, "cell2.hcl", cell2)
	c.edit(t, "service \"nova\" {\n", "service \"nova\" {\n  cells = [service.nova-cell2]\n")
}

// cell2 is a second cell.
const cell2 = `
service "mariadb-cell2" {
  definition = "mariadb"
  role       = role.control
}

service "rabbitmq-cell2" {
  definition = "rabbitmq"
  role       = role.control
}

service "nova-cell2" {
  definition = "nova-cell"
  role       = role.control
  expose     = exposure.public
  with       = { mariadb = service.mariadb-cell2, rabbitmq = service.rabbitmq-cell2 }
}
`

// hypervisor2 is the only hypervisor of the second cell.
const hypervisor2 = `
role "second" { nodes = ["real-1"] }

service "nova-compute-cell2" {
  definition = "nova-compute"
  role       = role.second
  cell       = service.nova-cell2
  virt_type  = var.virt_type
}
`

// cellIsAdded checks that a second cell with its own database and queue boots a server, also in a
// group of servers that run apart, and that servers of the first cell continue to run. The daemons of the cell run since the first
// apply. This adds its hypervisor.
func cellIsAdded(t *testing.T, c *cloud) {
	c.write(t, "scaled.auto.vars.hcl", `compute = ["real-1", "real-2", "real-3"]`)
	c.write(t, "hypervisor2.hcl", hypervisor2)
	added := c.kolla(t, 0, "apply", "-auto-approve")
	measured(t, "apply of a hypervisor of a second cell", added.took.Round(100*time.Millisecond))
	c.noChanges(t)
	hosts := c.kubectl(t, "exec", "deployment/nova-api", "--", "nova-manage", "cell_v2", "list_hosts")
	for cell, nodes := range map[string][]string{"nova-cell2": {"real-1"}, "cell1": {"real-2", "real-3"}} {
		for _, node := range nodes {
			if !regexp.MustCompile(`\| +` + cell + ` +\|[^|]+\| +` + node + ` +\|`).MatchString(hosts) {
				t.Errorf("%s is not in cell %s:\n%s", node, cell, hosts)
			}
		}
	}
	guest := &server{}
	c.servers(t, guest, "boot", "guest-5", "real-1", userData, "apart")
	guests["guest-5"] = guest
	c.console(t, "guest-5", "guest: user data ended")
	c.answers(t, "guest-5")
	c.answers(t, "guest-1")
	c.screen(t, "guest-5", "6081")
}

// controlPlaneIsReplaced deletes the pods of all Deployments and StatefulSets, a few at once, and
// checks that servers keep running. The databases of services have a step of their own.
func controlPlaneIsReplaced(t *testing.T, c *cloud) {
	var workloads []string
	for _, workload := range strings.Fields(c.kubectl(t, "get", "statefulsets,deployments", "-o", "name")) {
		if !strings.Contains(workload, "/mariadb-") {
			workloads = append(workloads, workload)
		}
	}
	replace := func() {
		for few := range slices.Chunk(workloads, 4) {
			for _, workload := range few {
				c.kubectl(t, "delete", "pods", "-l", "app.kubernetes.io/component="+workload[strings.Index(workload, "/")+1:], "--wait=false")
			}
			time.Sleep(time.Second) // until the workloads notice
			for _, workload := range few {
				c.kubectl(t, "rollout", "status", workload, "--timeout="+patience.String())
			}
		}
		c.answerAll(t)
	}
	survive(t, []string{"guest-1", "guest-2"}, func() {
		c.whilePinging(t, "guest-1", fmt.Sprintf("pods of %d workloads replaced", len(workloads)), blink, replace)
	})
	c.answers(t, "guest-1")
	c.noChanges(t)
}

// serversComeBack checks that a server comes back after a power cut of its node, which is also a
// controller, and that a server on another node goes on meanwhile. If possible, it chooses the node
// with the database: the database's clients do not notice the power cut, because no connection is
// closed.
func serversComeBack(t *testing.T, c *cloud) {
	guest, other := "guest-2", "guest-1"
	pods := c.kubectl(t, "get", "pods", "--field-selector=spec.nodeName="+guests[other].Host, "-o", "name")
	if strings.Contains(pods, "pod/mariadb-server-") {
		guest, other = other, guest
	}
	node := guests[guest].Host
	t.Logf("%s loses its power, with %s", node, guest)
	before := time.Now()
	survive(t, []string{other}, func() {
		c.whilePinging(t, other, "power cut of another node", flowsAreBack, func() {
			c.cluster.Restart(t, node)
			time.Sleep(20 * time.Second) // Open vSwitch and OVN start there
		})
	})
	c.answers(t, guest)
	measured(t, "from a power cut of a node until its server answers", time.Since(before).Round(time.Second))
	c.answerAll(t)
	eventually(t, func() error {
		ready := c.kubectl(t, "get", "pods", "--field-selector=status.phase=Running", "-o", "jsonpath={.items[*].status.containerStatuses[*].ready}")
		if strings.Contains(ready, "false") {
			return errors.New("not all pods are ready: " + ready)
		}
		return nil
	})
	c.noChanges(t)
}

// dataPlaneIsHeld checks that a plan to destroy the cloud keeps the data plane and shows the
// reason, and that a destroy shows the servers that would be cut off before it does anything.
func dataPlaneIsHeld(t *testing.T, c *cloud) {
	r := finish(t, c.command(t, "plan", "-destroy"))
	t.Log(r.out)
	wantSaid(t, "plan", r.out, "servers of the node lose their network", "nobody can start, stop or move servers of the node")
	r = c.kolla(t, 1, "destroy", "-delete-data=*") // nobody approves it
	wantSaid(t, "destroy", r.out, "running servers that would be cut off", "No answer")
	for name, guest := range guests {
		if guest.ID != "" {
			wantSaid(t, "destroy", r.out, fmt.Sprintf("%s (%s)", name, guest.ID))
		}
	}
}

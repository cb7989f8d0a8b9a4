package realcloud_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// onlyOVN is a cloud with OVN's databases, and Memcached, whose pods have no volumes.
const onlyOVN = `
cloud "ovn" {
  release  = "2025.1"
  distro   = "debian-trixie"
  registry = "kolla.test/openstack.kolla"
}

role "control" { nodes = ["real-1", "real-2", "real-3"] }

service "ovn" {
  role     = role.control
  replicas = 1
}

service "memcached" {
  role     = role.control
  replicas = length(role.control.nodes)
}
`

// TestOVNCluster extends OVN's databases from one member to three and takes them away for long.
// It then takes a node, the leader, volumes, pods and power away in turn, and goes back to one member.
func TestOVNCluster(t *testing.T) {
	c := emptyCloud(t, 3)
	c.write(t, "cloud.hcl", ofChosen(onlyOVN))
	take(t, c, []step{
		{"one member", memberIsAlone},
		{"three members", membersJoin},
		{"all members away", clientsComeBack},
		{"node gone", nodeStaysOff},
	})
	if os.Getenv(longVariable) == "" {
		t.Logf("NOT RUN: %s is not set, so what the members of OVN's databases do without a leader, volumes or power is not proven", longVariable)
		return
	}
	take(t, c, []step{
		{"leader killed", leaderIsReplaced},
		{"volume deleted", memberJoinsAgain},
		{"all pods deleted", membersFindData},
		{"power cut", membersComeBack},
		{"one member again", membersLeave},
	})
}

// ovnDatabases maps the workloads of OVN's databases to the names of the databases.
var ovnDatabases = map[string]string{"nb": "OVN_Northbound", "sb": "OVN_Southbound"}

// control runs a command of a member's control socket and returns the result.
func (c *cloud) control(t *testing.T, database string, member int, command string) result {
	t.Helper()
	return finish(t, c.inPod(t, fmt.Sprintf("ovn-%s-%d", database, member), "ovs-appctl", "--timeout=5", "-t", "/run/ovn/ovn"+database+"_db.ctl", command, ovnDatabases[database]))
}

// inPod returns a command in a pod. The command may fail.
func (c *cloud) inPod(t *testing.T, pod string, argv ...string) *exec.Cmd {
	t.Helper()
	return c.mayFail(t, append([]string{"exec", pod, "--"}, argv...)...)
}

// mayFail returns a command of kubectl. The command may fail.
func (c *cloud) mayFail(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	args = append([]string{"kubectl", "-dir", c.cluster.Dir(), "--kubeconfig", c.cluster.Kubeconfig(), "-n", namespace}, args...)
	return exec.CommandContext(t.Context(), filepath.Join(c.root, "bin", "kolla-devcluster"), args...)
}

// membership is a member's view of its cluster.
type membership struct {
	cluster, leader string
	leads           bool
	servers         []string // addresses
}

func (c *cloud) membership(t *testing.T, database string, member int) membership {
	t.Helper()
	var m membership
	for line := range strings.Lines(c.control(t, database, member, "cluster/status").out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		_, address, isServer := strings.Cut(name, " at ")
		switch {
		case name == "Cluster ID":
			m.cluster = value
		case name == "Leader" && value != "unknown":
			m.leader = value
		case name == "Role":
			m.leads = value == "leader"
		case isServer && strings.HasPrefix(line, "  "):
			address, _, _ = strings.Cut(address, ")")
			m.servers = append(m.servers, address)
		}
	}
	slices.Sort(m.servers)
	return m
}

// awaitMembers waits until each database is one cluster of want members with a leader, and
// returns the clusters.
func (c *cloud) awaitMembers(t *testing.T, want int) map[string]string {
	t.Helper()
	clusters := map[string]string{}
	for database := range ovnDatabases {
		eventually(t, func() error {
			leaders := 0
			var first membership
			for member := range want {
				m := c.membership(t, database, member)
				if m.leads {
					leaders++
				}
				if member == 0 {
					first = m
				}
				if m.leader == "" || len(m.servers) != want || !slices.Equal(m.servers, first.servers) || m.cluster != first.cluster {
					return fmt.Errorf("member %d of %s is in cluster %q with %v and follows %q; member 0 in %q with %v", member, database, m.cluster, m.servers, m.leader, first.cluster, first.servers)
				}
			}
			if leaders != 1 {
				return fmt.Errorf("%s has %d leaders", database, leaders)
			}
			clusters[database] = first.cluster
			return nil
		})
	}
	return clusters
}

// leader returns the number of the member that leads.
func (c *cloud) leader(t *testing.T, database string) int {
	t.Helper()
	for member := range 3 {
		if c.membership(t, database, member).leads {
			return member
		}
	}
	t.Fatalf("nobody leads %s", database)
	return -1
}

// members returns the addresses of the northbound database in the form for clients.
func members(n int) string {
	var out []string
	for member := range n {
		out = append(out, fmt.Sprintf("tcp:ovn-nb-%d.ovn-nb.%s.svc.cluster.local:6641", member, namespace))
	}
	return strings.Join(out, ",")
}

// writeOVN creates a logical switch.
func (c *cloud) writeOVN(t *testing.T, n int, name string) {
	t.Helper()
	c.kubectl(t, "exec", "deployment/ovn-northd", "--", "ovn-nbctl", "--timeout=30", "--db="+members(n), "ls-add", name)
}

// keptOVN checks that the logical switches of the steps before exist, and that northd has
// processed them.
func (c *cloud) keptOVN(t *testing.T, n int, names ...string) {
	t.Helper()
	eventually(t, func() error {
		command := "ovn-nbctl --timeout=30 --db=" + members(n) + " --bare --columns=name list Logical_Switch && " +
			"ovn-sbctl --timeout=30 --db=" + strings.NewReplacer("ovn-nb", "ovn-sb", "6641", "6642").Replace(members(n)) + " --bare --columns=external_ids list Datapath_Binding"
		r := finish(t, c.inPod(t, "deployment/ovn-northd", "sh", "-c", command))
		for _, name := range names {
			if r.code != 0 || !strings.Contains(r.out, "\n"+name+"\n") && !strings.HasPrefix(r.out, name+"\n") || !strings.Contains(r.out, "name="+name) {
				return fmt.Errorf("switch %s is not in both databases: exit code %d\n%s", name, r.code, r.out)
			}
		}
		return nil
	})
}

// memberIsAlone checks that a single member is a cluster.
func memberIsAlone(t *testing.T, c *cloud) {
	c.kolla(t, 0, "apply", "-auto-approve")
	c.awaitMembers(t, 1)
	c.writeOVN(t, 1, "alone")
	c.keptOVN(t, 1, "alone")
}

// membersJoin checks that new members join the cluster of the first one, with its data.
func membersJoin(t *testing.T, c *cloud) {
	before := c.awaitMembers(t, 1)
	c.edit(t, "replicas = 1", "replicas = 3")
	r := c.kolla(t, 0, "apply", "-auto-approve")
	measured(t, "from one member of OVN's databases to three", r.took.Round(time.Second))
	if after := c.awaitMembers(t, 3); !maps.Equal(before, after) {
		t.Errorf("the clusters are %v, want %v", after, before)
	}
	c.keptOVN(t, 3, "alone")
	c.noChanges(t)
}

// maxOutage is the limit for failing writes after the leader is killed, until another one
// is elected. That takes four to eight seconds if processors are free (the election timer is
// four).
const maxOutage = time.Minute

// leaderIsReplaced checks that another member replaces the leader, and that writes continue.
// The writes use the members' own addresses, like Neutron's.
func leaderIsReplaced(t *testing.T, c *cloud) {
	const write = `i=0
while [ $i -lt "$2" ]; do
  if ovn-nbctl --timeout=5 --db="$1" -- --may-exist ls-add written -- set Logical_Switch written other_config:last=$i 2> /dev/null; then date +%s%N; fi
  i=$((i + 1))
  sleep 0.2
done`
	var own []string
	for member := range 3 {
		own = append(own, "tcp:"+c.kubectl(t, "get", "service", fmt.Sprintf("ovn-nb-%d", member), "-o", "jsonpath={.spec.clusterIP}")+":6641")
	}
	leader := c.leader(t, "nb")
	writer := c.inPod(t, "deployment/ovn-northd", "sh", "-c", write, "write", strings.Join(own, ","), "60")
	var out lockedBuffer
	writer.Stdout, writer.Stderr = &out, os.Stderr
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second)
	killed := time.Now()
	c.kubectl(t, "delete", "pod", fmt.Sprintf("ovn-nb-%d", leader), "--grace-period=0", "--force")
	if err := writer.Wait(); err != nil {
		t.Fatal(err)
	}
	var longest time.Duration
	var last int64
	for _, text := range strings.Fields(out.String()) {
		at, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if last != 0 {
			longest = max(longest, time.Duration(at-last))
		}
		last = at
	}
	measured(t, "without a write to OVN's northbound database when its leader is killed", longest.Round(100*time.Millisecond))
	if longest > maxOutage {
		t.Errorf("no write for %s, want at most %s", longest, maxOutage)
	}
	if time.Unix(0, last).Before(killed) {
		t.Error("no write succeeded after the leader was killed")
	}
	if now := c.membership(t, "nb", (leader+1)%3); now.leader == "" {
		t.Error("nobody leads after that")
	}
	c.awaitMembers(t, 3)
	c.keptOVN(t, 3, "alone", "written")
}

// memberJoinsAgain checks that a member without its volume joins as a new member, and that the
// lost one is removed from the cluster.
func memberJoinsAgain(t *testing.T, c *cloud) {
	before := c.awaitMembers(t, 3)
	for database := range ovnDatabases {
		c.loseVolume(t, "ovn-"+database, 1)
	}
	began := time.Now()
	c.kubectl(t, "delete", "pods", "ovn-nb-1", "ovn-sb-1")
	c.awaitReplicas(t)
	after := c.awaitMembers(t, 3)
	measured(t, "until a member without its volume is one again", time.Since(began).Round(time.Second))
	if !maps.Equal(before, after) {
		t.Errorf("the clusters are %v, want %v", after, before)
	}
	c.keptOVN(t, 3, "alone", "written")
}

// loseVolume deletes the volume of a member when its pod is gone.
func (c *cloud) loseVolume(t *testing.T, workload string, member int) {
	t.Helper()
	c.kubectl(t, "delete", "pvc", fmt.Sprintf("data-%s-%d", workload, member), "--wait=false")
}

// awaitReplicas waits for all pods of the databases.
func (c *cloud) awaitReplicas(t *testing.T) {
	t.Helper()
	for database := range ovnDatabases {
		eventually(t, func() error {
			ready := c.kubectl(t, "get", "statefulset", "ovn-"+database, "-o", "jsonpath={.status.readyReplicas} of {.spec.replicas}")
			if ready != "3 of 3" {
				return fmt.Errorf("of the members of %s are ready: %s", database, ready)
			}
			return nil
		})
	}
}

// membersFindData checks that the cluster survives the deletion of all pods at once, together
// with the data of the first one. The first member, which starts a cluster if there is none,
// must join the old cluster. It keeps its volume: a new one could take the only node on which
// another member has its own.
func membersFindData(t *testing.T, c *cloud) {
	before := c.awaitMembers(t, 3)
	for database := range ovnDatabases {
		c.kubectl(t, "exec", "ovn-"+database+"-0", "--", "sh", "-c", "rm /var/lib/openvswitch/ovn-"+database+"/*.db")
	}
	began := time.Now()
	c.kubectl(t, "delete", "pods", "-l", "app.kubernetes.io/component in (ovn-nb, ovn-sb)")
	c.awaitReplicas(t)
	after := c.awaitMembers(t, 3)
	measured(t, "from the deletion of all members of OVN's databases until they are there", time.Since(began).Round(time.Second))
	if !maps.Equal(before, after) {
		t.Errorf("the clusters are %v, want %v", after, before)
	}
	c.keptOVN(t, 3, "alone", "written")
}

// longOutage is an outage after which clients of the databases make their longest pauses: 8
// seconds before each of the three members. So they use the address of a member 24 seconds after
// they asked for it.
const longOutage = 45 * time.Second

// clientsComeBack checks that northd and the relay find the databases after a long outage.
func clientsComeBack(t *testing.T, c *cloud) {
	c.kubectl(t, "scale", "statefulset", "ovn-nb", "ovn-sb", "--replicas=0")
	c.kubectl(t, "wait", "--for=delete", "pods", "-l", "app.kubernetes.io/component in (ovn-nb, ovn-sb)", "--timeout=3m")
	time.Sleep(longOutage)
	c.kubectl(t, "scale", "statefulset", "ovn-nb", "ovn-sb", "--replicas=3")
	c.awaitReplicas(t)
	began := time.Now()
	c.writeOVN(t, 3, "after-the-outage")
	c.keptOVN(t, 3, "alone", "after-the-outage")
	c.kubectl(t, "rollout", "status", "deployment/ovn-relay", "--timeout=2m")
	measured(t, "from the end of a long outage of OVN's databases until northd and the relay work", time.Since(began).Round(time.Second))
	c.noChanges(t)
}

// nodeStaysOff takes a node away and follows what kolla says. The other members of the databases go on.
// The pods without a volume, of northd and Memcached, move to other nodes when kolla's command tells
// Kubernetes that the node is off. The members wait for their volumes, which are on the node, until it
// is back.
func nodeStaysOff(t *testing.T, c *cloud) {
	node := "real-2"
	if node == c.cluster.Kubectl(t, "-n", "kube-system", "get", "pods", "-l", "k8s-app=kube-dns", "-o", "jsonpath={.items[0].spec.nodeName}") {
		node = "real-3" // the cluster has one pod for names
	}
	taint := "kubectl taint node " + node + " node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
	on := "--field-selector=spec.nodeName=" + node
	before := c.awaitMembers(t, 3)
	here := strings.Fields(c.kubectl(t, "get", "pods", on, "-l", "app.kubernetes.io/component in (ovn-nb, ovn-sb)", "-o", "jsonpath={.items[*].metadata.name}"))
	client := c.kubectl(t, "get", "pods", "--field-selector=spec.nodeName!="+node, "-l", "app.kubernetes.io/component=ovn-northd", "-o", "jsonpath={.items[0].metadata.name}")
	caches := strings.Fields(c.kubectl(t, "get", "pods", on, "-l", "app.kubernetes.io/name=memcached", "-o", "jsonpath={.items[*].metadata.name}"))
	if len(here) != 2 {
		t.Fatalf("%s has the members %q, want one of each database", node, here)
	}
	c.cluster.CutPower(t, node)
	began := time.Now()
	eventually(t, func() error {
		r := finish(t, c.command(t, "status"))
		for _, member := range slices.Concat(here, caches) {
			if !strings.Contains(r.out, "pod "+member+" cannot be made anew: node "+node+" is down; bring it back, or, if it is certainly off: "+taint) {
				return fmt.Errorf("the status does not say that %s waits for its node:\n%s", member, r.out)
			}
		}
		return nil
	})
	measured(t, "until kolla names the pods of a node without power", time.Since(began).Round(time.Second))
	wantSaid(t, "plan", c.kolla(t, 0, "plan").out, append(slices.Concat(here, caches), "Pods wait for a node that is down", taint)...)
	if r := finish(t, c.inPod(t, client, "ovn-nbctl", "--timeout=60", "--db="+members(3), "ls-add", "node-down")); r.code != 0 {
		t.Errorf("two members of three take no write: %s", r.out)
	}

	began = time.Now()
	c.cluster.Kubectl(t, strings.Fields(strings.TrimPrefix(taint, "kubectl "))...)
	eventually(t, func() error {
		if left := c.kubectl(t, "get", "pods", on, "-l", "app.kubernetes.io/component in (ovn-nb, ovn-sb, ovn-northd, memcached-server)", "-o", "name"); left != "" {
			return fmt.Errorf("%s still has %s", node, left)
		}
		return nil
	})
	for _, moves := range []string{"deployment/ovn-northd", "statefulset/memcached-server"} {
		c.kubectl(t, "rollout", "status", moves, "--timeout="+patience.String())
	}
	measured(t, "until the pods of a node that is out of service run elsewhere", time.Since(began).Round(time.Second))
	eventually(t, func() error {
		r := finish(t, c.command(t, "status"))
		for _, member := range here {
			if !strings.Contains(r.out, "the volume of claim data-"+member+" is on node "+node+", which is down and out of service; the pod waits until the node is back") {
				return fmt.Errorf("the status does not say that %s waits for its volume:\n%s", member, r.out)
			}
		}
		return nil
	})
	c.writeOVN(t, 3, "node-gone")

	began = time.Now()
	c.cluster.Restart(t, node)
	c.cluster.Kubectl(t, "taint", "node", node, "node.kubernetes.io/out-of-service-")
	c.awaitReplicas(t)
	if after := c.awaitMembers(t, 3); !maps.Equal(before, after) {
		t.Errorf("the clusters are %v, want %v", after, before)
	}
	c.keptOVN(t, 3, "alone", "node-down", "node-gone")
	measured(t, "from the power of a node until its members of OVN's databases are back", time.Since(began).Round(time.Second))
	c.noChanges(t)
}

// membersComeBack checks that the members come back after a power cut of all nodes.
func membersComeBack(t *testing.T, c *cloud) {
	before := c.awaitMembers(t, 3)
	c.writeOVN(t, 3, "before-the-cut")
	nodes := []string{"real-1", "real-2", "real-3"}
	for _, node := range nodes {
		c.cluster.CutPower(t, node)
	}
	began := time.Now()
	for _, node := range nodes {
		c.cluster.Restart(t, node)
	}
	// Until the nodes report on their pods, the pods count as ready, because nothing has
	// reported their end.
	eventually(t, func() error {
		if r := finish(t, c.inPod(t, "deployment/ovn-northd", "true")); r.code != 0 {
			return fmt.Errorf("northd does not run: %s", r.out)
		}
		return nil
	})
	if after := c.awaitMembers(t, 3); !maps.Equal(before, after) {
		t.Errorf("the clusters are %v, want %v", after, before)
	}
	c.keptOVN(t, 3, "alone", "written", "before-the-cut")
	c.kubectl(t, "rollout", "status", "statefulset/memcached-server", "--timeout="+patience.String())
	measured(t, "from the power of all nodes until OVN's databases answer", time.Since(began).Round(time.Second))
	c.awaitReplicas(t)
}

// membersLeave follows the instructions of a plan that refuses to remove members, and then
// applies a smaller cluster.
func membersLeave(t *testing.T, c *cloud) {
	c.edit(t, "replicas = 3", "replicas = 1")
	r := c.kolla(t, 1, "plan")
	wantSaid(t, "plan", r.out, "StatefulSet openstack/ovn-nb cannot go from 3 pods to 1", "StatefulSet openstack/ovn-sb cannot go from 3 pods to 1", "let them leave first")
	for database, name := range ovnDatabases {
		for _, member := range []int{2, 1} {
			pod := fmt.Sprintf("ovn-%s-%d", database, member)
			leave := fmt.Sprintf("ovs-appctl -t /run/ovn/ovn%s_db.ctl cluster/leave %s && ovsdb-client wait unix:/run/ovn/ovn%[1]s_db.sock %[2]s removed", database, name)
			wantSaid(t, "plan", r.out, leave, fmt.Sprintf("scale statefulset ovn-%s --replicas=N", database))
			c.kubectl(t, "exec", pod, "--", "sh", "-c", leave)
			c.kubectl(t, "scale", "statefulset", "ovn-"+database, fmt.Sprintf("--replicas=%d", member))
		}
	}
	c.kolla(t, 0, "apply", "-auto-approve")
	c.awaitMembers(t, 1)
	c.keptOVN(t, 1, "alone", "written", "before-the-cut")
	c.noChanges(t)
}

package realcloud_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// stateful is a cloud whose services keep state in clusters of three, with the services that its clients
// use.
const stateful = `
cloud "state" {
  release  = "2025.1"
  distro   = "debian-trixie"
  registry = "kolla.test/openstack.kolla"

  defaults {
    role   = role.control
    expose = exposure.public
  }
}

role "control" { nodes = ["real-1", "real-2", "real-3"] }

exposure "public" {
  vip   = "` + vip + `"
  nodes = role.control
}

service "mariadb" {
  replicas        = 3
  buffer_pool     = "256M"
  max_connections = 2000
}

service "rabbitmq" { replicas = 3 }
service "memcached" { replicas = 3 }
service "keystone" { replicas = 2 }
service "ovn" { replicas = 3 }

service "neutron" {
  replicas    = 2
  dns_servers = []

  config "neutron.conf" {
    values = { quotas = { quota_network = -1 } }
  }
}

service "cinder" {
  backends = { fake = { type = "other", settings = { volume_driver = "cinder.tests.fake_driver.FakeLoggingVolumeDriver" } } }

  config "cinder.conf" {
    values = { DEFAULT = { quota_volumes = -1, quota_gigabytes = -1 } }
  }
}
`

// part is a service that keeps state.
type part struct {
	// breaks break the service, and mend what does not mend itself.
	breaks []step
	// settled waits until all members work together again.
	settled func(*testing.T, *cloud)
	// kept checks that the members have all writes that were answered, and none twice.
	kept func(t *testing.T, c *cloud, answered []string)
}

// TestState breaks the services that keep state, one break after another, while clients outside write
// through the VIP. After each break every write that was answered is there, and none twice.
func TestState(t *testing.T) {
	images := imagesOf(t, os.Getenv(imagesVariable)).withTag(t, registry+"mariadb-server", secondTag)
	c := emptyCloud(t, 3, images.option(t))
	c.write(t, "cloud.hcl", ofChosen(stateful))
	take(t, c, []step{{"apply", func(t *testing.T, c *cloud) {
		r := c.kolla(t, 0, "apply", "-auto-approve", "-timeout=20m")
		measured(t, "apply of the services with state", r.took.Round(time.Second))
	}}})
	c.haproxy(t)
	var o orders
	take(t, c, []step{{"clients", func(t *testing.T, c *cloud) { o = c.writers(t) }}})
	var answered []string
	var steps []step
	for _, p := range []part{database, queues} {
		for _, b := range p.breaks {
			steps = append(steps, step{b.name, func(t *testing.T, c *cloud) {
				answered = append(answered, c.survives(t, p, b, o)...)
				p.kept(t, c, answered)
			}})
		}
	}
	take(t, c, steps)
}

const (
	registry  = "kolla.test/openstack.kolla/"
	secondTag = "second"
)

// counted begins the names of networks that count.
const counted = "counted-"

// writers returns twenty clients that get tokens, and create and delete networks and volumes. One of
// them creates networks that stay and count, one after the other: Neutron would accept a name twice. The
// others pause for long, because they share two processors with the cloud.
func (c *cloud) writers(t *testing.T) orders {
	t.Helper()
	as, project := c.administrator(t)
	const networks, network = "http://" + vip + ":9696/v2.0/networks", `{"network": {"name": "%sUNIQUE"}}`
	creates := func(name, url, body string, status int) client {
		return client{name, as, []request{{Method: http.MethodPost, URL: url, Body: body, Status: status, Undo: true, Pause: writerPause}}}
	}
	o := orders{Pause: time.Second, Clients: []client{
		{"counted", as, []request{{Method: http.MethodPost, URL: networks, Body: fmt.Sprintf(network, counted), Status: http.StatusCreated, Counts: true}}},
	}}
	for range 6 {
		o.Clients = append(o.Clients, client{Name: "tokens", Requests: []request{{Method: http.MethodPost, URL: as.URL, Body: as.Body, Status: http.StatusCreated, Pause: writerPause}}})
	}
	for range 8 {
		o.Clients = append(o.Clients, creates("networks", networks, fmt.Sprintf(network, "short-"), http.StatusCreated))
	}
	for range 5 {
		o.Clients = append(o.Clients, creates("volumes", "http://"+vip+":8776/v3/"+project+"/volumes", `{"volume": {"name": "UNIQUE", "size": 1}}`, http.StatusAccepted))
	}
	return o
}

// writerPause is the time between two requests of most clients.
const writerPause = 30 * time.Second

// writeBefore and writeAfter are how long clients write before and after a break.
const writeBefore, writeAfter = 10 * time.Second, 30 * time.Second

// survives breaks a part of the cloud while clients write. It returns the writes that count and were
// answered, and prints a row of the table.
func (c *cloud) survives(t *testing.T, p part, b step, o orders) []string {
	t.Helper()
	var began, answering time.Time
	results := c.clientsRun(t, func() {
		time.Sleep(writeBefore)
		began = time.Now()
		b.do(t, c)
		p.settled(t, c)
		c.answerWriters(t)
		answering = time.Now()
		time.Sleep(writeAfter)
	}, o)
	requests, failed, last := 0, 0, began
	for name, r := range results {
		requests += r.Requests
		failed += r.Failed
		if r.LastFailed.After(last) {
			last = r.LastFailed
		}
		if end := answering.Add(writeAfter / 2); r.LastFailed.After(end) {
			t.Errorf("requests of %s fail on, such as %v", name, r.Failures)
		}
	}
	writes := results["counted"]
	if len(writes.Kept) == 0 {
		t.Errorf("no write was answered: %v", writes.Failures)
	}
	measured(t, b.name+" | writes answered | requests | failed | longest without a write | until none failed", fmt.Sprintf("%d | %d | %d | %s | %s",
		len(writes.Kept), requests, failed, writes.Gap.Round(100*time.Millisecond), last.Sub(began).Round(time.Second)))
	return writes.Kept
}

// answerWriters waits until all services answer that the clients use.
func (c *cloud) answerWriters(t *testing.T) {
	t.Helper()
	c.eventualToken(t)
	for _, ask := range [][]string{
		{"network", "list", "-f", "value", "-c", "ID"},
		{"volume", "service", "list", "-f", "value", "-c", "Binary", "-c", "State"},
	} {
		eventually(t, func() error {
			if r := c.openstack(t, ask...); r.code != 0 || strings.Contains(r.out, " down\n") {
				return fmt.Errorf("openstack %s: exit code %d\n%s", strings.Join(ask, " "), r.code, r.out)
			}
			return nil
		})
	}
}

// database is MariaDB with three members. Clients write to member 0.
var database = part{
	breaks: []step{
		{"database: writer killed", func(t *testing.T, c *cloud) { c.killServers(t, "mariadb-server", "mariadbd", 0) }},
		{"database: joiner killed in its copy", joinerIsKilled},
		{"database: two of three killed", func(t *testing.T, c *cloud) { c.killServers(t, "mariadb-server", "mariadbd", 1, 2) }},
		{"database: node of the writer ten minutes without power", writerStaysOff},
		{"database: all nodes without power", powerFails},
		{"database: volume lost", volumeOfWriterIsLost},
		{"database: split of one and two", networkSplits},
		{"database: rolling restart", databaseRestarts},
		{"database: new image", databaseGetsImage},
		{"database: three, one, three", databaseShrinks},
	},
	settled: databaseSettles,
	kept:    databaseKeeps,
}

// sqlOn is a command that runs a statement on the member in whose pod it runs.
func sqlOn(statement string) []string {
	return []string{"mariadb", "--defaults-file=/etc/mysql/my.cnf", "--user=mysql", "--batch", "--skip-column-names", "--execute=" + statement}
}

// membersOf returns the pods of a StatefulSet.
func (c *cloud) membersOf(t *testing.T, set string) []string {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(c.kubectl(t, "get", "statefulset", set, "-o", "jsonpath={.spec.replicas}"), &n); err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s-%d", set, i))
	}
	return out
}

func databaseSettles(t *testing.T, c *cloud) {
	members := c.membersOf(t, "mariadb-server")
	c.kubectl(t, "rollout", "status", "statefulset/mariadb-server", "--timeout="+patience.String())
	if len(members) == 1 {
		return
	}
	// Nodes that were without power report late that their pods are gone.
	for _, pod := range members {
		eventually(t, func() error {
			r := finish(t, c.inPod(t, pod, sqlOn("SHOW STATUS WHERE Variable_name IN ('wsrep_cluster_size', 'wsrep_local_state')")...))
			for _, want := range []string{fmt.Sprintf("wsrep_cluster_size\t%d\n", len(members)), "wsrep_local_state\t4\n"} {
				if r.code != 0 || !strings.Contains(r.out, want) {
					return fmt.Errorf("%s says %q, want %q", pod, r.out, want)
				}
			}
			return nil
		})
	}
}

func databaseKeeps(t *testing.T, c *cloud, answered []string) {
	var first string
	for i, pod := range c.membersOf(t, "mariadb-server") {
		got := c.kubectl(t, append([]string{"exec", pod, "-c", "server", "--"}, sqlOn("SET SESSION wsrep_sync_wait = 1; SELECT name FROM neutron.networks WHERE name LIKE '"+counted+"%' ORDER BY name")...)...)
		if i == 0 {
			first = got
		} else if got != first {
			t.Errorf("%s has other networks than member 0", pod)
		}
		times := map[string]int{}
		for _, name := range strings.Fields(got) {
			times[strings.TrimPrefix(name, counted)]++
		}
		for name, n := range times {
			if n > 1 {
				t.Errorf("%s has %s%s %d times", pod, counted, name, n)
			}
		}
		for _, name := range answered {
			if times[name] == 0 {
				t.Errorf("%s has lost %s%s, whose creation was answered", pod, counted, name)
			}
		}
	}
}

// killing is a shell command that kills the processes of a name.
func killing(process string) string {
	return "kill -KILL $(grep -lx " + process + " /proc/[0-9]*/comm | cut -d/ -f3)"
}

// killServers kills the servers of members, and waits until Kubernetes has started their containers again.
func (c *cloud) killServers(t *testing.T, set, process string, members ...int) {
	t.Helper()
	restarts := func(pod string) string {
		return c.kubectl(t, "get", "pod", pod, "-o", "jsonpath={.metadata.uid} {.status.containerStatuses[0].restartCount}")
	}
	before := map[string]string{}
	for _, i := range members {
		pod := fmt.Sprintf("%s-%d", set, i)
		before[pod] = restarts(pod)
	}
	for pod := range before {
		_ = finish(t, c.inPod(t, pod, "sh", "-c", killing(process))) // the command may end with its container
	}
	for pod, had := range before {
		eventually(t, func() error {
			if restarts(pod) == had {
				return fmt.Errorf("%s was not killed", pod)
			}
			return nil
		})
	}
}

// joinerIsKilled takes the volume of a member, and kills the member while it gets a copy of the data.
func joinerIsKilled(t *testing.T, c *cloud) {
	const pod = "mariadb-server-1"
	c.loseVolume(t, "mariadb-server", 1)
	c.kubectl(t, "delete", "pod", pod)
	eventually(t, func() error {
		if r := finish(t, c.inPod(t, pod, "true")); r.code != 0 {
			return fmt.Errorf("%s does not run: %s", pod, r.out)
		}
		return nil
	})
	r := finish(t, c.inPod(t, pod, "timeout", "300", "sh", "-c", "until test -d /var/lib/mysql/.sst; do sleep 0.1; done; "+killing("mariadbd")))
	eventually(t, func() error {
		if said := finish(t, c.mayFail(t, "logs", pod, "-c", "server")); !strings.Contains(said.out, "has partial") {
			return fmt.Errorf("%s does not say that its copy is not complete:\n%s\nthe command that killed it: %s", pod, said.out, r.out)
		}
		return nil
	})
}

// writerStaysOff cuts the power of the writer's node for ten minutes. The services go on without it.
func writerStaysOff(t *testing.T, c *cloud) {
	node := c.kubectl(t, "get", "pod", "mariadb-server-0", "-o", "jsonpath={.spec.nodeName}")
	began := time.Now()
	c.cluster.CutPower(t, node)
	c.eventualToken(t)
	time.Sleep(time.Until(began.Add(10 * time.Minute)))
	if r := c.openstack(t, "network", "list"); r.code != 0 {
		t.Errorf("no service answers without the node of the writer: %s", r.out)
	}
	c.cluster.Restart(t, node)
}

// powerFails cuts the power of all nodes, and turns it on again.
func powerFails(t *testing.T, c *cloud) {
	nodes := []string{"real-1", "real-2", "real-3"}
	for _, node := range nodes {
		c.cluster.CutPower(t, node)
	}
	for _, node := range nodes {
		c.cluster.Restart(t, node)
	}
	// Until the nodes report, the pods count as ready.
	eventually(t, func() error {
		if r := finish(t, c.inPod(t, "mariadb-server-0", "true")); r.code != 0 {
			return fmt.Errorf("member 0 does not run: %s", r.out)
		}
		return nil
	})
}

func volumeOfWriterIsLost(t *testing.T, c *cloud) {
	c.loseVolume(t, "mariadb-server", 0)
	c.kubectl(t, "delete", "pod", "mariadb-server-0")
}

// networkSplits takes the node of the writer from the others for a while.
func networkSplits(t *testing.T, c *cloud) {
	heal := c.cutOff(t, c.kubectl(t, "get", "pod", "mariadb-server-0", "-o", "jsonpath={.spec.nodeName}"))
	time.Sleep(2 * time.Minute)
	heal()
}

// databaseRestarts changes an option.
func databaseRestarts(t *testing.T, c *cloud) {
	c.edit(t, "max_connections = 2000", "max_connections = 2001")
	c.kolla(t, 0, "apply", "-auto-approve", "-timeout=20m")
}

// databaseGetsImage gives the members the image of bin/images. If the others have an older MariaDB, this is its upgrade.
func databaseGetsImage(t *testing.T, c *cloud) {
	const image = registry + "mariadb-server:" + secondTag
	c.edit(t, "  buffer_pool     = \"256M\"\n", "  buffer_pool     = \"256M\"\n  images          = { mariadb-server = \""+image+"\" }\n")
	c.kolla(t, 0, "apply", "-auto-approve", "-timeout=20m")
	for _, pod := range c.membersOf(t, "mariadb-server") {
		if got := c.kubectl(t, "get", "pod", pod, "-o", "jsonpath={.spec.containers[0].image}"); got != image {
			t.Errorf("%s has the image %s, want %s", pod, got, image)
		}
		measured(t, pod+" runs", c.kubectl(t, append([]string{"exec", pod, "-c", "server", "--"}, sqlOn("SELECT VERSION()")...)...))
	}
}

// databaseShrinks follows the instructions of a plan that refuses to remove members, and applies one
// member. Then it applies three again.
func databaseShrinks(t *testing.T, c *cloud) {
	c.edit(t, "replicas        = 3", "replicas        = 1")
	r := c.kolla(t, 1, "plan")
	wantSaid(t, "plan", r.out, "StatefulSet openstack/mariadb-server cannot go from 3 pods to 1", "scale statefulset mariadb-server --replicas=N", "wait --for=delete pod/mariadb-server-N")
	for _, n := range []int{2, 1} {
		c.kubectl(t, "scale", "statefulset", "mariadb-server", fmt.Sprintf("--replicas=%d", n))
		c.kubectl(t, "wait", "--for=delete", fmt.Sprintf("pod/mariadb-server-%d", n), "--timeout=5m")
	}
	c.kolla(t, 0, "apply", "-auto-approve", "-timeout=20m")
	databaseSettles(t, c)
	c.answerWriters(t)
	time.Sleep(writeAfter) // clients write to the only member
	c.edit(t, "replicas        = 1", "replicas        = 3")
	c.kolla(t, 0, "apply", "-auto-approve", "-timeout=20m")
}

// queues is RabbitMQ with three members.
var queues = part{
	breaks:  []step{{"queue: leader killed", leaderIsKilled}},
	settled: queuesSettle,
	kept:    databaseKeeps, // a write is answered after its messages
}

// leaderIsKilled kills the member that leads most quorum queues.
func leaderIsKilled(t *testing.T, c *cloud) {
	const leaders = `for host in $(rabbitmqctl --quiet --no-table-headers list_vhosts name); do rabbitmqctl --quiet --no-table-headers list_queues --vhost "$host" leader; done`
	list := c.kubectl(t, "exec", "rabbitmq-server-0", "--", "sh", "-c", leaders)
	var leads []int
	for _, pod := range c.membersOf(t, "rabbitmq-server") {
		leads = append(leads, strings.Count(list, "@"+pod+"."))
	}
	leader := slices.Index(leads, slices.Max(leads))
	measured(t, "queues that each member leads", leads)
	if leads[leader] == 0 {
		t.Fatalf("no member leads a queue: %q", list)
	}
	c.killServers(t, "rabbitmq-server", "beam.smp", leader)
}

// queuesSettle waits until any member may leave without a quorum queue losing its majority.
func queuesSettle(t *testing.T, c *cloud) {
	c.kubectl(t, "rollout", "status", "statefulset/rabbitmq-server", "--timeout="+patience.String())
	for _, pod := range c.membersOf(t, "rabbitmq-server") {
		eventually(t, func() error {
			if r := finish(t, c.inPod(t, pod, "rabbitmq-queues", "check_if_node_is_quorum_critical")); r.code != 0 {
				return fmt.Errorf("%s: %s", pod, r.out)
			}
			return nil
		})
	}
}

package realcloud_test

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestValkey runs examples/service-discovery, and takes one primary after another from it. The client of the
// example runs on a node that no step breaks.
func TestValkey(t *testing.T) {
	c := newCloud(t, "service-discovery", 4)
	c.edit(t, `release = "2026.1"`, "release = \"2025.1\"\n  registry = \"kolla.test/openstack.kolla\"")
	c.edit(t, `nodes = ["node-1", "node-2", "node-3"]`, `nodes = ["real-1", "real-2", "real-3"]`)
	c.edit(t, "service \"counter\" {\n  role = role.all", "role \"client\" {\n  nodes = [\"real-4\"]\n}\n\nservice \"counter\" {\n  role = role.client")
	take(t, c, []step{
		{"apply", primaryIsFound},
		{"primary deleted", primaryGoes("pod of the primary deleted", func(t *testing.T, c *cloud, pod string) func() {
			c.kubectl(t, "delete", "pod", pod)
			return nil
		})},
		{"node without power", primaryGoes("power of the primary's node cut", func(t *testing.T, c *cloud, pod string) func() {
			node := c.kubectl(t, "get", "pod", pod, "-o", "jsonpath={.spec.nodeName}")
			c.cluster.CutPower(t, node)
			return func() { c.cluster.Restart(t, node) }
		})},
		{"replica added", replicaJoins},
	})
}

// count is a number that the client of the example got from a server.
type count struct {
	at  time.Time
	pod string // of the server
	n   int
}

var lineOfCount = regexp.MustCompile(`^(\S+) ([a-z0-9-]+)\.\S+: ([0-9]+)$`)

// counts returns the numbers that the client got.
func (c *cloud) counts(t *testing.T) []count {
	t.Helper()
	var out []count
	for line := range strings.Lines(c.kubectl(t, "logs", "deployment/counter-main", "--timestamps")) {
		found := lineOfCount.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			continue // no server answered
		}
		at, err := time.Parse(time.RFC3339Nano, found[1])
		n, err2 := strconv.Atoi(found[3])
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		out = append(out, count{at, found[2], n})
	}
	return out
}

// awaitCount waits until a server has counted after a time.
func (c *cloud) awaitCount(t *testing.T, pod string, after time.Time) {
	t.Helper()
	eventually(t, func() error {
		all := c.counts(t)
		if len(all) == 0 || all[len(all)-1].pod != pod || all[len(all)-1].at.Before(after) {
			return fmt.Errorf("the client has the counts %v, want a new one of %s", all[max(0, len(all)-3):], pod)
		}
		return nil
	})
}

// fromClient returns the output of a command in the pod of the client, as the example's README gives it.
func (c *cloud) fromClient(t *testing.T, command string) string {
	t.Helper()
	return finish(t, c.inPod(t, "deployment/counter-main", "sh", "-c", command)).out
}

// primaryOf waits until a primary has some replicas, and the sentinels know them. It returns the pod of the
// primary.
func (c *cloud) primaryOf(t *testing.T, replicas int) (pod string) {
	t.Helper()
	c.kubectl(t, "rollout", "status", "statefulset/valkey-server", "--timeout="+patience.String())
	sentinel := `timeout 3 valkey-cli -h "$SENTINEL_HOST" -p "$SENTINEL_PORT" --raw `
	eventually(t, func() error {
		host, _, _ := strings.Cut(c.fromClient(t, sentinel+`sentinel get-master-addr-by-name "$PRIMARY"`), "\n")
		known := c.fromClient(t, sentinel+"info sentinel")
		if !strings.Contains(known, fmt.Sprintf("status=ok,address=%s:6379,slaves=%d,sentinels=3", host, replicas)) {
			return fmt.Errorf("a sentinel names %q and says %q", host, known)
		}
		has := c.fromClient(t, "REDISCLI_AUTH=$(cat /etc/counter/password) timeout 3 valkey-cli -h "+host+" info replication")
		if !strings.Contains(has, fmt.Sprintf("role:master\r\nconnected_slaves:%d\r\n", replicas)) {
			return fmt.Errorf("%s says %q, want a primary with %d replicas", host, has, replicas)
		}
		pod, _, _ = strings.Cut(host, ".")
		return nil
	})
	return pod
}

// primaryIsFound checks that one apply is enough, and that the client writes.
func primaryIsFound(t *testing.T, c *cloud) {
	c.kolla(t, 0, "apply", "-auto-approve", "-timeout=10m")
	c.awaitCount(t, c.primaryOf(t, 2), time.Now())
	wantSaid(t, "discovery", c.kolla(t, 0, "discover", "-wide").out, "valkey-server-0.valkey-server.openstack", "26379")
	c.noChanges(t)
}

// primaryGoes returns a step that takes the primary away. Another server has to become the primary, and the
// old one comes back as a replica when the step has mended what it broke.
func primaryGoes(event string, do func(t *testing.T, c *cloud, pod string) (mend func())) func(*testing.T, *cloud) {
	return func(t *testing.T, c *cloud) {
		old, began := c.primaryOf(t, 2), time.Now()
		mend := do(t, c, old)
		eventually(t, func() error {
			if all := c.counts(t); all[len(all)-1].pod == old {
				return fmt.Errorf("%s has counted last", old)
			}
			return nil
		})
		if mend != nil {
			mend()
		}
		now := c.primaryOf(t, 2)
		if now == old {
			t.Errorf("%s is the primary again", old)
		}
		c.awaitCount(t, now, time.Now())
		var gap time.Duration
		lost := 0
		all := c.counts(t)
		for i, next := range all[1:] {
			if !next.at.After(began) {
				continue
			}
			gap = max(gap, next.at.Sub(all[i].at))
			lost += max(0, all[i].n+1-next.n)
		}
		// Replicas follow later: a primary without power may have answered what none of them has.
		if lost > 0 && mend == nil {
			t.Errorf("%d writes that were answered are lost: %v", lost, all)
		}
		measured(t, "Valkey, "+event+": longest time between two counts of a client that counts each second, and answered writes that are lost", fmt.Sprint(gap.Round(100*time.Millisecond), ", ", lost))
		c.noChanges(t)
	}
}

// replicaJoins adds a server, which finds the primary and copies its data.
func replicaJoins(t *testing.T, c *cloud) {
	before := c.primaryOf(t, 2)
	c.edit(t, `nodes = ["real-1", "real-2", "real-3"]`, `nodes = ["real-1", "real-2", "real-3", "real-4"]`)
	c.edit(t, "service \"valkey\" {\n  role = role.all\n", "service \"valkey\" {\n  role = role.all\n\n  workload \"server\" {\n    replicas = 4\n  }\n")
	c.kolla(t, 0, "apply", "-auto-approve", "-timeout=10m")
	after := c.primaryOf(t, 3)
	c.awaitCount(t, after, time.Now())
	t.Logf("the primary was %s, and is %s", before, after)
	c.noChanges(t)
}

package openstack_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// valkeys are the servers and sentinels of Valkey on a bench.
type valkeys struct {
	*bench
	servers, sentinels []*pod
	server, sentinel   shape
	renewed            shape // a server with another password for clients
}

// password matches the passwords in Valkey's files.
var password = regexp.MustCompile(`(?m)^(requirepass|masterauth|user members on|sentinel auth-pass kolla) "(>?)[^"]*"`)

func newValkeys(t *testing.T) *valkeys {
	t.Helper()
	v := &valkeys{bench: newBench(t, "valkey-server")} // the image of the sentinel has the same layers
	config := written(t, `service "vk" { definition = "valkey" }`)
	objects := render(t, config, facts())
	files := stackOptions(config)
	given := func(name string) string { // with the password that is not known here
		return password.ReplaceAllString(files["vk "+name], `$1 "${2}secret"`)
	}
	settings := given("valkey.conf")
	server := func(settings string) shape {
		return v.bench.shape(find(t, objects, "StatefulSet/vk-server"), "/var/lib/valkey", map[string]string{
			"run/secrets/members/value": "secret", "etc/valkey/valkey.conf": settings,
		})
	}
	v.server = server(settings)
	v.renewed = server(strings.Replace(settings, `requirepass "secret"`, `requirepass "renewed"`, 1))
	v.sentinel = v.bench.shape(find(t, objects, "StatefulSet/vk-sentinel"), "/var/lib/valkey", map[string]string{
		"etc/valkey/sentinel.conf": given("sentinel.conf"),
	})
	var hosts []string
	for _, e := range v.server.spec.Containers[0].Env {
		if e.Name == "SERVERS" || e.Name == "SENTINELS" {
			hosts = append(hosts, strings.Fields(e.Value)...)
		}
	}
	slices.Sort(hosts) // the sentinels, then the servers
	all := v.bench.pods(hosts)
	v.sentinels, v.servers = all[:3], all[3:]
	return v
}

// ask sends a command to a server, and returns the answer.
func (v *valkeys) ask(server int, args ...string) (string, error) {
	return v.servers[server].exec(v.server, append([]string{"valkey-cli", "--no-auth-warning", "--raw", "--user", "members", "-a", "secret"}, args...)...)
}

// primary returns the number of the server that a sentinel names; -1: none.
func (v *valkeys) primary(sentinel int) int {
	out, _ := v.sentinels[sentinel].exec(v.sentinel, "valkey-cli", "--raw", "-p", "26379", "sentinel", "get-master-addr-by-name", "kolla")
	return slices.IndexFunc(v.servers, func(p *pod) bool { return strings.HasPrefix(out, p.name+".") })
}

// acquainted returns an error unless each sentinel knows the two others. A sentinel that does not exist
// any more would count for the majority.
func (v *valkeys) acquainted() error { return v.knows("num-other-sentinels", "2") }

// knows returns an error unless a field has a value at each sentinel.
func (v *valkeys) knows(field, value string) error {
	for i, p := range v.sentinels {
		out, err := p.exec(v.sentinel, "valkey-cli", "--raw", "-p", "26379", "sentinel", "master", "kolla")
		if err != nil {
			return err
		}
		if !strings.Contains(out, "\n"+field+"\n"+value+"\n") {
			return fmt.Errorf("at sentinel %d, %s is not %s:\n%s", i, field, value, out)
		}
	}
	return nil
}

// write sets a key as a client does: on the server that a sentinel names.
func (v *valkeys) write(sentinel int, key string) error {
	primary := v.primary(sentinel)
	if primary < 0 {
		return fmt.Errorf("sentinel %d names no primary", sentinel)
	}
	out, err := v.ask(primary, "set", key, "x")
	if err == nil && strings.TrimSpace(out) != "OK" {
		err = fmt.Errorf("server %d: %s", primary, out)
	}
	return err
}

// counting writes to a server, one write after the other, until the server takes no more. It returns after
// the first write. answered waits for the end, and returns the number of writes that the server answered.
func (v *valkeys) counting(server int) (answered func() int) {
	incr := func() (int, error) {
		out, err := v.ask(server, "incr", "counted")
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(out))
	}
	last, err := incr()
	if err != nil {
		v.Fatal(err)
	}
	count := make(chan int)
	go func() {
		for {
			n, err := incr()
			if err != nil {
				count <- last
				return
			}
			last = n
		}
	}()
	return func() int { return <-count }
}

// whole returns an error unless there is one primary, and all other servers have its n keys.
func (v *valkeys) whole(n int) error {
	primary := v.primary(0)
	for i := range v.servers {
		out, err := v.ask(i, "info", "replication")
		if err != nil {
			return err
		}
		if want := map[bool]string{true: "role:master", false: "master_link_status:up"}[i == primary]; !strings.Contains(out, want) {
			return fmt.Errorf("server %d is not %s", i, want)
		}
		if out, err = v.ask(i, "dbsize"); err != nil || strings.TrimSpace(out) != fmt.Sprint(n) {
			return fmt.Errorf("server %d has %q keys, want %d (%w)", i, out, n, err)
		}
	}
	return nil
}

// TestValkeyMembers takes servers, sentinels, power and volumes from Valkey.
func TestValkeyMembers(t *testing.T) {
	v := newValkeys(t)
	start := func() {
		for i := range 3 {
			v.servers[i].start(v.server)
			v.sentinels[i].start(v.sentinel)
		}
	}
	keys := 0
	written := func(sentinel int) {
		t.Helper()
		v.within(time.Minute, "a write", func() error { return v.write(sentinel, fmt.Sprint("key", keys)) })
		keys++
	}
	another := func(old int) {
		t.Helper()
		v.within(time.Minute, "another primary", func() error {
			if now := v.primary(1); now == old || now < 0 {
				return fmt.Errorf("the primary is %d", now)
			}
			return nil
		})
	}
	whole := func() error { return v.whole(keys) }
	start()
	v.within(patience, "three servers", whole)
	v.within(patience, "the sentinels know the replicas, which they ask for every ten seconds", func() error { return v.knows("num-slaves", "2") })
	written(0)

	t.Run("primary killed", func(t *testing.T) {
		old := v.primary(0)
		v.servers[old].kill()
		another(old)
		written(1)
		v.servers[old].start(v.server)
		v.within(patience, "the old primary is a replica", whole)
		if strings.Count(v.servers[old].said(), "Starts as the primary.") > 1 {
			t.Error("the old primary came back as a primary")
		}
	})
	t.Run("split", func(t *testing.T) {
		old := v.primary(0)
		v.servers[old].cut("down")
		another(old)
		if out, _ := v.ask(old, "set", "lost", "x"); !strings.Contains(out, "NOREPLICAS") {
			t.Errorf("two primaries take writes: %q", out)
		}
		written(1)
		v.servers[old].cut("up")
		v.within(patience, "the old primary is a replica", whole)
	})
	t.Run("primary stopped", func(t *testing.T) {
		old := v.primary(0)
		answered := v.counting(old)
		if code := v.servers[old].delete(50 * time.Second); code != 0 {
			t.Errorf("it ended with %d", code)
		}
		now := v.primary(1)
		if now == old {
			t.Fatal("it did not hand over before it stopped")
		}
		keys++
		want := answered()
		kept, err := v.ask(now, "get", "counted")
		if n, _ := strconv.Atoi(strings.TrimSpace(kept)); n < want {
			t.Errorf("the next primary has %q of %d writes that were answered: %v", kept, want, err)
		}
		written(1)
		v.servers[old].start(v.server)
		v.within(patience, "it is a replica", whole)
	})
	t.Run("volume of the primary lost", func(t *testing.T) {
		old := v.primary(0)
		v.servers[old].kill()
		v.servers[old].loses()
		v.servers[old].start(v.server) // at once: the sentinels still name it
		v.within(patience, "it is a replica with all data", whole)
		if v.primary(0) == old {
			t.Error("the server without data is the primary")
		}
	})
	t.Run("power cut", func(t *testing.T) {
		for i := range 3 {
			v.servers[i].kill()
			v.sentinels[i].kill()
		}
		start()
		v.within(patience, "all are back", whole)
		written(2)
	})
	t.Run("power and volume of the primary lost", func(t *testing.T) {
		old := v.primary(0)
		for i := range 3 {
			v.servers[i].kill()
			v.sentinels[i].kill()
		}
		v.servers[old].loses()
		for i := range 3 {
			v.sentinels[i].start(v.sentinel)
		}
		v.servers[old].start(v.server)
		v.within(patience, "it waits for the others", func() error {
			if !strings.HasSuffix(strings.TrimSpace(v.servers[old].said()), "this server has lost its data.") {
				return errors.New("it does not say that it waits")
			}
			return nil
		})
		for i := range 3 {
			if i != old {
				v.servers[i].start(v.server)
			}
		}
		v.within(patience, "all are back", whole)
		written(1)
	})
	t.Run("another password of clients", func(t *testing.T) {
		for i, p := range slices.Backward(v.servers) {
			p.delete(50 * time.Second)
			written(1)
			p.start(v.renewed)
			v.within(patience, fmt.Sprintf("server %d is back", i), whole)
		}
		for _, given := range []string{"secret", "renewed"} {
			out, err := v.servers[0].exec(v.server, "valkey-cli", "--no-auth-warning", "--raw", "-a", given, "exists", "key0")
			if answers := err == nil && strings.TrimSpace(out) == "1"; answers != (given == "renewed") {
				t.Errorf("with password %s: %q, %v", given, out, err)
			}
		}
	})
	t.Run("all sentinels lost", func(t *testing.T) {
		if v.primary(0) == 0 { // so that the first server's name is not the answer by chance
			v.servers[0].delete(50 * time.Second)
			v.servers[0].start(v.server)
			v.within(patience, "it is a replica", whole)
		}
		primary := v.primary(0)
		for _, p := range v.sentinels {
			p.kill()
			p.loses()
		}
		for _, p := range v.sentinels {
			p.start(v.sentinel)
		}
		v.within(time.Minute, "new sentinels know the primary", func() error {
			for i := range 3 {
				if now := v.primary(i); now != primary {
					return fmt.Errorf("sentinel %d names %d, want %d", i, now, primary)
				}
			}
			return v.acquainted()
		})
		written(0)
		v.within(patience, "all data are there", whole)
	})
	t.Run("sentinel lost", func(t *testing.T) {
		v.servers[v.primary(0)].kill() // so that the first server's name is not the answer by chance
		v.within(time.Minute, "another primary", func() error { return v.write(0, "key0") })
		primary := v.primary(0)
		v.sentinels[2].kill()
		v.sentinels[2].loses()
		v.sentinels[2].start(v.sentinel)
		v.within(time.Minute, "the new sentinel knows the primary", func() error {
			if now := v.primary(2); now != primary {
				return fmt.Errorf("it names %d, want %d", now, primary)
			}
			return v.acquainted()
		})
	})
}

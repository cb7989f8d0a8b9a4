package openstack_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/providers"
)

// rabbits are the members of a cluster of RabbitMQ on a bench.
type rabbits struct {
	*bench
	pods  []*pod
	shape shape // of a member
}

// newRabbits makes three members that do not run yet.
func newRabbits(t *testing.T) *rabbits {
	t.Helper()
	r := &rabbits{bench: newBench(t, "rabbitmq")}
	r.shape = r.replicas("3")
	for _, e := range r.shape.spec.Containers[0].Env {
		if e.Name == "MEMBERS" {
			r.pods = r.bench.pods(strings.Fields(e.Value))
		}
	}
	return r
}

// replicas returns the pods of a service with so many replicas.
func (r *rabbits) replicas(n string) shape {
	r.Helper()
	objects := render(r.T, written(r.T, "service \"mq\" {\n  definition = \"rabbitmq\"\n  replicas = "+n+"\n}\n"), facts())
	files := map[string]string{
		"etc/rabbitmq/rabbitmq.conf":   configFile(r.T, objects, "rabbitmq.conf"),
		"etc/rabbitmq/enabled_plugins": configFile(r.T, objects, "enabled_plugins"),
		"etc/rabbitmq/definitions.json": `{"vhosts":[{"name":"/"}],"users":[{"name":"admin","password":"admin","tags":["administrator"]}],
"permissions":[{"user":"admin","vhost":"/","configure":".*","write":".*","read":".*"}]}`,
		"run/secrets/cookie/value": "chocolate",
	}
	if n != "1" {
		files["etc/rabbitmq/leave.sh"] = configFile(r.T, objects, "leave.sh")
	}
	return r.bench.shape(find(r.T, objects, "StatefulSet/mq-server"), "/var/lib/rabbitmq", files)
}

// configFile returns a configuration file of rendered objects.
func configFile(t *testing.T, objects []providers.Object, name string) string {
	t.Helper()
	for _, o := range objects {
		data, _ := o.Manifest.Object["data"].(map[string]any)
		if content, ok := data[name].(string); ok && o.Manifest.GetKind() == "ConfigMap" {
			return content
		}
	}
	t.Fatalf("no object has the file %s", name)
	return ""
}

// call sends a request to the management API of a member.
func (r *rabbits) call(member int, method, path string, body, answer any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	args := []string{"--target", strconv.Itoa(r.pods[member].sandbox), "--net", "curl", "-q", "-s", "-f", "-m", "20", "-u", "admin:admin", "-X", method}
	if body != nil {
		args = append(args, "-H", "Content-Type: application/json", "-d", string(sent))
	}
	out, err := exec.Command("nsenter", append(args, "http://127.0.0.1:15672/api/"+path)...).Output()
	if err != nil {
		return fmt.Errorf("%s %s of member %d: %w", method, path, member, err)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(bytes.TrimSpace(out), answer)
}

// complete returns an error unless a member sees n members that run.
func (r *rabbits) complete(member, n int) error {
	var nodes []struct {
		Name    string
		Running bool
	}
	if err := r.call(member, "GET", "nodes", nil, &nodes); err != nil {
		return err
	}
	running := 0
	for _, node := range nodes {
		if node.Running {
			running++
		}
	}
	if running != n {
		return fmt.Errorf("%d members run, want %d: %v", running, n, nodes)
	}
	return nil
}

// allComplete returns an error unless all members see each other.
func (r *rabbits) allComplete() error {
	for i := range r.pods {
		if err := r.complete(i, len(r.pods)); err != nil {
			return err
		}
	}
	return nil
}

// declare makes a quorum queue and a stream.
func (r *rabbits) declare(member int) {
	r.Helper()
	for name, kind := range map[string]string{"q1": "quorum", "s1": "stream"} {
		body := map[string]any{"durable": true, "arguments": map[string]any{"x-queue-type": kind}}
		if err := r.call(member, "PUT", "queues/%2f/"+name, body, nil); err != nil {
			r.Fatal(err)
		}
	}
}

// publish sends a message into the quorum queue, and returns an error unless it was routed.
func (r *rabbits) publish(member int) error {
	var answer struct{ Routed bool }
	body := map[string]any{"properties": map[string]any{"delivery_mode": 2}, "routing_key": "q1", "payload": "hello", "payload_encoding": "string"}
	if err := r.call(member, "POST", "exchanges/%2f/amq.default/publish", body, &answer); err != nil {
		return err
	}
	if !answer.Routed {
		return errors.New("the message was not routed")
	}
	return nil
}

// queue is what a member says about a queue.
type queue struct {
	Name, Leader    string
	Members, Online []string
	Messages        int
}

// queues asks a member for the queues, by name.
func (r *rabbits) queues(member int) (map[string]queue, error) {
	out, err := r.pods[member].exec(r.shape, "rabbitmqctl", "--quiet", "list_queues", "--formatter", "json", "name", "leader", "members", "online", "messages")
	if err != nil {
		return nil, err
	}
	var list []queue
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, fmt.Errorf("%w in %s", err, out)
	}
	byName := map[string]queue{}
	for _, q := range list {
		byName[q.Name] = q
	}
	return byName, nil
}

// copies returns an error unless both queues have n copies that are online, the quorum queue has the
// messages, and the coordinator of streams runs on n members: it needs most of them.
func (r *rabbits) copies(member, n, messages int) error {
	queues, err := r.queues(member)
	if err != nil {
		return err
	}
	for _, name := range []string{"q1", "s1"} {
		if q := queues[name]; len(q.Members) != n || len(q.Online) != n || name == "q1" && q.Messages != messages {
			return fmt.Errorf("%s: %+v, want %d copies and %d messages", name, q, n, messages)
		}
	}
	out, err := r.pods[member].exec(r.shape, "rabbitmqctl", "--quiet", "eval", "length([N || N <- rabbit_nodes:list_running(), is_pid(rpc:call(N, erlang, whereis, [rabbit_stream_coordinator]))]).")
	if err == nil && strings.TrimSpace(out) != strconv.Itoa(n) {
		err = fmt.Errorf("the coordinator of streams runs on %s members, want %d", strings.TrimSpace(out), n)
	}
	return err
}

// leader returns the number of the member that leads the quorum queue.
func (r *rabbits) leader(member int) int {
	r.Helper()
	queues, err := r.queues(member)
	if err != nil {
		r.Fatal(err)
	}
	return slices.IndexFunc(r.pods, func(p *pod) bool { return strings.Contains(queues["q1"].Leader, "@"+p.name+".") })
}

// khepri reports whether the definitions are in Khepri.
func (r *rabbits) khepri(member int) bool {
	r.Helper()
	var flags []struct{ Name, State string }
	if err := r.call(member, "GET", "feature-flags", nil, &flags); err != nil {
		r.Fatal(err)
	}
	for _, f := range flags {
		if f.Name == "khepri_db" {
			return f.State == "enabled"
		}
	}
	return false
}

const patience = 4 * time.Minute

// TestRabbitMQMembers takes members, power and volumes from a new cluster of RabbitMQ.
func TestRabbitMQMembers(t *testing.T) {
	r := newRabbits(t)
	for _, p := range r.pods {
		p.start(r.shape)
	}
	// Power is cut when the members have joined, and none of them has settled.
	r.within(patience, "three new members", func() error { return r.complete(0, 3) })
	for _, p := range r.pods {
		p.kill()
	}
	for _, p := range r.pods {
		p.start(r.shape)
	}
	r.within(patience, "three members", r.allComplete)
	if !r.khepri(1) {
		t.Error("a new cluster does without Khepri")
	}
	if said := r.pods[0].said(); !regexp.MustCompile(`high watermark set to 2457 MiB .* of 4096 MiB`).MatchString(said) {
		t.Error("the limit is not 60% of the memory of the pod")
	}
	r.declare(0)
	messages, refused := 0, 0
	publish := func(member int) {
		t.Helper()
		r.within(time.Minute, "a message", func() error {
			err := r.publish(member)
			if err != nil {
				refused++
			}
			return err
		})
		messages++
	}
	whole := func() error {
		// A message that was refused may come after all: RabbitMQ keeps trying for 130 seconds.
		if queues, err := r.queues(0); err == nil {
			if late := queues["q1"].Messages - messages; late > 0 && late <= refused {
				messages, refused = messages+late, refused-late
			}
		}
		return r.copies(0, 3, messages)
	}
	publish(0)
	r.within(patience, "copies", whole)

	t.Run("leader killed", func(t *testing.T) {
		leader := r.leader(0)
		r.pods[leader].kill()
		publish((leader + 1) % 3)
		r.pods[leader].start(r.shape)
		r.within(patience, "it is back", r.allComplete)
		r.within(patience, "copies", whole)
	})
	t.Run("power cut", func(t *testing.T) {
		for _, p := range r.pods {
			p.kill()
		}
		for _, p := range slices.Backward(r.pods) {
			p.start(r.shape)
		}
		r.within(patience, "all are back", r.allComplete)
		publish(1)
		r.within(patience, "copies", whole)
	})
	t.Run("split", func(t *testing.T) {
		alone := r.leader(0)
		one, two := (alone+1)%3, (alone+2)%3
		r.pods[alone].cut("down")
		publish(one)
		if err := r.publish(alone); err == nil {
			t.Error("a member alone takes a message")
		}
		refused++
		r.within(patience, "the others miss it", func() error { return r.complete(two, 2) })
		publish(two)
		r.pods[alone].cut("up")
		r.within(patience, "all see each other", r.allComplete)
		publish(alone)
		r.within(patience, "copies", whole)
	})
	t.Run("volume lost", func(t *testing.T) {
		for _, lost := range []int{0, 2} {
			r.pods[lost].kill()
			r.pods[lost].loses()
			before := len(r.pods[lost].said())
			r.pods[lost].start(r.shape)
			r.within(patience, "it joins", func() error {
				if !strings.Contains(r.pods[lost].said()[before:], "joins ") {
					return errors.New("it does not say so")
				}
				return nil
			})
			time.Sleep(time.Duration(2*lost) * time.Second) // two moments: before RabbitMQ runs, and while it joins
			r.pods[lost].kill()
			r.pods[lost].start(r.shape)
			r.within(patience, "it is back", r.allComplete)
			r.within(patience, "copies", whole)
		}
	})
	t.Run("volume and power lost", func(t *testing.T) {
		for _, p := range r.pods {
			p.kill()
		}
		r.pods[0].loses()
		r.pods[0].start(r.shape)
		r.within(patience, "the first member waits", func() error {
			if !strings.HasSuffix(strings.TrimSpace(r.pods[0].said()), "waits for a member that runs, or the word of "+hostsOf(r)) {
				return errors.New("it does not say that it waits")
			}
			return nil
		})
		for _, p := range r.pods[1:] {
			p.start(r.shape)
		}
		r.within(patience, "all are back", r.allComplete)
		r.within(patience, "copies", whole)
	})
	t.Run("drained", func(t *testing.T) {
		leader := r.leader(0)
		if code := r.pods[leader].delete(4 * time.Minute); code != 0 {
			t.Errorf("the member ended with %d", code)
		}
		said := r.pods[leader].said()
		if drained, stopped := strings.LastIndex(said, "maintenance (drain) mode"), strings.LastIndex(said, "SIGTERM received"); drained < 0 || stopped < drained {
			t.Error("the member stopped before it had handed over its queues")
		}
		if err := r.publish((leader + 1) % 3); err != nil {
			t.Errorf("at once after the member stopped: %v", err)
		}
		messages++
		r.pods[leader].start(r.shape)
		r.within(patience, "it is back", r.allComplete)
		r.within(patience, "copies", whole)
	})
	t.Run("from three to one and back", func(t *testing.T) {
		for _, n := range []int{2, 1} {
			if out, err := r.pods[n].exec(r.shape, "sh", "-e", "/etc/rabbitmq/leave.sh"); err != nil {
				t.Fatalf("member %d does not leave: %v\n%s", n, err, out)
			}
			r.pods[n].delete(4 * time.Minute)
			r.within(patience, "the rest", func() error { return r.copies(0, n, messages) })
			publish(0)
		}
		alone := r.replicas("1")
		r.pods[0].delete(4 * time.Minute)
		r.pods[0].start(alone)
		r.within(patience, "one node", func() error { return r.complete(0, 1) })
		publish(0)
		r.within(patience, "its messages", func() error { return r.copies(0, 1, messages) })
		for _, p := range r.pods[1:] {
			p.start(r.shape) // with their old volumes
		}
		r.within(patience, "three members", r.allComplete)
		r.pods[0].delete(2 * time.Minute)
		r.pods[0].start(r.shape)
		r.within(patience, "all are back", r.allComplete)
		r.within(patience, "copies", whole)
	})
}

// hostsOf returns the host names of all members but the first, as its log lists them.
func hostsOf(r *rabbits) string {
	var out []string
	for _, p := range r.pods[1:] {
		out = append(out, p.name+".mq-server.openstack")
	}
	return strings.Join(out, ", ")
}

// TestRabbitMQGrows checks that a node becomes a cluster of three with its messages, and that new
// members make no cluster without it. Its definitions stay in Mnesia, which refuses a member without
// its data.
func TestRabbitMQGrows(t *testing.T) {
	r := newRabbits(t)
	alone := r.replicas("1")
	r.pods[0].start(alone)
	r.within(patience, "one node", func() error { return r.complete(0, 1) })
	r.declare(0)
	for range 5 {
		if err := r.publish(0); err != nil {
			t.Fatal(err)
		}
	}
	r.within(time.Minute, "messages", func() error { return r.copies(0, 1, 5) })

	r.pods[0].kill()
	for _, p := range r.pods[1:] {
		p.start(r.shape)
	}
	time.Sleep(15 * time.Second)
	for _, p := range r.pods[1:] {
		if said := p.said(); !strings.Contains(said, "waits for a member that runs") || strings.Contains(said, "Starting RabbitMQ") {
			t.Errorf("%s does not wait for the node with the data:\n%s", p.name, said)
		}
	}
	r.pods[0].start(alone)
	r.within(patience, "three members", r.allComplete)
	r.pods[0].delete(2 * time.Minute)
	r.pods[0].start(r.shape)
	r.within(patience, "the first member is back", r.allComplete)
	r.within(patience, "copies", func() error { return r.copies(0, 3, 5) })
	if r.khepri(0) {
		t.Error("the node has moved to Khepri by itself")
	}

	r.pods[1].kill()
	r.pods[1].loses()
	r.pods[1].start(r.shape)
	r.within(patience, "a member that lost its volume", r.allComplete)
	r.within(patience, "copies", func() error { return r.copies(0, 3, 5) })

	for _, p := range r.pods {
		p.kill()
	}
	for _, p := range r.pods {
		p.start(r.shape)
	}
	r.within(patience, "after a power cut", r.allComplete)
	r.within(patience, "copies", func() error { return r.copies(0, 3, 5) })
}

// TestRabbitMQBackup checks that a backup brings back users and virtual hosts that were deleted, and leaves
// the passwords of others and the queues as they are.
func TestRabbitMQBackup(t *testing.T) {
	r := newRabbits(t)
	alone := r.replicas("1")
	node := r.pods[0]
	node.start(alone)
	r.within(patience, "one node", func() error { return r.complete(0, 1) })
	r.declare(0)
	call := func(method, path string, body any) {
		t.Helper()
		if err := r.call(0, method, path, body, nil); err != nil {
			t.Fatal(err)
		}
	}
	user := func(password string) map[string]string { return map[string]string{"password": password, "tags": ""} }
	call("PUT", "vhosts/cell1", nil)
	for _, name := range []string{"gone", "stays"} {
		call("PUT", "users/"+name, user("old"))
		call("PUT", "permissions/cell1/"+name, map[string]string{"configure": ".*", "write": ".*", "read": ".*"})
	}
	b, err := providers.BackupOf(alone.of.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := node.exec(alone, b.Save...)
	if err != nil {
		t.Fatal(err)
	}

	call("DELETE", "users/gone", nil)
	call("DELETE", "vhosts/cell1", nil)
	call("PUT", "users/stays", user("new"))
	call("DELETE", "queues/%2f/s1", nil)
	// Each command here has a /tmp of its own, so `stage` cannot run before.
	if out, err := node.exec(alone, append([]string{"sh", "-ec", `printf %s "$1" > /tmp/restore; shift; "$@"`, "restore", saved}, b.Restore...)...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, password := range map[string]string{"gone": "old", "stays": "new"} {
		if out, err := node.exec(alone, "rabbitmqctl", "authenticate_user", name, password); err != nil {
			t.Errorf("user %s has not the password %q: %v\n%s", name, password, err, out)
		}
	}
	out, err := node.exec(alone, "rabbitmqctl", "--silent", "list_permissions", "-p", "cell1")
	for _, name := range []string{"gone", "stays"} {
		if err != nil || !strings.Contains(out, name) {
			t.Errorf("user %s may not use the virtual host: %v\n%s", name, err, out)
		}
	}
	queues, err := r.queues(0)
	if _, came := queues["s1"]; came || len(queues) != 1 || err != nil {
		t.Errorf("the queues are %v, %v; want q1 alone", queues, err)
	}
}

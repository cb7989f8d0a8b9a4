package openstack_test

import (
	"context"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/rabbitmqtest"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/rabbitmq"
)

// queueOf returns the virtual host that a job of the catalogue tells queue.py to make, without the server
// and the password; nil: it does not make one.
func queueOf(o providers.Object) *providers.QueueRegistration {
	containers, _, _ := unstructured.NestedSlice(o.Manifest.Object, "spec", "template", "spec", "containers")
	variables, _ := containers[0].(map[string]any)["env"].([]any)
	q := &providers.QueueRegistration{}
	for _, v := range variables {
		v := v.(map[string]any)
		switch v["name"] {
		case "QUEUE":
			q.Name = v["value"].(string)
		case "OWNER":
			q.Owner = v["value"].(string)
		}
	}
	if q.Name == "" {
		return nil
	}
	return q
}

// mountsSecret reports whether the pod of a Job mounts a Secret.
func mountsSecret(o providers.Object, secret string) bool {
	volumes, _, _ := unstructured.NestedSlice(o.Manifest.Object, "spec", "template", "spec", "volumes")
	return slices.ContainsFunc(volumes, func(v any) bool {
		name, _, _ := unstructured.NestedString(v.(map[string]any), "secret", "secretName")
		return name == secret
	})
}

// TestMadeQueues checks that plans compare exactly the virtual hosts that the jobs of the catalogue make, in
// the pods of RabbitMQ, with the password of its administrator.
func TestMadeQueues(t *testing.T) {
	found := 0
	for _, o := range render(t, load(t, "testdata/registered"), facts()) {
		if !o.IsJob() {
			continue
		}
		want := queueOf(o)
		var got *providers.QueueRegistration
		if o.Registers != nil {
			got = o.Registers.Queue
		}
		if want != nil {
			found++
			want.Server = providers.PodServer{
				Members:  []providers.PodPort{{Namespace: "openstack", Pod: "rabbitmq-server-0", Port: 15672}},
				Username: "admin", Password: providers.SecretKey{Namespace: "openstack", Name: "rabbitmq-admin", Key: "value"},
			}
			if got != nil {
				want.Password = got.Password
				if got.Password.Key != "password" || !mountsSecret(o, got.Password.Name) || !mountsSecret(o, "rabbitmq-admin") {
					t.Errorf("%s does not mount Secret %s", o.Address, got.Password.Name)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-made +compared):\n%s", o.Address, diff)
		}
	}
	if found == 0 {
		t.Error("no job makes a queue")
	}
}

// podAt connects to a server in place of any pod.
type podAt string

func (p podAt) Forward(ctx context.Context, _ providers.PodPort) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", string(p))
}

// TestQueuesAgreeWithJob changes what queue.py has made. Each time, a plan sees a difference, and none after
// queue.py ran again.
func TestQueuesAgreeWithJob(t *testing.T) {
	d := &rabbitmqtest.Database{Password: "a", Lists: map[string][]rabbitmqtest.Entry{"vhosts": {}, "users": {}, "permissions": {}}}
	server := httptest.NewServer(&rabbitmqtest.Server{Read: func() (*rabbitmqtest.Database, error) { return d, nil }})
	defer server.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{"admin": "a", "nova": "n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	declared := &providers.QueueRegistration{
		Server: providers.PodServer{Members: []providers.PodPort{{Pod: "rabbitmq-server-0", Port: 15672}}, Username: "admin", Password: providers.SecretKey{Name: "admin"}},
		Name:   "nova/cell", Owner: "prod/nova", Password: providers.SecretKey{Name: "nova"},
	}
	run := func() {
		t.Helper()
		if out, err := python(t, "rabbitmq/queue.py", "MANAGEMENT_URL="+server.URL, "ADMIN_PASSWORD_FILE="+filepath.Join(dir, "admin"),
			"QUEUE=nova/cell", "OWNER=prod/nova", "PASSWORD_FILE="+filepath.Join(dir, "nova")); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	compare := func() []providers.Difference {
		t.Helper()
		r := rabbitmq.New(podAt(server.Listener.Addr().String()), func(_, name string) map[string][]byte {
			return map[string][]byte{"": []byte(name[:1])}
		})
		defer r.Close()
		found, err := r.Compare(t.Context(), &providers.Registration{Queue: declared})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := compare(); len(found) == 0 {
		t.Error("an empty RabbitMQ is not different")
	}
	run()
	if found := compare(); len(found) > 0 {
		t.Errorf("after the job: %v", found)
	}
	for name, change := range map[string]func(){
		"virtual host deleted": func() { d.Remove("vhosts", "name", "nova/cell"); d.Remove("permissions", "vhost", "nova/cell") },
		"user deleted":         func() { d.Remove("users", "name", "nova/cell"); d.Remove("permissions", "user", "nova/cell") },
		"permissions deleted":  func() { d.Remove("permissions", "vhost", "nova/cell") },
		"mark":                 func() { d.Find("vhosts", "name", "nova/cell")["description"] = "" },
		"tags":                 func() { d.Find("users", "name", "nova/cell")["tags"] = []any{"administrator"} },
		"password":             func() { d.Find("users", "name", "nova/cell")["password_hash"] = rabbitmqtest.Hash("other") },
		"permission":           func() { d.Find("permissions", "vhost", "nova/cell")["read"] = "" },
	} {
		t.Run(name, func(t *testing.T) {
			change()
			found := compare()
			if len(found) == 0 {
				t.Error("a plan sees no difference")
			}
			run()
			if left := compare(); len(left) > 0 {
				t.Errorf("after the job: %v; before: %v", left, found)
			}
		})
	}
}

package rabbitmq_test

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/rabbitmqtest"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/rabbitmq"
)

const (
	adminPassword = "the administrator's password"
	password      = "nova's password"
)

// pods connects to servers in place of pods.
type pods map[string]string // addresses

func (p pods) Forward(ctx context.Context, to providers.PodPort) (net.Conn, error) {
	address, ok := p[to.Pod]
	if !ok {
		return nil, &providers.NoAnswerError{Namespace: to.Namespace, Pod: to.Pod, Why: "it does not exist"}
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

// refusing refuses all connections.
type refusing struct{ err error }

func (r refusing) Forward(context.Context, providers.PodPort) (net.Conn, error) { return nil, r.err }

func values(_, name string) map[string][]byte {
	return map[string]map[string][]byte{
		"rabbitmq-admin":  {"value": []byte(adminPassword)},
		"nova-queue-nova": {"password": []byte(password)},
	}[name]
}

// made returns a server with what the job of Nova's queue makes.
func made() *rabbitmqtest.Database {
	return &rabbitmqtest.Database{Password: adminPassword, Lists: map[string][]rabbitmqtest.Entry{
		"vhosts": {{"name": "/"}, {"name": "nova", "description": "Managed by kolla: prod/nova", "messages": 7}},
		"users": {
			{"name": "admin", "tags": []string{"administrator"}},
			{"name": "nova", "tags": []string{}, "password_hash": rabbitmqtest.Hash(password), "hashing_algorithm": "rabbit_password_hashing_sha256"},
		},
		"permissions": {
			{"user": "nova", "vhost": "/", "configure": "", "write": "", "read": ""},
			{"user": "nova", "vhost": "nova", "configure": ".*", "write": ".*", "read": ".*"},
		},
	}}
}

func wanted() *providers.QueueRegistration {
	return &providers.QueueRegistration{
		Server: providers.PodServer{
			Members:  []providers.PodPort{{Namespace: "openstack", Pod: "rabbitmq-server-0", Port: 15672}},
			Username: "admin", Password: providers.SecretKey{Namespace: "openstack", Name: "rabbitmq-admin", Key: "value"},
		},
		Name: "nova", Owner: "prod/nova", Password: providers.SecretKey{Namespace: "openstack", Name: "nova-queue-nova", Key: "password"},
	}
}

// serve starts a server, and returns its address and the requests so far.
func serve(t *testing.T, d *rabbitmqtest.Database) (address string, requests func() map[string]int) {
	t.Helper()
	var mu sync.Mutex
	counts := map[string]int{}
	server := httptest.NewServer(&rabbitmqtest.Server{
		Read: func() (*rabbitmqtest.Database, error) { return d, nil },
		Note: func(request string) error {
			mu.Lock()
			defer mu.Unlock()
			counts[request]++
			return nil
		},
	})
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return counts
	}
}

func compare(t *testing.T, forwarder providers.Forwarder, w *providers.QueueRegistration) ([]providers.Difference, error) {
	t.Helper()
	r := rabbitmq.New(forwarder, values)
	defer r.Close()
	return r.Compare(t.Context(), &providers.Registration{Queue: w})
}

// TestCompare changes a virtual host, its user or the configuration, and checks the differences.
func TestCompare(t *testing.T) {
	type differences = []providers.Difference
	user := func(d *rabbitmqtest.Database) rabbitmqtest.Entry { return d.Find("users", "name", "nova") }
	tests := map[string]struct {
		change func(d *rabbitmqtest.Database, w *providers.QueueRegistration)
		want   differences
	}{
		"the same": {func(*rabbitmqtest.Database, *providers.QueueRegistration) {}, nil},
		"the virtual host deleted": {
			func(d *rabbitmqtest.Database, _ *providers.QueueRegistration) {
				d.Remove("vhosts", "name", "nova")
				d.Remove("permissions", "vhost", "nova")
			},
			differences{
				{Path: `users["nova"].permissions["nova"].configure`, Declared: ".*"},
				{Path: `users["nova"].permissions["nova"].read`, Declared: ".*"},
				{Path: `users["nova"].permissions["nova"].write`, Declared: ".*"},
				{Path: `vhosts["nova"].name`, Declared: "nova"},
			},
		},
		"another owner": {
			func(d *rabbitmqtest.Database, _ *providers.QueueRegistration) {
				d.Find("vhosts", "name", "nova")["description"] = "mine"
			},
			differences{{Path: `vhosts["nova"].description`, Declared: "Managed by kolla: prod/nova", Live: "mine"}},
		},
		"no owner": {
			func(d *rabbitmqtest.Database, w *providers.QueueRegistration) {
				d.Find("vhosts", "name", "nova")["description"], w.Owner = "mine", ""
			}, nil,
		},
		"the user deleted": {
			func(d *rabbitmqtest.Database, _ *providers.QueueRegistration) { d.Remove("users", "name", "nova") },
			differences{{Path: `users["nova"].name`, Declared: "nova"}},
		},
		"an administrator with another password": {
			func(d *rabbitmqtest.Database, _ *providers.QueueRegistration) {
				user(d)["tags"], user(d)["password_hash"] = []string{"administrator", "mine"}, rabbitmqtest.Hash("another")
			},
			differences{{Path: `users["nova"].password`, Secret: true}, {Path: `users["nova"].tags`, Declared: "", Live: "administrator,mine"}},
		},
		"without a password": {
			func(d *rabbitmqtest.Database, _ *providers.QueueRegistration) { user(d)["password_hash"] = "" },
			differences{{Path: `users["nova"].password`, Secret: true}},
		},
		"another hash of the same password": {
			func(d *rabbitmqtest.Database, _ *providers.QueueRegistration) {
				sum := sha512.Sum512([]byte("salt" + password))
				user(d)["password_hash"], user(d)["hashing_algorithm"] = base64.StdEncoding.EncodeToString(append([]byte("salt"), sum[:]...)), "rabbit_password_hashing_sha512"
			}, nil,
		},
		"an unknown hash": {
			func(d *rabbitmqtest.Database, _ *providers.QueueRegistration) { user(d)["hashing_algorithm"] = "mine" }, nil,
		},
		"no password to compare": {
			func(d *rabbitmqtest.Database, w *providers.QueueRegistration) {
				user(d)["password_hash"], w.Password = rabbitmqtest.Hash("another"), providers.SecretKey{}
			}, nil,
		},
		"tags as a text": {
			func(d *rabbitmqtest.Database, _ *providers.QueueRegistration) { user(d)["tags"] = "" }, nil,
		},
		"a permission taken away": {
			func(d *rabbitmqtest.Database, _ *providers.QueueRegistration) {
				d.Find("permissions", "vhost", "nova")["write"] = "^$"
			},
			differences{{Path: `users["nova"].permissions["nova"].write`, Declared: ".*", Live: "^$"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, w := made(), wanted()
			test.change(d, w)
			address, _ := serve(t, d)
			got, err := compare(t, pods{"rabbitmq-server-0": address}, w)
			if err != nil {
				t.Fatal(err)
			}
			for i := range test.want {
				test.want[i].Server = "RabbitMQ"
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// TestQueueRequests checks that all registrations share lists, also at the same time, and that nothing is
// written.
func TestQueueRequests(t *testing.T) {
	address, requests := serve(t, made())
	r := rabbitmq.New(pods{"rabbitmq-server-0": address}, values)
	defer r.Close()
	if found, err := r.Compare(t.Context(), &providers.Registration{}); found != nil || err != nil || len(requests()) > 0 {
		t.Errorf("without a queue: %v, %v", found, err)
	}
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			if _, err := r.Compare(t.Context(), &providers.Registration{Queue: wanted()}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	want := map[string]int{
		"GET /api/vhosts?columns=name,description":                         1,
		"GET /api/users?columns=name,tags,password_hash,hashing_algorithm": 1,
		"GET /api/permissions?columns=user,vhost,configure,write,read":     1,
	}
	if diff := cmp.Diff(want, requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestQueueMembers checks that the first member is asked that answers.
func TestQueueMembers(t *testing.T) {
	away, here := made(), made()
	away.Status = http.StatusServiceUnavailable
	here.Remove("users", "name", "nova")
	there := pods{}
	there["rabbitmq-server-1"], _ = serve(t, away)
	there["rabbitmq-server-2"], _ = serve(t, here)
	w := wanted()
	w.Server.Members = nil
	for _, name := range []string{"rabbitmq-server-0", "rabbitmq-server-1", "rabbitmq-server-2"} {
		w.Server.Members = append(w.Server.Members, providers.PodPort{Namespace: "openstack", Pod: name, Port: 15672})
	}
	got, err := compare(t, there, w)
	if err != nil || len(got) != 1 || got[0].Path != `users["nova"].name` {
		t.Errorf("got %+v, %v", got, err)
	}
	delete(there, "rabbitmq-server-2")
	const want = "RabbitMQ does not answer: rabbitmq-server-0: it does not exist; rabbitmq-server-1: it is not ready; rabbitmq-server-2: it does not exist"
	if _, err := compare(t, there, w); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestQueueUncompared checks the reason where RabbitMQ cannot be read. No reason contains a password or a
// hash.
func TestQueueUncompared(t *testing.T) {
	denied := &providers.PermissionError{User: "jane", Verb: "create", Resource: "pods/portforward", Namespace: "openstack"}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("{"))
	}))
	t.Cleanup(other.Close)
	moved := httptest.NewServer(http.RedirectHandler("http://elsewhere.example.org/", http.StatusFound))
	t.Cleanup(moved.Close)
	tests := map[string]struct {
		change func(d *rabbitmqtest.Database, w *providers.QueueRegistration)
		to     providers.Forwarder // nil: the server
		why    string
		advice string // a part
	}{
		"password": {
			change: func(d *rabbitmqtest.Database, _ *providers.QueueRegistration) { d.Password = "another" },
			why:    "RabbitMQ refuses the password of user admin in Secret rabbitmq-admin", advice: "restart its pod",
		},
		"no Secret": {
			change: func(_ *rabbitmqtest.Database, w *providers.QueueRegistration) { w.Server.Password.Name = "gone" },
			why:    "Secret gone has no password for RabbitMQ",
		},
		"error": {
			change: func(d *rabbitmqtest.Database, _ *providers.QueueRegistration) {
				d.Status = http.StatusInternalServerError
			},
			why: "RabbitMQ answers with status 500 (Internal Server Error)",
		},
		"no list": {
			change: func(d *rabbitmqtest.Database, _ *providers.QueueRegistration) {
				d.Lists["users"] = []rabbitmqtest.Entry{{"name": 7}}
			},
			why: "the answer is no list of users of RabbitMQ",
		},
		"breaks off": {to: pods{"rabbitmq-server-0": other.Listener.Addr().String()}, why: "RabbitMQ does not answer: its answer breaks off"},
		"redirect":   {to: pods{"rabbitmq-server-0": moved.Listener.Addr().String()}, why: "RabbitMQ answers with status 302 (Found)"},
		"silence": {
			to:  refusing{&providers.NoAnswerError{Namespace: "openstack", Pod: "rabbitmq-server-0", Why: "connection refused"}},
			why: "RabbitMQ does not answer: connection refused",
		},
		"no right": {
			to:  refusing{denied},
			why: `user "jane" is not allowed to create pods/portforward in namespace openstack`, advice: "kolla rbac",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, w := made(), wanted()
			if test.change != nil {
				test.change(d, w)
			}
			to := test.to
			if to == nil {
				address, _ := serve(t, d)
				to = pods{"rabbitmq-server-0": address}
			}
			_, err := compare(t, to, w)
			var got *providers.UncomparedError
			if !errors.As(err, &got) {
				t.Fatalf("error %v, want an UncomparedError", err)
			}
			if got.Why != test.why || !strings.Contains(got.Advice, test.advice) {
				t.Errorf("got %+v, want %q, %q", got, test.why, test.advice)
			}
			for _, secret := range []string{adminPassword, password, rabbitmqtest.Hash(password)} {
				if strings.Contains(got.Why+got.Advice, secret) {
					t.Errorf("%+v contains a secret", got)
				}
			}
		})
	}
	failure := errors.New("the API server is gone")
	if _, err := compare(t, refusing{failure}, wanted()); !errors.Is(err, failure) {
		t.Errorf("error %v, want that of the API server", err)
	}
}

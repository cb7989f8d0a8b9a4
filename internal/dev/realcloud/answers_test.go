package realcloud_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCloud creates one cloud, checks it from inside and outside, and breaks it in several ways.
func TestCloud(t *testing.T) {
	c := newCloud(t, "real-keystone", 3, imagesWithKolla(t))
	take(t, c, []step{{"apply", applies}})
	c.haproxy(t) // holds the VIP until the end of all steps
	take(t, c, []step{
		{"restricted", runsRestricted},
		{"discovery", servicesFindEachOther},
		{"exposure", answersThroughTheVIP},
		{"doctor", doctorExamines},
		{"identities", identitiesStayApart},
		{"processes hang", hangingProcessesAreReplaced},
		{"pod network", nobodyElseConnects},
		{"drift from cron", cronFindsDrift},
		{"pods deleted", podsComeBack},
		{"job deleted", jobStaysDone},
		{"config changed", configRollsOut},
		{"password replaced", passwordRollsOut},
		{"database stopped", applyWaitsForDatabase},
		{"image broken", oldPodsServe},
		{"control plane restarted", controlPlaneComesBack},
		{"destroyed", dataStays},
	})
}

// applies starts four services, and checks the order in which they become ready.
func applies(t *testing.T, c *cloud) {
	c.kolla(t, 0, "fmt", "-check")
	c.kolla(t, 0, "validate")
	cold := c.kolla(t, 0, "apply", "-auto-approve")
	measured(t, "apply, with images to pull", cold.took.Round(100*time.Millisecond))
	t.Log(cold.out)
	order := []string{
		"StatefulSet/mariadb-server", "Job/keystone-db-create", "Job/keystone-db-sync",
		"Job/keystone-bootstrap", "Deployment/keystone-api",
	}
	done := 0
	for line := range strings.Lines(cold.out) {
		if done < len(order) && strings.Contains(line, order[done]) && (strings.Contains(line, "ready after") || strings.Contains(line, "completed after")) {
			done++
		}
	}
	if done < len(order) {
		t.Errorf("%s was not ready after what it needs:\n%s", order[done], cold.out)
	}
	c.noChanges(t)
}

// runsRestricted checks that the namespace enforces the strictest Pod Security level, and that
// processes run as the expected users.
func runsRestricted(t *testing.T, c *cloud) {
	level := c.kubectl(t, "get", "namespace", namespace, "-o", `jsonpath={.metadata.labels.pod-security\.kubernetes\.io/enforce}`)
	if level != "restricted" {
		t.Errorf("the namespace enforces %q, want restricted", level)
	}
	users := map[string]string{"deployment/keystone-api": "42425", "statefulset/mariadb-server": "42434", "statefulset/rabbitmq-server": "42439", "statefulset/memcached-server": "42457"}
	for workload, want := range users {
		out := c.kubectl(t, "exec", workload, "--", "sh", "-c", "id -u; touch /nothing 2>&1 || true")
		uid, written, _ := strings.Cut(out, "\n")
		if uid != want || !strings.Contains(written, "Read-only file system") {
			t.Errorf("%s runs as %s, want %s; writing to its root: %s", workload, uid, want, written)
		}
	}
}

// servicesFindEachOther checks that services find each other by name and by the environment
// variables that Kubernetes sets in pods.
func servicesFindEachOther(t *testing.T, c *cloud) {
	const script = `
import os, socket, sys
for service, port in (("mariadb", 3306), ("rabbitmq", 5672), ("memcached", 11211), ("keystone", 5000)):
    by_name = socket.gethostbyname(service + ".openstack")
    by_variable = os.environ[service.upper() + "_SERVICE_HOST"], os.environ[service.upper() + "_SERVICE_PORT"]
    assert by_variable == (by_name, str(port)), (service, by_name, by_variable)
    socket.create_connection((by_name, port), 5).close()
    print(service)
`
	// A pod that is older than a Service has no variables for it, because the environment is
	// made when a container starts. keystone depends on all services but itself.
	if out := c.kubectl(t, "exec", "deployment/keystone-api", "--", "python3", "-c", script); out != "mariadb\nrabbitmq\nmemcached\nkeystone\n" {
		t.Errorf("found only %q", out)
	}
	discoversWhatPodsHave(t, c)
}

// discoversWhatPodsHave checks that a pod has the variables of `kolla discover -env`, and no other
// variables of Services, and that it resolves the DNS names.
func discoversWhatPodsHave(t *testing.T, c *cloud) {
	has := strings.Split(c.kubectl(t, "exec", "deployment/keystone-api", "--", "env"), "\n")
	var told []string
	for line := range strings.Lines(c.kolla(t, 0, "discover", "-env").out) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			told = append(told, line)
		}
	}
	for _, variable := range told {
		if !slices.Contains(has, variable) {
			t.Errorf("the pod has no %s", variable)
		}
	}
	for _, variable := range has {
		if strings.Contains(variable, "_SERVICE_HOST=") && !slices.Contains(told, variable) {
			t.Errorf("kolla discover does not know %s", variable)
		}
	}
	var found struct {
		Services []struct {
			Services []struct {
				DNS       struct{ Short, Namespaced, Full string }
				Addresses []string `json:"cluster_ips"`
				Endpoints []struct {
					DNS       string
					Addresses []string
				}
			} `json:"kubernetes_services"`
		}
	}
	out := c.kolla(t, 0, "discover", "-json").out
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatalf("read the JSON of kolla discover: %v\n%s", err, out)
	}
	want := map[string]string{}
	for _, service := range found.Services {
		for _, s := range service.Services {
			for _, name := range []string{s.DNS.Short, s.DNS.Namespaced, s.DNS.Full} {
				if len(s.Addresses) > 0 {
					want[name] = s.Addresses[0]
				}
			}
			for _, e := range s.Endpoints {
				if e.DNS != "" {
					want[e.DNS] = e.Addresses[0]
				}
			}
		}
	}
	if want["keystone"] == "" || want["mariadb-server-0.mariadb-server.openstack.svc"] == "" {
		t.Errorf("names are missing: %v", want)
	}
	names, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	const resolves = `
import json, socket, sys
for name, address in json.loads(sys.argv[1]).items():
    assert socket.gethostbyname(name) == address, (name, address, socket.gethostbyname(name))
print("all")
`
	if out := c.kubectl(t, "exec", "deployment/keystone-api", "--", "python3", "-c", resolves, string(names)); out != "all\n" {
		t.Errorf("the names do not lead to the addresses: %s", out)
	}
}

// answersThroughTheVIP checks that a client outside gets a token, that the catalogue contains
// the VIP, and that all compute nodes get requests.
func answersThroughTheVIP(t *testing.T, c *cloud) {
	took := c.eventualToken(t)
	measured(t, "first token through the VIP", took.Round(100*time.Millisecond))
	measured(t, "memory of the whole, with three nodes and the cloud", fmt.Sprintf("%d MB", c.memory(t)>>20))
	r := c.openstack(t, "catalog", "list", "-f", "json")
	var catalog []struct {
		Type      string
		Endpoints []struct{ Interface, URL string }
	}
	if err := json.Unmarshal([]byte(r.out), &catalog); err != nil || len(catalog) != 1 {
		t.Fatalf("read the catalogue: %v\n%s", err, r.out)
	}
	urls := map[string]string{}
	for _, endpoint := range catalog[0].Endpoints {
		urls[endpoint.Interface] = endpoint.URL
	}
	if urls["public"] != "http://"+vip+":5000/v3" || urls["internal"] != "http://keystone.openstack:5000/v3" {
		t.Errorf("the endpoints are %v", urls)
	}
	// Keystone ignores statements about the origin of a request, unless they come from the
	// proxy. The scheme is an exception: Keystone's own code accepts X-Forwarded-Proto from
	// every client.
	const spoofed = `
from urllib.request import Request, urlopen
headers = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "Forwarded": "host=evil.example"}
print(urlopen(Request("http://keystone.openstack:5000/v3", headers=headers)).read().decode())
`
	if out := c.kubectl(t, "exec", "deployment/keystone-api", "--", "python3", "-c", spoofed); strings.Contains(out, "evil") || !strings.Contains(out, `://keystone.openstack:5000/v3/"`) {
		t.Errorf("keystone believes what a pod says of the proxy: %s", out)
	}
	const asked = 20
	for range asked {
		if r := c.outside(t, nil, "curl", "-sf", "-o", "/dev/null", c.keystone()); r.code != 0 {
			t.Fatalf("curl: exit code %d %s", r.code, r.out)
		}
	}
	for _, node := range []string{"real-2", "real-3"} {
		if n := strings.Count(c.proxyLog.String(), "/"+node+" "); n < asked/3 {
			t.Errorf("node %s was asked %d times of %d and more:\n%s", node, n, asked, c.proxyLog)
		}
	}
	if n := strings.Count(c.proxyLog.String(), "/real-1 "); n > 0 {
		t.Errorf("real-1 has no compute role and was asked %d times", n)
	}
}

// dataStays checks that data stays after destroy and is used again by the next apply. It then
// checks that a destroy with -delete-data deletes the data.
func dataStays(t *testing.T, c *cloud) {
	if r := c.openstack(t, "project", "create", "kept", "-f", "value", "-c", "name"); r.out != "kept\n" {
		t.Fatalf("openstack project create: %s", r.out)
	}
	c.kolla(t, 0, "destroy", "-auto-approve")
	if left := c.kubectl(t, "get", "deployments,statefulsets,jobs", "-o", "name"); left != "" {
		t.Errorf("left after destroy: %s", left)
	}
	// Pods continue to serve for a while after they are told to stop.
	eventually(t, func() error {
		if left := c.kubectl(t, "get", "pods", "-o", "name"); left != "" {
			return errors.New("left after destroy: " + left)
		}
		return nil
	})
	c.kubectl(t, "get", "pvc", "data-mariadb-server-0", "data-rabbitmq-server-0")
	warm := c.kolla(t, 0, "apply", "-auto-approve")
	measured(t, "apply, with images and data there", warm.took.Round(100*time.Millisecond))
	c.eventualToken(t)
	if r := c.openstack(t, "project", "show", "kept", "-f", "value", "-c", "name"); r.out != "kept\n" {
		t.Errorf("the project is gone: %s", r.out)
	}
	folders := filepath.Join(c.cluster.Dir(), "machines", "real-1", "var", "lib", "devcluster", "volumes")
	if entries, err := os.ReadDir(folders); err != nil || len(entries) != 2 {
		t.Errorf("%d volumes on the node, %v; want 2", len(entries), err)
	}
	c.kolla(t, 0, "destroy", "-auto-approve", "-delete-data=*")
	eventually(t, func() error {
		entries, err := os.ReadDir(folders)
		if err == nil && len(entries) > 0 {
			err = fmt.Errorf("%d volumes are left on the node", len(entries))
		}
		return err
	})
}

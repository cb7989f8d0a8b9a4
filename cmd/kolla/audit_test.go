package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/cli"
	"kolla.openstack.org/kolla/internal/clustertest"
)

// TestPlanWritesNothing reads in the API server's audit log what kolla asked for:
// a plan of an empty cluster, of drift and of no change sends nothing that writes,
// and an apply writes each object once.
func TestPlanWritesNothing(t *testing.T) {
	if clustertest.Audit() == "" {
		t.Fatal("the cluster has no audit log: let the tests start their own")
	}
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	t.Chdir(t.TempDir())
	const config = `
cloud "audited" {
  release   = "2025.1"
  namespace = "audited"
}

service "mariadb" {}

service "memcached" {}

service "keystone" {}
`
	if err := os.WriteFile("cloud.hcl", []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}

	audit := tail(t, clustertest.Audit())
	kolla(t, "plan")
	requests := audit.kolla()
	if writes := writesOf(requests); len(writes) > 0 {
		t.Errorf("the first plan wrote: %v", writes)
	}
	if len(requests) == 0 {
		t.Fatal("the audit log does not show the plan: this test proves nothing")
	}

	kolla(t, "apply", "-auto-approve")
	seen := map[string]int{}
	for _, write := range writesOf(audit.kolla()) {
		seen[write]++
	}
	if len(seen) == 0 {
		t.Error("the audit log does not show what the apply wrote")
	}
	for write, times := range seen {
		if times > 1 {
			t.Errorf("the apply wrote %d times: %s", times, write)
		}
	}

	kolla(t, "plan")
	kolla(t, "apply", "-auto-approve")
	if writes := writesOf(audit.kolla()); len(writes) > 0 {
		t.Errorf("with nothing to do kolla wrote: %v", writes)
	}

	clustertest.Kubectl(t, "-n", "audited", "scale", "deployment", "keystone-api", "--replicas=3")
	// A dry run of an object whose status changes meanwhile is sent again.
	clustertest.Kubectl(t, "-n", "audited", "rollout", "status", "deployment/keystone-api")
	kolla(t, "plan")
	planned := audit.kolla()
	if writes := writesOf(planned); len(writes) > 0 {
		t.Errorf("the plan of drift wrote: %v", writes)
	}
	if code, _, stderr := try("drift"); code != 2 {
		t.Errorf("kolla drift exits with %d:\n%s", code, stderr)
	}
	looked := audit.kolla()
	if writes := writesOf(looked); len(writes) > 0 {
		t.Errorf("kolla drift wrote: %v", writes)
	}
	if len(looked) == 0 || len(looked) > len(planned) {
		t.Errorf("kolla drift sent %d requests, and a plan %d:\n%v\n%v", len(looked), len(planned), looked, planned)
	}
	clustertest.Kubectl(t, "-n", "audited", "delete", "service", "memcached")
	kolla(t, "apply", "-refresh-only", "-auto-approve")
	if writes := writesOf(audit.kolla()); len(writes) > 0 {
		t.Errorf("the refresh wrote: %v", writes)
	}
	kolla(t, "destroy", "-auto-approve", "-delete-data=*")
}

// kolla runs a command line that must succeed.
func kolla(t *testing.T, args ...string) {
	t.Helper()
	var out bytes.Buffer
	if code := cli.Run(t.Context(), append([]string{"kolla"}, args...), strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("kolla %s exited with %d:\n%s", strings.Join(args, " "), code, out.String())
	}
}

// event is what this test reads of an audit event.
type event struct {
	Verb       string    `json:"verb"`
	RequestURI string    `json:"requestURI"`
	UserAgent  string    `json:"userAgent"`
	Received   time.Time `json:"requestReceivedTimestamp"`
}

// auditLog is read from where it was left.
type auditLog struct {
	t      testing.TB
	path   string
	offset int64
	read   time.Time // when the last call of kolla returned
}

func tail(t testing.TB, path string) *auditLog {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return &auditLog{t: t, path: path, offset: info.Size()}
}

// kolla returns the requests of kolla since the last call. The API server notes a request after
// it has answered, so the log counts as complete when nothing was added for a moment. It notes a
// watch after the end of the watch, possibly during the next command. So watches of earlier
// commands do not count.
func (a *auditLog) kolla() []event {
	a.t.Helper()
	var events []event
	for {
		time.Sleep(200 * time.Millisecond)
		more := a.next()
		if len(more) == 0 {
			a.read = time.Now()
			return events
		}
		for _, e := range more {
			if e.Verb != "watch" || e.Received.After(a.read) {
				events = append(events, e)
			}
		}
	}
}

// next reads the log to its end.
func (a *auditLog) next() []event {
	a.t.Helper()
	file, err := os.Open(a.path)
	if err != nil {
		a.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(a.offset, io.SeekStart); err != nil {
		a.t.Fatal(err)
	}
	var events []event
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // the next call reads a half-written line
			return events
		}
		if err != nil {
			a.t.Fatal(err)
		}
		a.offset += int64(len(line))
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			a.t.Fatal(err)
		}
		if strings.HasPrefix(e.UserAgent, "kolla/") {
			events = append(events, e)
		}
	}
}

// writesOf lists what changed something.
func writesOf(events []event) []string {
	var writes []string
	for _, e := range events {
		reads := e.Verb == "get" || e.Verb == "list" || e.Verb == "watch"
		if !reads && !strings.Contains(e.RequestURI, "dryRun=All") {
			path, _, _ := strings.Cut(e.RequestURI, "?")
			writes = append(writes, e.Verb+" "+path)
		}
	}
	return writes
}

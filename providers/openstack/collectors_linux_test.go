package openstack_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/tooltest"
	"kolla.openstack.org/kolla/providers/openstack"
)

const logged = `
cloud "c" {
  release = "2025.1"
  logging {
    mode      = "MODE"
    collector = "COLLECTOR"
    image     = "registry.example.org/collector:1"
    buffer    = "64Mi"
    target "here" {
      type = "elasticsearch"
      url  = "URL"
    }
    target "dead" {
      type = "elasticsearch"
      url  = "http://127.0.0.1:9"
    }
  }
}
service "mariadb" {}
service "memcached" {}
service "keystone" {}
`

// logStore is a store that takes the bulk requests of Elasticsearch.
type logStore struct {
	address string
	server  *http.Server
	mu      sync.Mutex
	records map[string]map[string]any // by id
	copies  int
}

func newLogStore(t *testing.T) *logStore {
	s := &logStore{address: "127.0.0.1:0", records: map[string]map[string]any{}}
	s.start(t)
	t.Cleanup(s.stop)
	return s
}

func (s *logStore) start(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	s.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Elastic-Product", "Elasticsearch") // which clients of Elasticsearch look for
		if r.Method != http.MethodPost || r.URL.Path != "/_bulk" {
			fmt.Fprintln(w, `{"version": {"number": "8.0.0", "build_flavor": "default"}, "tagline": "You Know, for Search"}`)
			return
		}
		if err := s.take(r); err != nil {
			t.Error(err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, `{"took":1,"errors":false,"items":[]}`)
	})}
	go func(server *http.Server) { _ = server.Serve(l) }(s.server)
}

func (s *logStore) stop() { _ = s.server.Close() }

// take reads a bulk request: lines with an action and lines with a record.
func (s *logStore) take(r *http.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var action struct {
			Index struct {
				Index string `json:"_index"`
				ID    string `json:"_id"`
			} `json:"index"`
		}
		if err := json.Unmarshal(lines.Bytes(), &action); err != nil {
			return fmt.Errorf("action %q: %w", lines.Text(), err)
		}
		lines.Scan()
		record := map[string]any{"index": action.Index.Index}
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			return fmt.Errorf("record %q: %w", lines.Text(), err)
		}
		if _, known := s.records[action.Index.ID]; known {
			s.copies++
		}
		s.records[action.Index.ID] = record
	}
	return lines.Err()
}

// with returns the records whose message has a text.
func (s *logStore) with(text string) (out []map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.records)) {
		if message, _ := s.records[id]["message"].(string); strings.Contains(message, text) {
			out = append(out, s.records[id])
		}
	}
	return out
}

// await waits for a number of records with a text.
func (s *logStore) await(t *testing.T, text string, n int) []map[string]any {
	t.Helper()
	for range 1800 {
		if found := s.with(text); len(found) >= n {
			return found
		}
		time.Sleep(50 * time.Millisecond)
	}
	found := s.with(text)
	t.Fatalf("the store has %d records with %q, want %d; all: %v", len(found), text, n, s.records)
	return nil
}

// logCollector is a collector of the catalogue that runs here.
type logCollector struct {
	name, program string
	check         []string // arguments with which it only checks its config
	run           []string
	packages      string
}

var logCollectors = []logCollector{
	{"rsyslog", "rsyslogd", []string{"-N1", "-f"}, []string{"-n", "-i", "NONE", "-f"}, "apt-get install rsyslog rsyslog-elasticsearch"},
	{"fluentd", "fluentd", []string{"--dry-run", "-c"}, []string{"--no-supervisor", "-c"}, "fluent-package, with the plug-ins for Elasticsearch and OpenSearch"},
}

// start starts the collector with the config of the catalogue. It returns the directory in the place of
// /var/log/pods or /var/log/kolla.
func (c logCollector) start(t *testing.T, mode, url string, env ...string) string {
	t.Helper()
	program, err := exec.LookPath(c.program)
	if err != nil {
		t.Skipf("NOT RUN: there is no %s (%s)", c.program, c.packages)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(strings.NewReplacer("COLLECTOR", c.name, "MODE", mode, "URL", url).Replace(logged)), 0o600); err != nil {
		t.Fatal(err)
	}
	logs, spool := filepath.Join("/tmp", "kolla-"+filepath.Base(dir)+c.name+mode), filepath.Join(dir, "spool")
	t.Cleanup(func() { _ = os.RemoveAll(logs) })
	for _, d := range []string{logs, spool} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	paths := strings.NewReplacer("/var/log/pods", logs, "/var/log/kolla", logs, "/var/spool/kolla", spool,
		"/etc/rsyslog/workloads.json", filepath.Join(dir, "kolla-logs-workloads.json"))
	for _, o := range render(t, load(t, dir), openstack.Offline()) {
		data, _, _ := unstructured.NestedStringMap(o.Manifest.Object, "data")
		for name, text := range data {
			if strings.HasPrefix(name, "kolla-logs") {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(paths.Replace(text)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	config := filepath.Join(dir, "kolla-logs.conf")
	if out, err := exec.Command(program, append(slices.Clone(c.check), config)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program, append(slices.Clone(c.run), config)...)
	cmd.Env = append(os.Environ(), append(env, "KOLLA_NODE=node-1")...)
	tooltest.Start(t, cmd)
	return logs
}

// appendLog appends lines to a file, with a prefix before each line.
func appendLog(t *testing.T, path, prefix string, lines ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		fmt.Fprintln(f, prefix+line)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

const request = "req-0a1b2c3d-1111-4222-8333-444455556666"

// secrets are lines with secrets, which all have the word hunter2 or a token in them.
var secretLines = []string{
	`password=hunter2 and "token": "hunter2", again passwd: 'hunter2'`,
	`connection = mysql+pymysql://keystone:hunter2@mariadb.openstack/keystone`,
	`{"auth": {"identity": {"password": {"user": {"name": "admin", "password": "hunter2"}}}}}`,
	`X-Auth-Token: gAAAAABhunter2hunter2hunter2hunter2hunter2 Authorization: Basic hunter2hunter2`,
	`password=hunter2 password=hunter2 password=hunter2 password=hunter2 password=hunter2 password=hunter2`,
}

// trace is what oslo.log writes for an exception, and the next record.
func trace(prefix string) []string {
	return []string{
		prefix + "ERROR keystone.common.wsgi [None " + request + " admin - - default default] it broke: ValueError: no",
		prefix + "ERROR keystone.common.wsgi Traceback (most recent call last):",
		prefix + `ERROR keystone.common.wsgi   File "x.py", line 1`,
		prefix + "ERROR keystone.common.wsgi ValueError: no",
		prefix + "INFO keystone.common.wsgi [-] next",
	}
}

const (
	osloPrefix = "2026-11-29 18:00:00.123 7 "
	apiPod     = "keystone-api-7d4b9c8f5d-x2v7k"
)

// TestCollectorsOfNodes starts collectors with the config for a node, over files as the container runtime
// writes them, and with a second store that is dead.
func TestCollectorsOfNodes(t *testing.T) {
	for _, c := range logCollectors {
		t.Run(c.name, func(t *testing.T) {
			store := newLogStore(t)
			logs := c.start(t, "node", "http://"+store.address)
			file := func(pod, container string) string {
				return filepath.Join(logs, "openstack_"+pod+"_0f1e2d", container, "0.log")
			}
			api := file(apiPod, "api")
			const stamp = "2026-11-29T18:00:00.123456789Z stderr F "
			if c.name == "rsyslog" { // has JSON
				appendLog(t, api, stamp,
					`{"message": "it broke", "name": "keystone.common.wsgi", "levelname": "ERROR", "args": ["hunter2"], "traceback": ["Traceback (most recent call last):", "  File \"x.py\", line 1", "ValueError: no"], "context": {"request_id": "`+request+`"}}`,
					`[pid: 7] 10.0.0.1 GET /v3 => 200`)
			} else {
				appendLog(t, api, stamp, trace(osloPrefix)...)
			}
			broke := store.await(t, "it broke", 1)[0]
			checkRecord(t, broke, "2026-11-29T18:00:00.123456789")
			if text := broke["message"].(string); !strings.Contains(text, "ValueError: no") || !strings.Contains(text, "x.py") || strings.Contains(text, "stderr") {
				t.Errorf("the record does not have the traceback: %s", text)
			}
			appendLog(t, file("mariadb-server-0", "server"), stamp, "2026-11-29 18:00:00 0 [Warning] Aborted connection", "  with more of it")
			appendLog(t, file("mariadb-server-0", "server"), stamp, "2026-11-29 18:00:01 0 [Note] next")
			aborted := store.await(t, "Aborted", 1)[0]
			if aborted["service"] != "mariadb" || !strings.Contains(aborted["message"].(string), "with more") {
				t.Errorf("the record of MariaDB is %v", aborted)
			}
			appendLog(t, file("logging-node-x2v7k", "node"), stamp, "its own line")
			appendLog(t, api, stamp, secretLines...)
			appendLog(t, api, stamp, "end of secrets")
			store.await(t, "end of secrets", 1)
			store.checkMasked(t)
			store.outage(t, api, stamp)
			if own := store.with("its own line"); len(own) > 0 {
				t.Errorf("the collector sends its own log: %v", own)
			}
		})
	}
}

// checkRecord checks the labels of the record with the exception. Its time begins with a text.
func checkRecord(t *testing.T, record map[string]any, stamp string) {
	t.Helper()
	for key, want := range map[string]any{
		"cloud": "c", "service": "keystone", "workload": "api", "container": "api", "pod": apiPod, "node": "node-1",
		"request_id": request, "level": "ERROR", "index": "c-2026.11.29",
	} {
		if record[key] != want {
			t.Errorf("%s is %v, want %v", key, record[key], want)
		}
	}
	if at, _ := record["@timestamp"].(string); !strings.HasPrefix(at, stamp) {
		t.Errorf("@timestamp is %v, want %s", record["@timestamp"], stamp)
	}
}

// checkMasked checks that no record has a secret, and that the texts around them are there.
func (s *logStore) checkMasked(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	all, err := json.Marshal(s.records)
	s.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(all), "hunter2") {
		t.Errorf("secrets are in the store: %s", all)
	}
	for _, text := range []string{"again passwd: '***'", "keystone:***@mariadb.openstack", `"name": "admin", "password": "***"`, "X-Auth-Token: ***"} {
		if len(s.with(text)) != 1 {
			t.Errorf("no record has %q: %s", text, all)
		}
	}
}

// outage stops the store, writes lines, and checks that all arrive once the store is back.
func (s *logStore) outage(t *testing.T, file, prefix string) {
	t.Helper()
	s.stop()
	for i := range 2000 {
		appendLog(t, file, prefix, fmt.Sprintf("line %04d of the outage", i))
	}
	s.start(t)
	s.await(t, "of the outage", 2000)
	if n := len(s.with("of the outage")); n != 2000 {
		t.Errorf("%d records of 2000 lines", n)
	}
	t.Logf("%d copies replaced themselves", s.copies)
}

// TestCollectorsOfPods starts collectors with the config for a sidecar.
func TestCollectorsOfPods(t *testing.T) {
	for _, c := range logCollectors {
		t.Run(c.name, func(t *testing.T) {
			store := newLogStore(t)
			logs := c.start(t, "sidecar", "http://"+store.address, "KOLLA_SERVICE=keystone", "KOLLA_WORKLOAD=api", "KOLLA_POD="+apiPod)
			file := filepath.Join(logs, "api.oslo.log")
			appendLog(t, file, osloPrefix, trace("")...)
			appendLog(t, filepath.Join(logs, "server.slow.log"), "", "# User@Host: keystone[keystone] @  [10.0.0.1]", "# Query_time: 12.0", "SELECT 1;", "# User@Host: next")
			broke := store.await(t, "it broke", 1)[0]
			checkRecord(t, broke, "2026-11-29T18:00:00.123")
			if text := broke["message"].(string); strings.Count(text, "ValueError") != 2 || strings.Contains(text, "next") {
				t.Errorf("the record does not have the traceback alone: %s", text)
			}
			if slow := store.await(t, "Query_time", 1)[0]; !strings.Contains(slow["message"].(string), "SELECT 1;") {
				t.Errorf("the record of the slow query is %v", slow)
			}
			prefix := osloPrefix + "INFO x [-] "
			appendLog(t, file, prefix, secretLines...)
			appendLog(t, file, prefix, "end of secrets", "really")
			store.await(t, "end of secrets", 1)
			store.checkMasked(t)
			if err := os.Rename(file, file+".1"); err != nil { // as start.sh does
				t.Fatal(err)
			}
			store.outage(t, file, prefix)
		})
	}
}

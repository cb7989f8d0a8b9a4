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
	"syscall"
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
      username = "k'o\\lla"
      password = "a\"b#{1+1}\\c$'d"
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
	whole   []int                    // statuses of the next requests, which it refuses
	refuses func(message string) int // status of a record
}

// The login of the store, which no language of a collector reads as it is.
const storeUser, storePassword = `k'o\lla`, `a"b#{1+1}\c$'d`

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
		if user, password, _ := r.BasicAuth(); user != storeUser || password != storePassword {
			t.Errorf("the login is %q with %q", user, password)
		}
		items, status, err := s.take(r)
		switch {
		case err != nil:
			t.Error(err)
			http.Error(w, err.Error(), http.StatusBadRequest)
		case status != http.StatusOK:
			http.Error(w, `{"error": {"type": "busy_exception", "reason": "busy"}, "status": `+fmt.Sprint(status)+`}`, status)
		default:
			fmt.Fprintf(w, `{"took":1,"errors":%t,"items":[%s]}`+"\n", strings.Contains(items, `"error"`), items)
		}
	})}
	go func(server *http.Server) { _ = server.Serve(l) }(s.server)
}

func (s *logStore) stop() { _ = s.server.Close() }

// take reads a bulk request: lines with an action and lines with a record. It returns the answer for each record, and a status.
func (s *logStore) take(r *http.Request) (string, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.whole) > 0 {
		status := s.whole[0]
		s.whole = s.whole[1:]
		return "", status, nil
	}
	var items []string
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
			return "", 0, fmt.Errorf("action %q: %w", lines.Text(), err)
		}
		lines.Scan()
		record := map[string]any{"index": action.Index.Index}
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			return "", 0, fmt.Errorf("record %q: %w", lines.Text(), err)
		}
		item := fmt.Sprintf(`{"index":{"_index":%q,"_id":%q,"status":`, action.Index.Index, action.Index.ID)
		if status := s.refused(record); status != 0 {
			items = append(items, item+fmt.Sprintf(`%d,"error":{"type":%q,"reason":"no"}}}`, status, errorTypes[status]))
			continue
		}
		items = append(items, item+`201}}`)
		if _, known := s.records[action.Index.ID]; known {
			s.copies++
		}
		s.records[action.Index.ID] = record
	}
	return strings.Join(items, ","), http.StatusOK, lines.Err()
}

// errorTypes are OpenSearch's names of errors, by status. Elasticsearch puts es_ before the first.
var errorTypes = map[int]string{429: "rejected_execution_exception", 503: "unavailable_shards_exception", 400: "mapper_parsing_exception"}

// refused returns the status with which the store refuses a record; 0: it takes the record.
func (s *logStore) refused(record map[string]any) int {
	if message, ok := record["message"].(string); ok && s.refuses != nil {
		return s.refuses(message)
	}
	return 0
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
// /var/log/pods or /var/log/kolla, and a function that stops the collector and returns one that starts it again.
func (c logCollector) start(t *testing.T, mode, url string, env ...string) (logs string, stop func() (start func())) {
	t.Helper()
	program, err := exec.LookPath(c.program)
	if err != nil {
		t.Skipf("NOT RUN: there is no %s (%s)", c.program, c.packages)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(strings.NewReplacer("COLLECTOR", c.name, "MODE", mode, "URL", url).Replace(logged)), 0o600); err != nil {
		t.Fatal(err)
	}
	logs = filepath.Join("/tmp", "kolla-"+filepath.Base(dir)+c.name+mode)
	spool := filepath.Join(dir, "spool")
	t.Cleanup(func() { _ = os.RemoveAll(logs) })
	for _, d := range []string{logs, spool} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	paths := strings.NewReplacer("/var/log/pods", logs, "/var/log/kolla", logs, "/var/spool/kolla", spool,
		"/etc/rsyslog/workloads.json", filepath.Join(dir, "kolla-logs-workloads.json"))
	for _, o := range render(t, load(t, dir), openstack.Offline()) {
		env = append(env, logins(o.Manifest.Object)...)
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
	start := func() (stop func()) {
		cmd := exec.Command(program, append(slices.Clone(c.run), config)...)
		cmd.Env = append(os.Environ(), append(env, "KOLLA_NODE=node-1")...)
		kill := tooltest.Start(t, cmd)
		return func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			for range 600 {
				if cmd.Process.Signal(syscall.Signal(0)) != nil {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			kill()
		}
	}
	end := start()
	return logs, func() func() {
		end()
		return func() { end = start() }
	}
}

// logins returns the variables with logins of stores in an object, as NAME=VALUE.
func logins(object any) (out []string) {
	switch v := object.(type) {
	case map[string]any:
		name, _ := v["name"].(string)
		if value, ok := v["value"].(string); ok && (strings.HasPrefix(name, "KOLLA_USER_") || strings.HasPrefix(name, "KOLLA_PASSWORD_")) {
			return []string{name + "=" + value}
		}
		for _, each := range v {
			out = append(out, logins(each)...)
		}
	case []any:
		for _, each := range v {
			out = append(out, logins(each)...)
		}
	}
	return out
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

const (
	request       = "req-0a1b2c3d-1111-4222-8333-444455556666"
	globalRequest = "req-0a1b2c3d-7777-4222-8333-444455556666"
	otherRequest  = "req-0a1b2c3d-9999-4222-8333-444455556666"
	instance      = "11112222-3333-4444-8555-666677778888"
)

// secretLines are lines with secrets, which all have the word hunter2 or a token in them.
var secretLines = append([]string{
	`password=hunter2 and "token": "hunter2", again passwd: 'hunter2'`,
	`connection = mysql+pymysql://keystone:hunter2@mariadb.openstack/keystone`,
	`{"auth": {"identity": {"password": {"user": {"name": "admin", "password": "hunter2"}}}}}`,
	`X-Auth-Token: gAAAAABhunter2hunter2hunter2hunter2hunter2 Authorization: Basic hunter2hunter2`,
	`password=hunter2 password=hunter2 password=hunter2 password=hunter2 password=hunter2 password=hunter2`,
	`GET /vnc_lite.html?path=%3Ftoken%3Dhunter2-4a5b&x=1`,
	`transport_url = rabbit://u:hunter2@h1:5672,u:hunter2@h2:5672//`,
	`a body "{\"auth\": {\"password\": \"hunter2,\\\"hunter2\", \"name\": \"root\"}}"`,
	`CREATE USER 'a'@'%' IDENTIFIED BY 'hunter2 hunter2'; GRANT`,
	`ALTER USER a IDENTIFIED VIA mysql_native_password USING PASSWORD('hunter2')`,
	`openstack --os-password hunter2 server list`,
	`running ['mysql', '--password', 'hunter2']`,
	`PUT /v1/a?temp_url_sig=hunter2&X-Amz-Signature=hunter2`,
	`{"password": "x,hunter2", 'passphrase': 'x;"hunter2', "adminPass": "a\"hunter2"}`,
	`password=*hunter2 token: "**hunter2" secret='***hunter2' passwd=bhunter2`,
	`-----BEGIN RSA PRIVATE KEY-----\nhunter2hunter2==\n-----END RSA PRIVATE KEY-----`,
}, secretWords()...)

// secretWords returns lines in which a word announces a secret. It has all words that oslo.utils masks.
func secretWords() (out []string) {
	const words = `adminpass admin_pass password admin_password auth_token new_pass auth_password secret_uuid secret sys_pswd token
		configdrive chappassword encrypted_key private_key fernetkey sslkey passphrase cephclusterfsid octaviaheartbeatkey rabbitcookie
		cephmanilaclientkey pacemakerremoteauthkey designaterndckey cephadminkey heatauthencryptionkey cephclientkey
		keystonecredential barbicansimplecryptokek cephrgwkey swifthashsuffix migrationsshkey cephmdskey cephmonkey chapsecret
		secret_key auth_encryption_key SECRET_KEY privateKey`
	for word := range strings.FieldsSeq(words) {
		out = append(out, word+`=hunter2`, `{"my_`+word+`": u'hunter2'}`)
	}
	return out
}

// trace is what oslo.log writes for an exception, and the next record.
func trace(prefix string) []string {
	return []string{
		prefix + "ERROR keystone.common.wsgi [" + globalRequest + " " + request + " admin - - default default] [instance: " + instance + "] it broke: ValueError: no",
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
			logs, stop := c.start(t, "node", "http://"+store.address)
			file := func(pod, container string) string {
				return filepath.Join(logs, "openstack_"+pod+"_0f1e2d", container, "0.log")
			}
			api := file(apiPod, "api")
			const stamp = "2026-11-29T18:00:00.123456789Z stderr F "
			if c.name == "rsyslog" { // has JSON
				appendLog(t, api, stamp,
					`{"message": "it broke |DEBUG| after `+otherRequest+`", "name": "keystone.common.wsgi", "levelname": "ERROR", "args": ["hunter2"], "traceback": ["Traceback (most recent call last):", "  File \"x.py\", line 1", "ValueError: no"], "extra": {"instance": "`+instance+`"}, "context": {"request_id": "`+request+`", "global_request_id": "`+globalRequest+`"}}`,
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
			store.refusals(t, api, stamp, c.name == "fluentd")
			appendLog(t, api, stamp, "rotated 1")
			rename(t, api, api+".20261129-180000") // as the kubelet does
			appendLog(t, api, stamp, "rotated 2")
			store.await(t, "rotated", 2)
			start := stop()
			appendLog(t, api, stamp, "rotated 3")
			rename(t, api, api+".20261129-190000")
			appendLog(t, api, stamp, "rotated 4")
			appendLog(t, api+".20261129-170000.gz", stamp, "rotated and compressed")
			start()
			store.await(t, "rotated 4", 1)
			if all := store.await(t, "rotated", 4); len(all) != 4 {
				t.Errorf("records of rotated files: %v", all)
			}
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
		"request_id": request, "global_request_id": globalRequest, "instance": instance, "level": "ERROR", "index": "c-2026.11.29",
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
	if hidden := s.with("(hidden"); len(hidden) != 1 {
		t.Errorf("%d records are hidden, want the one with six passwords", len(hidden))
	}
	for _, text := range []string{
		"token%3D***&x=1", "rabbit://u:***@h1:5672,u:***@h2:5672//", `{\"password\": \"***\", \"name\": \"root\"}`, "IDENTIFIED BY '***'; GRANT",
		"--os-password *** server list", `{"password": "***", 'passphrase': '***', "adminPass": "***"}`,
		`password=*** token: "***" secret='***' passwd=***`, "PRIVATE KEY-----***-----END",
		"again passwd: '***'", "keystone:***@mariadb.openstack", `"name": "admin", "password": "***"`, "X-Auth-Token: ***",
	} {
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
			logs, stop := c.start(t, "sidecar", "http://"+store.address, "KOLLA_SERVICE=keystone", "KOLLA_WORKLOAD=api", "KOLLA_POD="+apiPod)
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
			rename(t, file, file+".1") // as start.sh does
			store.outage(t, file, prefix)
			start := stop()
			appendLog(t, file, prefix, "rotated 1")
			rename(t, file, file+".1")
			appendLog(t, file, prefix, "rotated 2", "end")
			start()
			store.await(t, "rotated 2", 1)
			if all := store.await(t, "rotated", 2); len(all) != 2 {
				t.Errorf("records of rotated files: %v", all)
			}
		})
	}
}

// TestCollectorStart checks that log files move aside, or are emptied, also where the collector ends at once.
func TestCollectorStart(t *testing.T) {
	script, err := os.ReadFile("catalogue/collector/start.sh")
	if err != nil {
		t.Fatal(err)
	}
	logs := t.TempDir()
	const size = 2 << 20
	for _, name := range []string{"api.oslo.log", "server.slow.log"} {
		if err := os.WriteFile(filepath.Join(logs, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-ec", strings.ReplaceAll(string(script), "/var/log/kolla", logs), "sh", "false")
	cmd.Env = append(os.Environ(), "KOLLA_LOG_FILE_MB=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Run(); err == nil {
		t.Error("the status of the collector is lost")
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the loop, which ends with the container
	for name, want := range map[string]int64{"api.oslo.log.1": size, "server.slow.log": 0} {
		if at, err := os.Stat(filepath.Join(logs, name)); err != nil || at.Size() != want {
			t.Errorf("%s is %v (%v), want %d bytes", name, at, err, want)
		}
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// refusals lets the store refuse records for a time, and some for good. The others arrive, as they were. whole: it also
// refuses requests, whose records rsyslog before 8.2604 loses.
func (s *logStore) refusals(t *testing.T, file, prefix string, whole bool) {
	t.Helper()
	refused := map[string]int{}
	s.mu.Lock()
	if whole {
		s.whole = []int{http.StatusTooManyRequests, http.StatusServiceUnavailable}
	}
	s.refuses = func(message string) int {
		refused[message]++
		switch {
		case strings.Contains(message, "impossible"):
			return http.StatusBadRequest
		case strings.Contains(message, "busy") && refused[message] < 3:
			return http.StatusTooManyRequests
		case strings.Contains(message, "away") && refused[message] < 2:
			return http.StatusServiceUnavailable
		}
		return 0
	}
	s.mu.Unlock()
	for i := range 300 {
		appendLog(t, file, prefix, fmt.Sprintf("refusals %03d %s", i, []string{"taken", "busy", "away", "impossible"}[i%4]))
	}
	for _, record := range s.await(t, "refusals", 225) {
		if record["service"] != "keystone" || record["index"] == nil || record["cloud"] != "c" || record["container"] != "api" {
			t.Errorf("a record that was refused became %v", record)
		}
	}
	if n := len(s.with("refusals")); n != 225 {
		t.Errorf("%d records, want 225", n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = nil
}

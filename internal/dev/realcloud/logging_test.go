package realcloud_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// storeAddress is the address of the store of logs, outside of the cluster.
const storeAddress = "10.200.0.106"

// TestLogging sends the logs of a cloud to a store outside, with rsyslog in both modes. Records are found
// by the id of a request, a trace is one record, nothing is lost while the store is away, and no password
// is in the store.
func TestLogging(t *testing.T) {
	c := newCloud(t, "real-keystone", 3)
	s := newLogStore(t, c)
	take(t, c, []step{{"apply", func(t *testing.T, c *cloud) { c.kolla(t, 0, "apply", "-auto-approve", "-timeout=20m") }}})
	c.haproxy(t)
	c.eventualToken(t)
	for _, mode := range []string{"node", "sidecar"} {
		if mode == "sidecar" {
			take(t, c, []step{{"mode changed", func(t *testing.T, c *cloud) {
				c.edit(t, `mode      = "node"`, `mode      = "sidecar"`)
				c.kolla(t, 0, "apply", "-auto-approve", "-timeout=20m")
				c.noChanges(t)
			}}})
		}
		in := func(name string, do func(*testing.T, string)) step {
			return step{mode + ": " + name, func(t *testing.T, _ *cloud) { do(t, mode) }}
		}
		take(t, c, []step{
			in("request", s.findsRequest), in("trace", s.findsTrace), in("store away", s.losesNothing),
			in("secrets", s.hasNoSecret), in("memory", s.memory),
		})
	}
}

// logStore is the store, a process outside of the cluster.
type logStore struct {
	*cloud
	process *exec.Cmd
}

const logRecords = "records.jsonl"

// newLogStore starts a store, and declares that the logs of the cloud go to it, in the mode node. Another store
// never answers.
func newLogStore(t *testing.T, c *cloud) *logStore {
	t.Helper()
	s := &logStore{cloud: c}
	s.start(t)
	const release = "  release  = \"2025.1\"\n"
	c.edit(t, release, release+`
  logging {
    mode      = "node"
    collector = "rsyslog"
    image     = "kolla.test/openstack.kolla/rsyslog:2025.1-debian-trixie"

    target "store" {
      type = "elasticsearch"
      url  = "http://`+storeAddress+`:9200"
    }

    target "dead" {
      type = "elasticsearch"
      url  = "http://`+storeAddress+`:9"
    }
  }
`)
	return s
}

func (s *logStore) start(t *testing.T) {
	t.Helper()
	s.script(t, "logstore.py")
	cmd, err := s.cluster.Outside(context.WithoutCancel(t.Context()), storeAddress, filepath.Join(s.root, "bin", "outside"), "python3", "logstore.py", storeAddress, logRecords)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir, s.process = s.dir, cmd
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.whole.Cleanup(func() { s.stop() })
}

func (s *logStore) stop() {
	if s.process != nil {
		_ = s.process.Process.Signal(syscall.SIGTERM)
		_ = s.process.Wait()
		s.process = nil
	}
}

// logRecord is a record of the store.
type logRecord struct {
	ID        string `json:"id"`
	Service   string `json:"service"`
	Workload  string `json:"workload"`
	Pod       string `json:"pod"`
	Node      string `json:"node"`
	RequestID string `json:"request_id"`
	Message   string `json:"message"`
}

// with returns the records with a text, each once, and the number of copies.
func (s *logStore) with(t *testing.T, text string) (found []logRecord, copies int) {
	t.Helper()
	f, err := os.Open(filepath.Join(s.dir, logRecords))
	if os.IsNotExist(err) {
		return nil, 0
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var r logRecord
		if !strings.Contains(lines.Text(), text) || json.Unmarshal(lines.Bytes(), &r) != nil {
			continue // the last line may not be complete
		}
		if seen[r.ID] {
			copies++
			continue
		}
		seen[r.ID] = true
		found = append(found, r)
	}
	return found, copies
}

// await waits for a number of records with a text.
func (s *logStore) await(t *testing.T, text string, n int) (found []logRecord, copies int) {
	t.Helper()
	eventually(t, func() error {
		if found, copies = s.with(t, text); len(found) < n {
			return fmt.Errorf("the store has %d records with %q, want %d", len(found), text, n)
		}
		return nil
	})
	return found, copies
}

// logs writes records as a process of Keystone's pods does.
func (s *logStore) logs(t *testing.T, what, text string) {
	t.Helper()
	source, err := os.ReadFile("testdata/logs.py")
	if err != nil {
		t.Fatal(err)
	}
	s.kubectl(t, "exec", "deployment/keystone-api", "-c", "api", "--", "sh", "-c", `exec python3 -c "$@" 2> /proc/1/fd/2`, "sh", string(source), what, text)
}

var requestID = regexp.MustCompile(`(?i)x-openstack-request-id: (req-[0-9a-f-]+)`)

// findsRequest sends a request that Keystone refuses, and finds it by the id in the answer.
func (s *logStore) findsRequest(t *testing.T, _ string) {
	const login = `{"auth": {"identity": {"methods": ["password"], "password": {"user": {"name": "admin", "domain": {"id": "default"}, "password": "wrong-hunter2"}}}}}`
	var id string
	var found []logRecord
	eventually(t, func() error { // a pod of before may answer, whose collector is gone
		r := s.outside(t, nil, "curl", "-si", "-H", "Content-Type: application/json", "-d", login, s.keystone()+"/auth/tokens")
		answer := requestID.FindStringSubmatch(r.out)
		if answer == nil {
			return fmt.Errorf("the answer has no id:\n%s", r.out)
		}
		id = answer[1]
		for range 15 {
			if found, _ = s.with(t, id); len(found) > 0 {
				return nil
			}
			time.Sleep(time.Second)
		}
		return fmt.Errorf("the store has no record with %s", id)
	})
	if at := found[0]; at.Service != "keystone" || at.Workload != "api" || at.RequestID != id || !strings.HasPrefix(at.Pod, "keystone-api-") || at.Node != "real-1" {
		t.Errorf("the record is %+v", at)
	}
	wantSaid(t, "log", s.kolla(t, 0, "logs", "keystone").out, id)
}

// followsRequest boots a server, and checks that one query finds the request from HAProxy to the hypervisor.
func (s *logStore) followsRequest(t *testing.T, c *cloud) {
	guest := &server{}
	c.servers(t, guest, "boot", "followed", "real-2", "")
	var events []struct {
		RequestID string `json:"Request ID"`
		Action    string
	}
	out := c.value(t, "server", "event", "list", guest.ID, "-f", "json")
	if err := json.Unmarshal([]byte(out), &events); err != nil || len(events) != 1 || events[0].Action != "create" {
		t.Fatalf("the events of the server are %s (%v)", out, err)
	}
	var passed []string
	eventually(t, func() error {
		records, _ := s.with(t, events[0].RequestID)
		passed = nil
		for _, r := range records {
			if r.RequestID == events[0].RequestID {
				passed = append(passed, r.Service+"/"+r.Workload)
			}
		}
		slices.Sort(passed)
		passed = slices.Compact(passed)
		for _, want := range []string{"exposure-public/keepalived", "nova/api", "nova-compute/compute"} {
			if !slices.Contains(passed, want) {
				return fmt.Errorf("request %s is in the logs of %s, want %s too", events[0].RequestID, passed, want)
			}
		}
		return nil
	})
	measured(t, "a request that boots a server is in the logs of", strings.Join(passed, ", "))
	c.value(t, "server", "delete", guest.ID)
	eventually(t, func() error {
		if left := c.value(t, "server", "list", "--all-projects", "-f", "value"); left != "" {
			return errors.New("there still is " + left)
		}
		return nil
	})
}

// findsTrace checks that an exception is one record.
func (s *logStore) findsTrace(t *testing.T, mode string) {
	s.logs(t, "trace", mode)
	found, _ := s.await(t, "it broke in "+mode, 1)
	if text := found[0].Message; len(found) != 1 || !strings.Contains(text, "Traceback") || !strings.Contains(text, "KeyError") {
		t.Errorf("the records are %+v", found)
	}
}

// losesNothing writes records while the store is away: with a collector on the node for ten minutes, with one in the
// pod for as long as they take.
func (s *logStore) losesNothing(t *testing.T, mode string) {
	const lines, pause = 1000, 30 * time.Second
	rounds := 5
	if mode == "node" {
		rounds = int(10 * time.Minute / pause)
	}
	s.stop()
	for round := range rounds {
		if mode == "node" && round > 0 {
			time.Sleep(pause)
		}
		s.logs(t, strconv.Itoa(lines), fmt.Sprintf("line %%05d of round %d while the store was away in %s", round, mode))
		s.eventualToken(t) // nobody waits for the store
	}
	s.start(t)
	began, want := time.Now(), rounds*lines
	found, copies := s.await(t, "while the store was away in "+mode, want)
	if len(found) != want {
		t.Errorf("%d records of %d lines", len(found), want)
	}
	measured(t, "logging, mode "+mode+": seconds until all records are in the store that came back", time.Since(began).Round(time.Second))
	measured(t, "logging, mode "+mode+": copies that the store replaced", copies)
}

// hasNoSecret writes the password of the administrator, and looks for it, for that of a refused login, and for the values
// of all Secrets of the cloud.
func (s *logStore) hasNoSecret(t *testing.T, mode string) {
	password := s.password(t)
	s.logs(t, "1", `%d in `+mode+`: {"password": "`+password+`"} mysql+pymysql://keystone:`+password+`@mariadb/keystone`)
	s.await(t, "0 in "+mode, 1)
	values := s.secretValues(t)
	values["the refused login"], values["the administrator"] = "wrong-hunter2", password
	for name, value := range values {
		if found, _ := s.with(t, value); len(found) > 0 {
			t.Errorf("the value of %s is in %d records of the store, first of service %s", name, len(found), found[0].Service)
		}
	}
}

// secretValues returns the values of all Secrets of the cloud that may be passwords, by Secret and key: one word of 16
// characters or more. Names of users and databases are shorter, and files have spaces or several lines.
func (s *logStore) secretValues(t *testing.T) map[string]string {
	t.Helper()
	var secrets struct {
		Items []struct {
			Metadata struct{ Name string }
			Data     map[string][]byte
		}
	}
	if err := json.Unmarshal([]byte(s.kubectl(t, "get", "secrets", "-o", "json")), &secrets); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, secret := range secrets.Items {
		for key, value := range secret.Data {
			if text := string(value); len(text) >= 16 && !strings.ContainsAny(text, " \t\r\n") {
				out[secret.Metadata.Name+"/"+key] = text
			}
		}
	}
	if len(out) < 5 {
		t.Errorf("there are only %d values that may be passwords", len(out))
	}
	return out
}

// memory prints what the collectors take.
func (s *logStore) memory(t *testing.T, mode string) {
	of, container := "daemonset/logging-node", "node"
	if mode == "sidecar" {
		of, container = "deployment/keystone-api", "logs"
	}
	out := s.kubectl(t, "exec", of, "-c", container, "--", "sh", "-c", "cat /proc/[0-9]*/smaps_rollup")
	sum := 0
	for line := range strings.Lines(out) {
		var n int
		if read, _ := fmt.Sscanf(line, "Pss: %d kB", &n); read == 1 {
			sum += n
		}
	}
	measured(t, "logging, mode "+mode+": memory of a collector (rsyslog), MB", sum>>10)
}

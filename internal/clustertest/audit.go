package clustertest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// Request is one request of kolla in the audit log.
type Request struct {
	Verb       string    `json:"verb"`
	RequestURI string    `json:"requestURI"`
	UserAgent  string    `json:"userAgent"`
	Received   time.Time `json:"requestReceivedTimestamp"`
}

// AuditLog is the API server's audit log, which is read from where it was left.
type AuditLog struct {
	t      testing.TB
	path   string
	offset int64
	read   time.Time // when the last call of kolla returned
}

// TailAudit returns the audit log from its present end on. It fails the test if this process did
// not start the cluster, because there is no log then.
func TailAudit(t testing.TB) *AuditLog {
	t.Helper()
	if shared.audit == "" {
		t.Fatal("the cluster has no audit log: let the tests start their own")
	}
	info, err := os.Stat(shared.audit)
	if err != nil {
		t.Fatal(err)
	}
	return &AuditLog{t: t, path: shared.audit, offset: info.Size()}
}

// Kolla returns the requests of kolla since the last call. The API server notes a request after
// it has answered, so the log counts as complete when nothing was added for a moment. It notes a
// watch after the end of the watch, possibly during the next command. So watches of earlier
// commands do not count.
func (a *AuditLog) Kolla() []Request {
	a.t.Helper()
	var events []Request
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
func (a *AuditLog) next() []Request {
	a.t.Helper()
	file, err := os.Open(a.path)
	if err != nil {
		a.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(a.offset, io.SeekStart); err != nil {
		a.t.Fatal(err)
	}
	var events []Request
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
		var e Request
		if err := json.Unmarshal(line, &e); err != nil {
			a.t.Fatal(err)
		}
		if strings.HasPrefix(e.UserAgent, "kolla/") {
			events = append(events, e)
		}
	}
}

// Writes lists what changed something: verbs and paths.
func Writes(events []Request) []string {
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

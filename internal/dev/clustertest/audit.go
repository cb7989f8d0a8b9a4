package clustertest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// Request is one request in the audit log.
type Request struct {
	Verb       string    `json:"verb"`
	RequestURI string    `json:"requestURI"`
	UserAgent  string    `json:"userAgent"`
	Received   time.Time `json:"requestReceivedTimestamp"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource, Subresource, APIGroup, Namespace, Name string
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// settling is how long the log may take to contain an answered request.
const settling = 200 * time.Millisecond

// Requests returns all requests in the API server's audit log, or none if the tests did not start
// the server.
func Requests() ([]Request, error) {
	if shared.audit == "" {
		return nil, nil
	}
	time.Sleep(settling)
	requests, _, err := readAudit(shared.audit, 0)
	return requests, err
}

// readAudit reads the log from an offset, and returns the offset of the next line.
func readAudit(path string, offset int64) (requests []Request, next int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, 0, err
	}
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // the last line may be incomplete
			return requests, offset, nil
		}
		if err != nil {
			return nil, 0, err
		}
		offset += int64(len(line))
		var r Request
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, 0, err
		}
		requests = append(requests, r)
	}
}

// AuditLog is the API server's audit log, with the position up to which it was read.
type AuditLog struct {
	t      testing.TB
	offset int64
	read   time.Time // when the last call of Kolla returned
}

// TailAudit returns the audit log from its present end on. It fails the test if another process
// started the cluster, because there is no log then.
func TailAudit(t testing.TB) *AuditLog {
	t.Helper()
	if shared.audit == "" {
		t.Fatal("the cluster has no audit log: let the tests start their own")
	}
	_, end, err := readAudit(shared.audit, 0) // the file may end with an incomplete line
	if err != nil {
		t.Fatal(err)
	}
	return &AuditLog{t: t, offset: end, read: time.Now()}
}

// Kolla returns kolla's requests since the last call. The API server writes a request to the log
// after it has answered. So the log counts as complete when it has had no new request of kolla for
// a moment. The server logs a watch at its end, possibly during the next command, so watches of
// earlier commands do not count.
func (a *AuditLog) Kolla() []Request {
	a.t.Helper()
	var requests []Request
	for {
		time.Sleep(settling)
		more, next, err := readAudit(shared.audit, a.offset)
		if err != nil {
			a.t.Fatal(err)
		}
		a.offset = next
		more = slices.DeleteFunc(more, func(r Request) bool { return !strings.HasPrefix(r.UserAgent, "kolla/") })
		if len(more) == 0 {
			a.read = time.Now()
			return requests
		}
		for _, r := range more {
			if r.Verb != "watch" || r.Received.After(a.read) {
				requests = append(requests, r)
			}
		}
	}
}

// Writes lists the requests that may have changed something: verbs and paths. A command in a pod is
// a GET of a subresource.
func Writes(requests []Request) []string {
	var writes []string
	for _, e := range requests {
		reads := e.Verb == "get" || e.Verb == "list" || e.Verb == "watch"
		if (!reads || e.ObjectRef.Subresource == "exec") && !strings.Contains(e.RequestURI, "dryRun=All") {
			path, _, _ := strings.Cut(e.RequestURI, "?")
			writes = append(writes, e.Verb+" "+path)
		}
	}
	return writes
}

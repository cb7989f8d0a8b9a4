package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"kolla.openstack.org/kolla/internal/clustertest"
)

// refusals prints, from the API server's audit log, which requests of a user were refused,
// each kind once: refusals USER.
func refusals(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: refusals USER")
	}
	time.Sleep(200 * time.Millisecond) // the log is written as the answers go out
	file, err := os.Open(clustertest.Audit())
	ts.Check(err)
	defer file.Close()
	var found []string
	asked := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Verb string `json:"verb"`
			User struct {
				Username string `json:"username"`
			} `json:"user"`
			ObjectRef struct {
				Resource, Subresource, APIGroup, Namespace, Name string
			} `json:"objectRef"`
			ResponseStatus struct {
				Code int `json:"code"`
			} `json:"responseStatus"`
		}
		ts.Check(json.Unmarshal(lines.Bytes(), &e))
		if e.User.Username != args[0] {
			continue
		}
		asked++
		if e.ResponseStatus.Code == http.StatusForbidden {
			found = append(found, fmt.Sprintf("%s %s.%s/%s %s/%s", e.Verb, e.ObjectRef.Resource, e.ObjectRef.APIGroup, e.ObjectRef.Subresource, e.ObjectRef.Namespace, e.ObjectRef.Name))
		}
	}
	if asked == 0 {
		ts.Fatalf("the audit log knows nothing of %s", args[0])
	}
	slices.Sort(found)
	for _, line := range slices.Compact(found) {
		fmt.Fprintln(ts.Stdout(), line)
	}
}

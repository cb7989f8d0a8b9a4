package main

import (
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"kolla.openstack.org/kolla/internal/dev/openstacktest"
)

// startOpenStack starts a server that answers as OpenStack's APIs do: openstack PASSWORD BREAKS. It answers requests
// that the lines of the file BREAKS begin, such as "POST /image/", with status 503 and a message that quotes the token.
// A request that a line with "hang " before it begins gets no answer; then the file BREAKS.hangs is there.
// The variable OPENSTACK_PORT gets its port.
func startOpenStack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: openstack PASSWORD BREAKS")
	}
	cloud, path := openstacktest.Start(args[0]), ts.MkAbs(args[1])
	ts.Defer(cloud.Close)
	cloud.Breaks[""] = func(w http.ResponseWriter, r *http.Request) {
		lines, _ := os.ReadFile(path) // without the file, nothing is broken
		for line := range strings.Lines(string(lines)) {
			begin, hangs := strings.CutPrefix(strings.TrimSpace(line), "hang ")
			if !strings.HasPrefix(r.Method+" "+r.URL.Path, begin) {
				continue
			}
			if hangs {
				_ = os.WriteFile(path+".hangs", nil, 0o600) // without it, the script waits in vain
				_, _ = io.Copy(io.Discard, r.Body)          // only then the server sees that the client goes away
				<-r.Context().Done()
			} else {
				cloud.Answer(w, http.StatusServiceUnavailable, openstacktest.Entry{"error": openstacktest.Entry{"message": "no answer for " + r.Header.Get("X-Auth-Token")}})
			}
			return
		}
		cloud.Serve(w, r)
	}
	ts.Setenv("OPENSTACK_PORT", cloud.URL[strings.LastIndex(cloud.URL, ":")+1:])
}

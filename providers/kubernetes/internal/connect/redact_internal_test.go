package connect

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/redaction"
)

// Text of others is cleaned: errors, warnings and logs. Objects stay as they are.
func TestRedacting(t *testing.T) {
	const quoted = `{"kind":"Status","code":400,"message":"weak: hunter2-\"hunter2","details":{"causes":[{"message":"hunter2-\"hunter2"}]}}`
	for name, test := range map[string]struct {
		path   string
		status int
		body   string
		want   string
	}{
		"a status":  {"/api/v1/x", 400, quoted, `{"code":400,"details":{"causes":[{"message":"(sensitive value)"}]},"kind":"Status","message":"weak: (sensitive value)"}`},
		"a page":    {"/api/v1/x", 502, "<p>hunter2-\"hunter2", "<p>(sensitive value)"},
		"a log":     {"/api/v1/namespaces/x/pods/y/log", 200, "got hunter2-\"hunter2\nbye\n", "got (sensitive value)\nbye\n"},
		"an object": {"/api/v1/namespaces/x/secrets/y", 200, quoted, quoted},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Add("Warning", `299 - "do not write hunter2-\"hunter2"`)
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			}))
			t.Cleanup(server.Close)
			secrets := &redaction.Values{}
			secrets.Add(`hunter2-"hunter2`)
			client := &http.Client{Transport: redacting(secrets)(http.DefaultTransport)}
			response, err := client.Get(server.URL + test.path)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil || string(body) != test.want {
				t.Errorf("%q and %v, want %q", body, err, test.want)
			}
			if warning := response.Header.Get("Warning"); strings.Contains(warning, "hunter2") || !strings.Contains(warning, redaction.Mask) {
				t.Errorf("the warning is %q", warning)
			}
		})
	}
}

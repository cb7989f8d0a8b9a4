package connect

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/internal/base/redaction"
)

// TestRedacting checks that secret values are removed from errors, warnings and logs, and that
// objects stay as they are.
func TestRedacting(t *testing.T) {
	const quoted = `{"kind":"Status","code":400,"message":"weak: hunter2-\"hunter2","details":{"causes":[{"message":"hunter2-\"hunter2"}]}}`
	for name, test := range map[string]struct {
		path   string
		status int
		body   string
		want   string
	}{
		"a status":            {"/api/v1/x", 400, quoted, `{"code":400,"details":{"causes":[{"message":"(sensitive value)"}]},"kind":"Status","message":"weak: (sensitive value)"}`},
		"a page":              {"/api/v1/x", 502, "<p>hunter2-\"hunter2", "<p>(sensitive value)"},
		"a log":               {"/api/v1/namespaces/x/pods/y/log", 200, "got hunter2-\"hunter2\nbye\n", "got (sensitive value)\nbye\n"},
		"a log like a status": {"/k8s/api/v1/namespaces/x/pods/y/log", 200, quoted + "\nbye hunter2-\"hunter2\n", strings.ReplaceAll(quoted, `hunter2-\"hunter2`, "(sensitive value)") + "\nbye (sensitive value)\n"},
		"a secret named log":  {"/api/v1/namespaces/x/secrets/log", 200, quoted, quoted},
		"a pod named log":     {"/api/v1/namespaces/x/pods/log", 200, quoted, quoted},
		"an object":           {"/api/v1/namespaces/x/secrets/y", 200, quoted, quoted},
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

// TestRedactingKeepsWhatIsRead checks that secret values that equal words of the API server do not
// change the parts of a refusal that kolla reads.
func TestRedactingKeepsWhatIsRead(t *testing.T) {
	secrets := &redaction.Values{}
	for _, word := range []string{
		"Status", "status", "Invalid", "causes", "message", "reason", "FieldManagerConflict", "immutable", "field is immutable", "conflict", "conflict with",
		"kubectl", "spec.selector", "denied the request", "forbidden", "secrets", "FieldValueInvalid", "hunter2-hunter2",
	} {
		secrets.Add(word)
	}
	for name, test := range map[string]struct{ body, kept string }{
		"immutable":  {`{"kind":"Status","code":422,"reason":"Invalid","message":"hunter2-hunter2","details":{"name":"kubectl","kind":"secrets","causes":[{"reason":"FieldValueInvalid","field":"spec.selector","message":"Invalid value: hunter2-hunter2: field is immutable"}]}}`, ": field is immutable"},
		"forbidden":  {`{"kind":"Status","code":422,"reason":"Invalid","details":{"causes":[{"reason":"FieldValueInvalid","field":"spec","message":"updates to statefulset spec for hunter2-hunter2 are forbidden"}]}}`, " are forbidden"},
		"denied":     {`{"kind":"Status","code":400,"message":"admission webhook \"x\" denied the request: hunter2-hunter2"}`, " denied the request: "},
		"permission": {`{"kind":"Status","code":403,"reason":"Forbidden","message":"secrets is forbidden: User \"hunter2-hunter2\" cannot get resource \"secrets\" in API group \"\" in the namespace \"kubectl\""}`, `cannot get resource \"secrets\" in API group \"\" in the namespace \"kubectl\"`},
	} {
		t.Run(name, func(t *testing.T) {
			clean := func(text string) string { return secrets.Around(text, parsed.FindAllStringIndex(text, -1)) }
			got := string(redacted([]byte(test.body), clean))
			if strings.Contains(got, "hunter2") || !strings.Contains(got, redaction.Mask) || !strings.Contains(got, test.kept) {
				t.Errorf("%s", got)
			}
			var was, is metav1.Status
			if err := errors.Join(json.Unmarshal([]byte(test.body), &was), json.Unmarshal([]byte(got), &is)); err != nil {
				t.Fatal(err)
			}
			was.Message, is.Message = "", ""
			if was.Details != nil {
				was.Details.Causes[0].Message, is.Details.Causes[0].Message = "", ""
			}
			if !reflect.DeepEqual(was, is) {
				t.Errorf("%+v, want %+v", is, was)
			}
		})
	}
	const conflict = `{"code":409,"details":{"causes":[{"field":".spec.selector","message":"conflict with \"by-kubectl\" using v1","reason":"FieldManagerConflict"}]},"kind":"Status"}`
	clean := func(string) string { return "gone" }
	if got := string(redacted([]byte(conflict), clean)); got != conflict {
		t.Errorf("%s", got)
	}
	if got := string(redacted([]byte(strings.Replace(conflict, "conflict with", "hunter2", 1)), clean)); strings.Contains(got, "hunter2") {
		t.Errorf("%s", got)
	}
}

// arriving is the body of an answer that arrives in pieces.
type arriving struct{ pieces []string }

func (a *arriving) Read(p []byte) (int, error) {
	if len(a.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, a.pieces[0])
	if a.pieces[0] = a.pieces[0][n:]; a.pieces[0] == "" {
		a.pieces = a.pieces[1:]
	}
	return n, nil
}

func (*arriving) Close() error { return nil }

// TestRedactingAFollowedLog checks that whole lines are passed on when they arrive, and that a value
// that arrives in two pieces is found.
func TestRedactingAFollowedLog(t *testing.T) {
	secrets := &redaction.Values{}
	secrets.Add("hunter2-hunter2")
	long := strings.Repeat("x", maxFollowed) + "\n"
	log := &followed{source: &arriving{[]string{"one\nwith hunter2", "-hunter2 in it\n", "two\nthr", "ee\n", long, "end"}}, clean: func(text string) string { return secrets.Text(text) }}
	var got []string
	p := make([]byte, 2*maxFollowed)
	for {
		n, err := log.Read(p)
		if n > 0 {
			got = append(got, string(p[:n]))
		}
		if err != nil {
			break
		}
	}
	want := []string{"one\n", "with (sensitive value) in it\n", "two\n", "three\n", strings.TrimSuffix(long, "\n"), "\n", "end"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

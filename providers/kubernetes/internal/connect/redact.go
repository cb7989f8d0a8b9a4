package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/transport"

	"kolla.openstack.org/kolla/internal/base/redaction"
)

// redacting makes a transport remove secret values from the text that comes with answers: the
// status of a refused request, warnings, and logs of containers. It does not change the objects
// that a request asked for.
func redacting(secrets *redaction.Values) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper { return &redactor{secrets: secrets, next: next} }
}

// redactor is the transport that removes secret values.
type redactor struct {
	secrets *redaction.Values
	next    http.RoundTripper
}

// logPath matches the path of the log of a container. The path of the server may come before.
var logPath = regexp.MustCompile(`/api/v1/namespaces/[^/]+/pods/[^/]+/log$`)

// RoundTrip implements http.RoundTripper.
func (r *redactor) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	clean := func(text string) string {
		return r.secrets.Around(text, parsed.FindAllStringIndex(text, -1), request.URL.Path)
	}
	for i, warning := range response.Header.Values("Warning") {
		response.Header["Warning"][i] = clean(warning)
	}
	refused := response.StatusCode >= http.StatusBadRequest
	if !refused && logPath.MatchString(request.URL.Path) && request.URL.Query().Get("follow") == "true" {
		response.Body = &followed{source: response.Body, clean: func(text string) string { return r.secrets.Text(text, request.URL.Path) }}
		return response, nil
	}
	if !refused && !logPath.MatchString(request.URL.Path) {
		return response, nil
	}
	body, err := io.ReadAll(response.Body)
	if err == nil {
		err = response.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if refused {
		body = redacted(body, clean)
	} else {
		body = []byte(r.secrets.Text(string(body), request.URL.Path))
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return response, nil
}

// followed is a log that goes on. It removes secret values from the lines that have arrived.
type followed struct {
	source io.ReadCloser
	clean  func(string) string
	rest   []byte // the beginning of a line that is not complete
	lines  []byte // clean, and not read yet
	err    error  // of the source
}

// maxFollowed is the maximum length of a line of a followed log in bytes. Longer lines are cut.
const maxFollowed = 64 << 10

// Read implements io.Reader.
func (f *followed) Read(p []byte) (int, error) {
	for len(f.lines) == 0 && f.err == nil {
		chunk := make([]byte, 16<<10)
		n, err := f.source.Read(chunk)
		f.rest, f.err = append(f.rest, chunk[:n]...), err
		end := bytes.LastIndexByte(f.rest, '\n') + 1
		if err != nil || end == 0 && len(f.rest) >= maxFollowed {
			end = len(f.rest)
		}
		f.lines, f.rest = []byte(f.clean(string(f.rest[:end]))), f.rest[end:]
	}
	if len(f.lines) == 0 {
		return 0, f.err
	}
	n := copy(p, f.lines)
	f.lines = f.lines[n:]
	return n, nil
}

// Close implements io.Closer.
func (f *followed) Close() error { return f.source.Close() }

// WrappedRoundTripper implements net.RoundTripperWrapper. client-go uses it to find the
// transport below, and closes idle connections there.
func (r *redactor) WrappedRoundTripper() http.RoundTripper { return r.next }

// parsed matches the words of the API server that kolla reads in messages. A secret value may be
// one of these words, and must not decide what kolla does.
var parsed = regexp.MustCompile(`(?i)^Invalid value: |\b(?:field is )?immutable\b|(?:may|must|can) ?not (?:be )?(?:change|update|modif)|updates to |(?:are|is) forbidden|can ?not be less than status\.capacity` +
	`|denied (?:the )?request|failed calling webhook(?: "[^"]*")?|conversion webhook for [^:]* failed|failed to call webhook|admission webhook "[^"]*" does not support dry run` +
	`|failed to (?:create typed (?:patch|live) object|create manager for existing fields|convert new object)(?: \([^)]*\))?(?: to proper version)?: ` +
	`|expected (?:string|map|list|boolean|numeric \(int or float\)|numeric)|&value\.valueUnstructured\{Value:|duplicate nodePort|violates PodSecurity` +
	`|cannot \S+ resource "[^"]*" in API group "[^"]*" (?:in the namespace "[^"]*"|at the cluster scope)` +
	`|not yet ready to handle request|allocator not ready|` + databaseFull + `|etcdserver:|rpc error: code = Unavailable|error trying to reach service: |service unavailable`)

// contested matches the name of a field manager in the cause of a conflict. Code that shows the
// name removes secret values from it.
var contested = regexp.MustCompile(`^conflict with "(?:[^"\\]|\\.)*"(?: with subresource "[^"]*")?(?: using \S+)?(?: at \S+)?$`)

// redacted cleans the body of a refusal: the messages of a Status, and any other text as a whole.
// The other fields of a Status stay, because kolla decides by them.
func redacted(body []byte, clean func(string) string) []byte {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var status map[string]any
	if decoder.Decode(&status) != nil || status["kind"] != "Status" {
		return []byte(clean(string(body)))
	}
	message := func(of map[string]any) {
		if text, ok := of["message"].(string); ok {
			of["message"] = clean(text)
		}
	}
	message(status)
	details, _ := status["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	for _, cause := range causes {
		if cause, ok := cause.(map[string]any); ok && !isConflict(cause) {
			message(cause)
		}
	}
	out, err := json.Marshal(status)
	if err != nil {
		panic(err) // it was JSON
	}
	return out
}

// isConflict reports whether a cause only names the manager of a field.
func isConflict(cause map[string]any) bool {
	text, _ := cause["message"].(string)
	return cause["reason"] == string(metav1.CauseTypeFieldManagerConflict) && contested.MatchString(text)
}

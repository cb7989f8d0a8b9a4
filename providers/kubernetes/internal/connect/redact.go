package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"k8s.io/client-go/transport"

	"kolla.openstack.org/kolla/internal/redaction"
)

// redacting makes a transport take secret values out of the text that comes with answers:
// the status of a refused request, warnings, and logs of containers. Objects that were asked
// for stay as they are.
func redacting(secrets *redaction.Values) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper { return &redactor{secrets: secrets, next: next} }
}

// redactor is the transport that takes secret values out of text of others.
type redactor struct {
	secrets *redaction.Values
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r *redactor) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	clean := func(text string) string { return r.secrets.Text(text, request.URL.Path) }
	for i, warning := range response.Header.Values("Warning") {
		response.Header["Warning"][i] = clean(warning)
	}
	if response.StatusCode < http.StatusBadRequest && !strings.HasSuffix(request.URL.Path, "/log") {
		return response, nil
	}
	body, err := io.ReadAll(response.Body)
	if err == nil {
		err = response.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	body = redacted(body, clean)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return response, nil
}

// WrappedRoundTripper implements net.RoundTripperWrapper. client-go uses it to find the
// transport below, and closes idle connections there.
func (r *redactor) WrappedRoundTripper() http.RoundTripper { return r.next }

// redacted cleans a body. A Status, as JSON, is cleaned string by string.
func redacted(body []byte, clean func(string) string) []byte {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var status map[string]any
	if decoder.Decode(&status) != nil || status["kind"] != "Status" {
		return []byte(clean(string(body)))
	}
	out, err := json.Marshal(redaction.Tree(status, clean))
	if err != nil {
		panic(err) // it was JSON
	}
	return out
}

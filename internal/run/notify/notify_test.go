package notify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/run/notify"
)

const secret = "T0pSecretToken"

// received is what a server got.
type received struct{ method, path, query, user, contentType, body string }

// server answers with a status, and quotes the request in its answer.
func server(t *testing.T, status int) (url string, got *[]received) {
	t.Helper()
	got = &[]received{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		*got = append(*got, received{r.Method, r.URL.Path, r.URL.RawQuery, user + ":" + password, r.Header.Get("Content-Type"), string(body)})
		w.WriteHeader(status)
		fmt.Fprintf(w, "%s %s", r.URL, body)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func TestSend(t *testing.T) {
	url, got := server(t, http.StatusOK)
	receivers, err := notify.Receivers([]string{url + "/hooks/" + secret + "?channel=ops&sig=a%2Fb%3D"})
	if err != nil || len(receivers) != 1 || receivers[0].Name != "http 1" {
		t.Fatal(receivers, err)
	}
	if err := receivers[0].Send(t.Context(), "drift of prod", "a \"field\"\nand another"); err != nil {
		t.Fatal(err)
	}
	if len(*got) != 1 || (*got)[0].method != http.MethodPost || (*got)[0].path != "/hooks/"+secret || (*got)[0].query != "channel=ops&sig=a%2Fb%3D" {
		t.Fatalf("the server got %+v", *got)
	}
	var body map[string]string
	if err := json.Unmarshal([]byte((*got)[0].body), &body); err != nil || body["title"] != "drift of prod" || body["message"] != "a \"field\"\nand another" {
		t.Errorf("the server got %s: %v", (*got)[0].body, err)
	}
}

// TestErrorsHaveNoSecrets checks that no part of a URL is in an error.
func TestErrorsHaveNoSecrets(t *testing.T) {
	refusing, _ := server(t, http.StatusForbidden)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		secret:                                     "number 1 has no known service",
		secret + "://hook":                         "number 1 has no known service",
		"slak://" + secret + "/x":                  "number 1 has no known service",
		"slack://" + secret:                        "number 1, of the service slack, is not complete",
		"teams://" + secret + "@x":                 "number 1, of the service teams, is not complete",
		"telegram://" + secret + "\x7f@telegram":   "number 1, of the service telegram, is not complete",
		refusing + "/" + secret:                    "notify http 1: the server answered with HTTP status 403",
		"http://user:" + secret + "@" + gone + "/": "notify http 1: connection refused",
		"smtp://user:" + secret + "@" + gone + "/?from=a@example.org&to=b@example.org": "notify smtp 1: connection refused",
	} {
		receivers, err := notify.Receivers([]string{text})
		if err == nil {
			err = receivers[0].Send(t.Context(), "title", "text")
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
			continue
		}
		if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), gone) {
			t.Errorf("the error quotes the URL: %v", err)
		}
	}
	for gateway, want := range map[string]string{
		refusing + "/" + secret:                    "HTTP status 403",
		"http://user:" + secret + "@" + gone + "/": "connection refused",
		"http://" + secret + "\x7f/":               "the URL is not valid",
	} {
		err := notify.Push(t.Context(), gateway, "prod", "text/plain", []byte("x"), true)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v, want %q", gateway, err, want)
		}
	}
}

func TestPush(t *testing.T) {
	url, got := server(t, http.StatusAccepted)
	for _, push := range []struct {
		gateway string
		replace bool
	}{
		{url, true},
		{url + "/", false},
		{strings.Replace(url, "://", "://kolla:"+secret+"@", 1) + "/push//?via=proxy", true},
	} {
		if err := notify.Push(t.Context(), push.gateway, "a b", "text/plain", []byte("m 1\n"), push.replace); err != nil {
			t.Fatal(err)
		}
	}
	want := []received{
		{"PUT", "/metrics/job/kolla/cloud/a b", "", ":", "text/plain", "m 1\n"},
		{"POST", "/metrics/job/kolla/cloud/a b", "", ":", "text/plain", "m 1\n"},
		{"PUT", "/push/metrics/job/kolla/cloud/a b", "via=proxy", "kolla:" + secret, "text/plain", "m 1\n"},
	}
	if fmt.Sprint(*got) != fmt.Sprint(want) {
		t.Errorf("the gateway got %+v", *got)
	}
	err := notify.Push(t.Context(), url, "", "text/plain", []byte("m 1\n"), false)
	if err == nil || !strings.Contains(err.Error(), "the name of the cloud is not known") || len(*got) != len(want) {
		t.Errorf("without a name: %v, and the gateway got %+v", err, *got)
	}
}

func TestSendEndsWithItsContext(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	receivers, err := notify.Receivers([]string{"http://" + silent.Addr().String() + "/"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := receivers[0].Send(ctx, "title", "text"); err == nil {
		t.Error("the message was sent after the end")
	}
}

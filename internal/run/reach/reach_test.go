package reach_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/present/discovery"
	"kolla.openstack.org/kolla/internal/run/reach"
)

// listen accepts connections, and hands each of them to serve.
func listen(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return listener.Addr().String()
}

func TestResolvedNames(t *testing.T) {
	found, err := reach.Names(t.Context(), []string{"127.0.0.1", "::1", "-.invalid"}, time.Second)
	if want := map[string][]string{"127.0.0.1": {"127.0.0.1"}, "::1": {"::1"}, "-.invalid": nil}; err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("got %v, %v", found, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := reach.Names(ended, nil, time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestPublic(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/down", http.StatusFound)
		case "/down":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/v3/":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			t.Errorf("%s was opened", r.URL)
		}
	}))
	defer server.Close()
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	other := listen(t, func(c net.Conn) {
		_, _ = c.Write([]byte("220 mail.example.org\r\n"))
		_ = c.Close()
	})
	closing := listen(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1<<10))
		_ = c.Close()
	})
	over := make(chan struct{})
	defer close(over)
	silent := listen(t, func(net.Conn) { <-over })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	_ = listener.Close()

	tests := []struct {
		url     string
		status  int
		problem string // a part; empty: it answers
	}{
		{server.URL + "/v3/%(project_id)s", http.StatusUnauthorized, ""},
		{server.URL + "/moved", http.StatusFound, ""},
		{server.URL + "/down", http.StatusServiceUnavailable, "it answers with an error: Service Unavailable"},
		{"http://" + other, 0, "does not answer in HTTP"},
		{"http://" + closing, 0, "does not answer in HTTP: it closes them"},
		{"http://" + silent, 0, "does not answer in HTTP: no answer in time"},
		{"http://" + closed, 0, "cannot connect: connection refused"},
		{"http://127.0.0.1:port", 0, "it is no URL"},
		{"udp://127.0.0.1:1", 0, ""},
		{other, 0, ""},
		{closed, 0, "cannot connect: connection refused"},
	}
	block := discovery.Block{Address: "service.a", URLs: []discovery.URL{{Internal: "http://inside:80"}}}
	for _, test := range tests {
		block.URLs = append(block.URLs, discovery.URL{Public: test.url}, discovery.URL{Public: test.url})
	}
	checks, err := reach.Public(t.Context(), []discovery.Block{block}, nil, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if len(checks) != len(tests) {
		t.Fatalf("%d URLs were opened, want %d: %v", len(checks), len(tests), checks)
	}
	for i, test := range tests {
		got := checks[i]
		if got.Address != "service.a" || got.URL != test.url || got.Status != test.status || !strings.Contains(got.Problem, test.problem) || (test.problem == "") != (got.Problem == "") || strings.Contains(got.Problem, "mail.example.org") {
			t.Errorf("%+v, want %+v", got, test)
		}
		if connects := !strings.Contains(test.problem, "cannot connect") && !strings.Contains(test.problem, "no URL") && !got.Skipped; connects != (got.Connected > 0) {
			t.Errorf("%s: it connected after %s", test.url, got.Connected)
		}
		if got.Skipped != strings.HasPrefix(test.url, "udp") {
			t.Errorf("%s: skipped: %t", test.url, got.Skipped)
		}
	}
	if got := discovery.Failed(checks); got != 7 {
		t.Errorf("%d failed, want 7", got)
	}
}

// TestDefaultPort checks that a URL without a port leads to a port. Nobody needs to listen there.
func TestDefaultPort(t *testing.T) {
	blocks := []discovery.Block{{URLs: []discovery.URL{{Public: "http://127.0.0.1/v3"}, {Public: "http://[::1]"}}}}
	checks, err := reach.Public(t.Context(), blocks, nil, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range checks {
		if strings.Contains(check.Problem, "missing port") {
			t.Errorf("%s: %s", check.URL, check.Problem)
		}
	}
}

// TestPorts checks connections to addresses that accept them, that do not, and that do not exist.
func TestPorts(t *testing.T) {
	open := listen(t, func(c net.Conn) { _ = c.Close() })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	_ = listener.Close()
	got, err := reach.Ports(t.Context(), []string{open, closed, "127.0.0.1"}, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{open: "", closed: "cannot connect: connection refused", "127.0.0.1": "cannot connect: address 127.0.0.1: missing port in address"} {
		if problem, has := got[address]; !has || problem != want {
			t.Errorf("%s: %q, want %q", address, problem, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reach.Ports(ctx, []string{open}, time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

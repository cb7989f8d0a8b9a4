package haproxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"kolla.openstack.org/kolla/providers/haproxy"
)

// TestBehaviour runs HAProxy with a rendered file between a client and two nodes, and checks that
// it behaves as the file promises.
func TestBehaviour(t *testing.T) {
	program := findHAProxy(t)
	servicePort, nodePort := freePort(t, "127.0.0.1"), freePort(t, "127.0.0.2")
	nodes := []*node{startNode(t, "127.0.0.2", nodePort), startNode(t, "127.0.0.3", nodePort)}
	vip := startHAProxy(t, program, servicePort, nodePort)

	t.Run("takes turns", func(t *testing.T) {
		for range 10 {
			vip.ask(t, http.MethodGet, http.StatusOK)
		}
		if a, b := nodes[0].take(), nodes[1].take(); len(a) != 5 || len(b) != 5 {
			t.Errorf("the nodes got %d and %d requests", len(a), len(b))
		}
	})
	t.Run("speaks for the client", func(t *testing.T) {
		vip.ask(t, http.MethodGet, http.StatusOK)
		seen := append(nodes[0].take(), nodes[1].take()...)[0].Header
		if got := seen.Values("X-Forwarded-For"); len(got) != 1 || got[0] != "127.0.0.1" {
			t.Errorf("X-Forwarded-For is %q", got)
		}
		if got := seen.Values("X-Forwarded-Proto"); len(got) != 1 || got[0] != "http" {
			t.Errorf("X-Forwarded-Proto is %q", got)
		}
		if seen.Get("Forwarded") != "" || seen.Get("X-Forwarded-Host") != "" {
			t.Errorf("what the client claims arrives: %v", seen)
		}
	})
	t.Run("goes to the next node when one says nothing", func(t *testing.T) {
		nodes[0].set(hangsUp)
		for range 10 {
			vip.ask(t, http.MethodGet, http.StatusOK)
		}
		if len(nodes[0].take()) == 0 {
			t.Error("the silent node was not asked: this proves nothing")
		}
		nodes[1].take()
	})
	t.Run("does nothing twice", func(t *testing.T) {
		nodes[0].set(hangsUp)
		nodes[1].set(hangsUp)
		vip.ask(t, http.MethodPost, http.StatusBadGateway)
		if seen := append(nodes[0].take(), nodes[1].take()...); len(seen) != 1 {
			t.Errorf("the request was sent %d times", len(seen))
		}
		nodes[0].set(serves)
		nodes[1].set(serves)
	})
	t.Run("leaves out what is not ready", func(t *testing.T) {
		nodes[0].set(unready)
		vip.askUntil(t, func() bool { return len(nodes[0].take()) == 0 })
		nodes[0].set(serves)
		vip.askUntil(t, func() bool { return len(nodes[0].take()) > 0 })
	})
	t.Run("loses nothing when a node goes away", func(t *testing.T) {
		nodes[1].stop()
		for range 10 {
			vip.ask(t, http.MethodPost, http.StatusOK)
		}
	})
}

// The modes of a node.
const (
	serves  = iota
	hangsUp // closes connections without an answer, but passes health checks
	unready // serves, but fails health checks
)

// node is a fake node of the cluster behind HAProxy.
type node struct {
	server *http.Server

	mu   sync.Mutex
	mood int
	seen []*http.Request
}

func startNode(t *testing.T, address string, port int) *node {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(address, fmt.Sprint(port)))
	if err != nil {
		t.Fatal(err)
	}
	n := &node{}
	n.server = &http.Server{Handler: n}
	go n.server.Serve(listener) // ends with stop
	t.Cleanup(n.stop)
	return n
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case r.URL.Path == "/ready" && n.mood == unready:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case r.URL.Path == "/ready":
		return
	}
	n.seen = append(n.seen, r)
	if n.mood == hangsUp {
		panic(http.ErrAbortHandler)
	}
}

func (n *node) set(mood int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mood = mood
}

// take returns the requests since the last call.
func (n *node) take() []*http.Request {
	n.mu.Lock()
	defer n.mu.Unlock()
	seen := n.seen
	n.seen = nil
	return seen
}

func (n *node) stop() { n.server.Close() }

// client makes a new connection for each request. On a connection that was used before, HAProxy
// would report a failure by closing it.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// address is the address that clients connect to.
type address string

// ask sends a request with forged forwarding headers, and checks the status of the answer.
func (a address) ask(t *testing.T, method string, want int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+string(a)+"/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "x-forwarded-host", "X-Forwarded-Proto"} {
		request.Header.Set(name, "claimed")
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != want {
		t.Errorf("%s: %s, want %d", method, response.Status, want)
	}
}

// askUntil sends requests, four at a time, until effect returns true. All of them must succeed.
func (a address) askUntil(t *testing.T, effect func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		for range 4 {
			a.ask(t, http.MethodGet, http.StatusOK)
		}
		if effect() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the health checks change nothing")
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// thisDevice matches the settings of the file that only work on the operator's load balancer.
var thisDevice = regexp.MustCompile(`(?m)^    (user|group|chroot) .*\n`)

// startHAProxy runs HAProxy on 127.0.0.1, in front of 127.0.0.2 and 127.0.0.3.
func startHAProxy(t *testing.T, program string, servicePort, nodePort int) address {
	t.Helper()
	dir := t.TempDir()
	source, err := os.ReadFile("testdata/mistakes/cloud.hcl")
	if err != nil {
		t.Fatal(err)
	}
	cloud := strings.NewReplacer(
		"192.0.2.10", "127.0.0.1",
		"= 80\n", fmt.Sprintf("= %d\n", servicePort),
		"30080", fmt.Sprint(nodePort),
		"= role.edge", "= role.edge\n  node_ports = \"1-65535\"",
		`ports = ["web"]`, "ports = [\"web\"]\n ready {\n http = \"/ready\"\n port = \"web\"\n }",
	).Replace(string(source))
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(cloud), 0o600); err != nil {
		t.Fatal(err)
	}
	content, diags := render(t, load(t, dir), "public", []haproxy.Node{{Name: "n1", Address: "127.0.0.2"}, {Name: "n2", Address: "127.0.0.3"}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, thisDevice.ReplaceAll(content, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	process := exec.Command(program, "-db", "-f", file)
	process.Stdout, process.Stderr = &log, &log
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		process.Process.Kill()
		process.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	vip := net.JoinHostPort("127.0.0.1", fmt.Sprint(servicePort))
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		connection, err := net.Dial("tcp", vip)
		if err == nil {
			connection.Close()
			return address(vip)
		}
		if time.Now().After(deadline) {
			t.Fatalf("HAProxy does not listen: %v", err)
		}
	}
}

// freePort finds a port that nobody listens on.
func freePort(t *testing.T, address string) int {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

package kubernetes_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/dev/kubelettest"
	"kolla.openstack.org/kolla/providers"
)

// echo starts a server that answers each line with the same line in capital letters.
func echo(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			go func() {
				defer func() { _ = conn.Close() }()
				lines := bufio.NewScanner(conn)
				for lines.Scan() && lines.Text() != "quit" {
					_, _ = fmt.Fprintln(conn, strings.ToUpper(lines.Text()))
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// TestForward connects to ports of a pod through the API server and a kubelet: what is written comes to
// the pod, and connections that reach no pod or port are errors that say why.
func TestForward(t *testing.T) {
	namespace, client := clustertest.Namespace(t), connect(t)
	port := echo(t)
	certificate, err := clustertest.KubeletCertificate()
	if err != nil {
		t.Fatal(err)
	}
	kubelet := kubelettest.Start(certificate, func(in, pod, number string) string {
		switch {
		case in != namespace || pod != "db-0":
			return ""
		case number == "3306":
			return port
		}
		return "127.0.0.1:1"
	})
	t.Cleanup(kubelet.Close)
	onNode(t, namespace, kubelet.Listener.Addr(), "db-0", "other")

	conn, err := client.Forward(t.Context(), providers.PodPort{Namespace: namespace, Pod: "db-0", Port: 3306})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 60_000)
	answers := bufio.NewReader(conn)
	for _, line := range []string{"a", long, "c"} {
		if _, err := fmt.Fprintln(conn, line); err != nil {
			t.Fatal(err)
		}
		if got, err := answers.ReadString('\n'); err != nil || got != strings.ToUpper(line)+"\n" {
			t.Errorf("answer of %d bytes, %v", len(got), err)
		}
	}
	if _, err := fmt.Fprintln(conn, "quit"); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(answers); err != nil || len(rest) > 0 {
		t.Errorf("after the end: %q, %v", rest, err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}

	fails := func(pod string, port int, want string) {
		t.Helper()
		conn, err := client.Forward(t.Context(), providers.PodPort{Namespace: namespace, Pod: pod, Port: port})
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
			_ = conn.Close()
		}
		var silent *providers.NoAnswerError
		if !errors.As(err, &silent) || silent.Why != want || silent.Pod != pod {
			t.Errorf("pod %s: error %v, want %q", pod, err, want)
		}
	}
	fails("none", 3306, "it does not exist")
	fails("db-0", 3307, "connection refused")
	fails("other", 3306, "pod does not exist")

	// Close ends a read that waits.
	if conn, err = client.Forward(t.Context(), providers.PodPort{Namespace: namespace, Pod: "db-0", Port: 3306}); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		read <- err
	}()
	_ = conn.Close()
	select {
	case err := <-read:
		if err == nil {
			t.Error("a read of a closed connection succeeds")
		}
	case <-time.After(clustertest.Patience):
		t.Error("a read waits for a closed connection")
	}

	stranger := connectTo(t, alteredKubeconfig(t, func(_ *api.Config, _ *api.Cluster, user *api.AuthInfo) { user.Impersonate = "stranger" }))
	_, err = stranger.Forward(t.Context(), providers.PodPort{Namespace: namespace, Pod: "db-0", Port: 3306})
	var denied *providers.PermissionError
	if !errors.As(err, &denied) || denied.User != "stranger" || denied.Resource != "pods/portforward" || denied.Namespace != namespace {
		t.Errorf("error %v, want a PermissionError", err)
	}
	if n := client.Requests()["portforward"]; n < 5 {
		t.Errorf("%d connections are counted", n)
	}
}

// onNode makes a node with a kubelet, and pods on it.
func onNode(t *testing.T, namespace string, kubelet net.Addr, pods ...string) {
	t.Helper()
	_, port, err := net.SplitHostPort(kubelet.String())
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("{apiVersion: v1, kind: Node, metadata: {name: %s}, spec: {unschedulable: true}}\n", namespace)
	for _, pod := range pods {
		text += fmt.Sprintf("---\n{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: %s}, spec: {nodeName: %[2]s, containers: [{name: db, image: example.org/db}]}}\n", pod, namespace)
	}
	path := filepath.Join(t.TempDir(), "node.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	clustertest.Kubectl(t, "apply", "-f", path)
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "node", namespace) })
	clustertest.Kubectl(t, "patch", "node", namespace, "--subresource=status", "-p",
		fmt.Sprintf(`{"status":{"addresses":[{"type":"InternalDNS","address":"localhost"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":%s}}}}`, port))
}

// TestForwardOverSPDY connects through a server without WebSockets. One that refuses both says why, and one
// that does not answer is left when the context ends.
func TestForwardOverSPDY(t *testing.T) {
	to := providers.PodPort{Namespace: "openstack", Pod: "db-0", Port: 3306}
	port := echo(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/api/v1/namespaces/openstack/pods/db-0/portforward":
			http.Error(w, "asked for "+r.URL.String(), http.StatusNotFound)
		case r.Method == http.MethodGet:
			http.Error(w, "no WebSockets", http.StatusBadRequest)
		default:
			kubelettest.Forward(w, r, func(string) string { return port })
		}
	}))
	t.Cleanup(server.Close)
	conn, err := clientOf(t, server.URL).Forward(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintln(conn, "hello"); err != nil {
		t.Fatal(err)
	}
	if got, err := bufio.NewReader(conn).ReadString('\n'); err != nil || got != "HELLO\n" {
		t.Errorf("%q, %v", got, err)
	}

	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not here", http.StatusBadGateway)
	}))
	t.Cleanup(refusing.Close)
	var silent *providers.NoAnswerError
	if _, err := clientOf(t, refusing.URL).Forward(t.Context(), to); !errors.As(err, &silent) || silent.Why != "not here" {
		t.Errorf("error %v, want that of the server", err)
	}

	never := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-never }))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(never) })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := clientOf(t, hanging.URL).Forward(ctx, to); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
}

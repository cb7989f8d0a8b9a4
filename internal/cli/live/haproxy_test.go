package live_test

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kolla.openstack.org/kolla/internal/cli"
	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// TestHAProxyFollowsTheNodes lets `kolla exposure haproxy -watch` see a node come and go. The test is
// the master process of HAProxy, which refuses the file of the second node.
func TestHAProxyFollowsTheNodes(t *testing.T) {
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	t.Chdir(t.TempDir())
	const config = `cloud "t-watch" {
  release = "2025.1"
}
exposure "public" { vip = "192.0.2.10" }
definition "d" {
  port "api" {
    number    = 80
    expose    = true
    node_port = 30980
  }
  workload "w" {
    kind  = "Deployment"
    image = "d"
    ports = ["api"]
  }
}
service "d" { expose = exposure.public }
`
	if err := os.WriteFile("cloud.hcl", []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	out, stop := watchHAProxy(t, func() string {
		if file, _ := os.ReadFile("haproxy.cfg"); strings.Contains(string(file), "t-refused") {
			return "parsing haproxy.cfg: no good\n"
		}
		return ""
	})
	loads := func(n int) {
		t.Helper()
		clustertest.Eventually(t, "a reload", func() bool { return strings.Count(out.String(), "HAProxy has loaded haproxy.cfg.") >= n })
	}
	file := func(holds func(string) bool) {
		t.Helper()
		clustertest.Eventually(t, "the file of HAProxy", func() bool {
			content, _ := os.ReadFile("haproxy.cfg")
			return holds(string(content))
		})
	}
	node := func(name, address string) {
		clustertest.Kubectl(t, "create", "-f", manifest(t, `{apiVersion: v1, kind: Node, metadata: {name: `+name+`}}`))
		t.Cleanup(func() { clustertest.Kubectl(t, "delete", "node", name, "--ignore-not-found") })
		clustertest.Kubectl(t, "patch", "node", name, "--subresource=status", "--type=merge", "-p", `{"status": {"addresses": [{"type": "InternalIP", "address": "`+address+`"}]}}`)
	}
	file(func(text string) bool { return strings.Contains(text, "192.0.2.10:80") })
	node("t-added", "198.51.100.7")
	file(func(text string) bool { return strings.Contains(text, "server t-added 198.51.100.7:30980") })
	loads(2)
	node("t-refused", "198.51.100.8")
	clustertest.Eventually(t, "a refused file", func() bool { return strings.Contains(out.String(), "no good") })
	file(func(text string) bool {
		return strings.Contains(text, "t-added") && !strings.Contains(text, "t-refused")
	})
	clustertest.Kubectl(t, "delete", "node", "t-refused", "t-added")
	file(func(text string) bool { return !strings.Contains(text, "t-added") })
	loads(3)
	stop()
	if strings.Count(out.String(), "no good") != 1 {
		t.Errorf("the refused file is to be reported once:\n%s", out)
	}
}

// watchHAProxy runs `kolla exposure haproxy -watch` until stop is called. The test is the master
// process of HAProxy: it refuses a reload with the text of refusal, and accepts it with "".
func watchHAProxy(t *testing.T, refusal func() string, args ...string) (out *locked, stop func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "kolla-watch") // the path of a socket may not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "master.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			_, _ = bufio.NewReader(conn).ReadString('\n')
			answer := "Success=1\n--\n"
			if why := refusal(); why != "" {
				answer = "Success=0\n--\n" + why
			}
			_, _ = conn.Write([]byte(answer))
			_ = conn.Close()
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	out = new(locked)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		args := append([]string{"kolla", "exposure", "haproxy", "-watch", "-out=haproxy.cfg", "-master-socket=" + socket, "-no-color"}, args...)
		cli.Run(ctx, args, strings.NewReader(""), out, out)
	}()
	return out, func() { cancel(); <-ended }
}

// manifest writes a manifest to a file.
func manifest(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// locked is a buffer for several goroutines.
type locked struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

package haproxy_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kolla.openstack.org/kolla/providers/haproxy"
)

// TestReload lets a HAProxy load other files. A connection of the old process stays, and a file with a
// mistake changes nothing.
func TestReload(t *testing.T) {
	program := findHAProxy(t)
	dir, port := t.TempDir(), freePort(t, "127.0.0.1")
	file, socket := filepath.Join(dir, "haproxy.cfg"), filepath.Join(dir, "master.sock")
	write := func(answer string) {
		text := fmt.Sprintf("defaults\n  mode http\n  timeout connect 5s\n  timeout client 30s\n  timeout server 5s\nfrontend f\n  bind 127.0.0.1:%d\n  http-request return status 200 content-type text/plain string %s\n", port, answer)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	var log bytes.Buffer
	process := exec.Command(program, "-W", "-S", socket, "-f", file)
	process.Stdout, process.Stderr = &log, &log
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL)
		_ = process.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	address := fmt.Sprintf("127.0.0.1:%d", port)
	ask := func(client *http.Client) string {
		response, err := client.Get("http://" + address)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	answers := func(want string) {
		t.Helper()
		var got string
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if got = ask(client); got == want {
				return
			}
		}
		t.Fatalf("got %q, want %q", got, want)
	}
	answers("one")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) { // the master is ready after the worker
		conn, err := net.Dial("unix", socket)
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}

	old, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	write("two")
	if err := haproxy.Reload(t.Context(), socket); err != nil {
		t.Fatal(err)
	}
	answers("two")
	if _, err := io.WriteString(old, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(old); err != nil || !strings.HasSuffix(string(text), "one") {
		t.Errorf("the old connection got %q, %v", text, err)
	}

	write("three\n  nonsense")
	var refused *haproxy.RefusedError
	if err := haproxy.Reload(t.Context(), socket); !errors.As(err, &refused) || !strings.Contains(refused.Log, "nonsense") {
		t.Errorf("a mistake: %v", err)
	}
	answers("two")
	if err := haproxy.Reload(t.Context(), filepath.Join(dir, "none")); err == nil || errors.As(err, &refused) {
		t.Errorf("without HAProxy: %v", err)
	}
}

package openstack_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// dialEnv has the address that the process of TestConnected connects to.
const dialEnv = "KOLLA_TEST_DIAL"

// TestConnected checks that a probe counts only an established connection of the process itself,
// to the port: no connection of other processes, and no socket whose packets nobody answers.
func TestConnected(t *testing.T) {
	if address := os.Getenv(dialEnv); address != "" {
		connectAndWait(t, address)
		return
	}
	for _, program := range []string{"ss", "pgrep"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("NOT RUN: there is no " + program)
		}
	}
	server, port := fullServer(t)
	name := "kolla-connected-" + port
	probe := func(args ...string) (string, error) {
		return runScript(t, "connected.sh", nil, append([]string{"connected"}, args...)...)
	}

	if out, err := probe(name+"-none", port); err == nil || out != "No process "+name+"-none is connected to port "+port+".\n" {
		t.Errorf("without the process: %q, %v", out, err)
	}
	startClient(t, name, "127.0.0.1:"+port)
	eventually(t, "the first packet is sent", func() bool {
		out, err := exec.Command("ss", "-H", "-n", "-t", "-p", "state", "syn-sent", "dport = :"+port).CombinedOutput()
		return err == nil && len(out) > 0
	})
	if out, err := probe(name, port); err == nil || out != "No process "+name+" is connected to port "+port+".\n" {
		t.Errorf("while nobody answers: %q, %v", out, err)
	}

	go func() {
		for {
			if _, _, err := syscall.Accept(server); err != nil {
				return
			}
		}
	}()
	eventually(t, "the probe passes when the server answers", func() bool {
		_, err := probe(name, port)
		return err == nil
	})
	if out, err := probe(name, port[:len(port)-1]); err == nil {
		t.Errorf("a port that begins with the same digits counts: %q", out)
	}
	if out, err := probe(name+"-other", port); err == nil {
		t.Errorf("a connection of another process counts: %q", out)
	}
}

// connectAndWait is the process that the probe looks at. It ends with its standard input.
func connectAndWait(t *testing.T, address string) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func startClient(t *testing.T, name, address string) {
	t.Helper()
	client := exec.Command(os.Args[0], "-test.run=^TestConnected$", "--", name)
	client.Env = append(os.Environ(), dialEnv+"="+address)
	stdin, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = client.Process.Kill()
		_ = client.Wait()
	})
}

// fullServer returns a listening socket that accepts nothing, and its port. Connections of the test
// fill its queue, so that Linux drops the first packet of each further one.
func fullServer(t *testing.T) (server int, port string) {
	t.Helper()
	server, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(server) })
	if err := syscall.Bind(server, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(server, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(server)
	if err != nil {
		t.Fatal(err)
	}
	port = strconv.Itoa(name.(*syscall.SockaddrInet4).Port)
	for range 8 {
		connection, err := net.DialTimeout("tcp", "127.0.0.1:"+port, 500*time.Millisecond)
		if err != nil {
			return server, port
		}
		t.Cleanup(func() { _ = connection.Close() })
	}
	t.Skip("NOT RUN: the kernel answers more connections than the server has room for")
	return server, port
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatal("timed out: " + what)
}

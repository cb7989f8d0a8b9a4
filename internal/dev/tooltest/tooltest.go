// Package tooltest runs programs of other projects for tests. Modules in internal/dev/tools pin their versions.
package tooltest

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Module is the name of a folder in internal/dev/tools.
type Module string

// Program returns the path of a program of the module. The first time, it builds the program.
func (m Module) Program(t testing.TB, name string) string {
	t.Helper()
	return m.run(t, "tool", "-n", name)
}

// Dir returns the folder with the source of a Go module that the module requires.
func (m Module) Dir(t testing.TB, of string) string {
	t.Helper()
	m.run(t, "mod", "download", of) // go list downloads nothing
	return m.run(t, "list", "-m", "-f", "{{.Dir}}", of)
}

// run runs the go command in the module, and returns its output.
func (m Module) run(t testing.TB, args ...string) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Join(filepath.Dir(string(root)), "internal", "dev", "tools", string(m))
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		_ = errors.As(err, &exit)
		t.Fatalf("go %s in %s: %v\n%s", strings.Join(args, " "), cmd.Dir, err, exit.Stderr)
	}
	return strings.TrimSpace(string(out))
}

// Start starts a program, which ends when stop is called or the test ends. A test that fails shows its output.
func Start(t testing.TB, cmd *exec.Cmd) (stop func()) {
	t.Helper()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		err := <-ended
		if t.Failed() {
			t.Logf("%s: %v\n%s", cmd, err, log.String())
		}
	})
	t.Cleanup(stop)
	select {
	case err := <-ended:
		ended <- err
		t.Fatalf("%s ended at once", cmd)
	case <-time.After(time.Second):
	}
	return stop
}

// Manifest writes a manifest to a file, and returns its path.
func Manifest(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// FreePort returns a port of an address at which nobody listens.
func FreePort(t testing.TB, address string) int {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

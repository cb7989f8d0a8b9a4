package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// binary is the program that the tests run.
var binary string

func TestMain(m *testing.M) {
	if name := os.Getenv(lookupVariable); name != "" {
		lookup(name)
		return
	}
	if address := os.Getenv(peerVariable); address != "" {
		if err := peer(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code, err := testMain(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// testMain builds the program unless KOLLA_DEVCLUSTER names one.
func testMain(m *testing.M) (int, error) {
	binary = os.Getenv("KOLLA_DEVCLUSTER")
	if binary != "" {
		return m.Run(), nil
	}
	folder, err := os.MkdirTemp("", "devcluster")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	binary = filepath.Join(folder, "kolla-devcluster")
	ldflags, err := os.ReadFile("../ldflags")
	if err != nil {
		return 0, err
	}
	build := exec.Command("go", "build", "-ldflags", string(ldflags), "-o", binary, "..")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return 0, fmt.Errorf("build %s: %w", binary, err)
	}
	return m.Run(), nil
}

// patience limits the time that a test waits. Most waits take seconds on an idle machine. The limit
// ends a test that would hang; it is no measure of speed.
const patience = 4 * time.Minute

// result is the result of a finished command.
type result struct {
	stdout, stderr string
	code           int
}

func run(t *testing.T, args ...string) result {
	t.Helper()
	return runInput(t, "", args...)
}

func runInput(t *testing.T, input string, args ...string) result {
	t.Helper()
	// The context of the test has already ended when cleanups run.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stdin = strings.NewReader(input)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %v: %v", args, err)
	}
	return result{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
}

// must fails the test if the exit code is not 0, and returns the standard output.
func must(t *testing.T, r result) string {
	t.Helper()
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// devcluster is a cluster under test.
type devcluster struct{ dir string }

// up starts the cluster in the background.
func (c devcluster) up(t *testing.T, flags ...string) {
	t.Helper()
	must(t, run(t, append([]string{"up", "-dir", c.dir, "-detach"}, flags...)...))
}

func (c devcluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return must(t, run(t, append([]string{"kubectl", "-dir", c.dir}, args...)...))
}

func (c devcluster) apply(t *testing.T, manifest string) {
	t.Helper()
	must(t, runInput(t, manifest, "kubectl", "-dir", c.dir, "apply", "-f", "-"))
}

// wait runs kubectl wait.
func (c devcluster) wait(t *testing.T, condition string, objects ...string) {
	t.Helper()
	c.kubectl(t, append([]string{"wait", "--timeout=" + patience.String(), "--for=" + condition}, objects...)...)
}

// get reads one value by a JSONPath expression.
func (c devcluster) get(t *testing.T, path string, objects ...string) string {
	t.Helper()
	return c.kubectl(t, append([]string{"get", "-o", "jsonpath=" + path}, objects...)...)
}

// info is the part of status -json that the tests read.
type info struct {
	Running    bool
	Ready      bool
	URL        string
	Kubeconfig string
	PID        int
	Components []struct {
		Name     string
		PID      int
		Restarts int
	}
	Nodes []struct {
		Name  string
		Ready bool
	}
	Versions map[string]string
}

func (c devcluster) status(t *testing.T) (info, int) {
	t.Helper()
	r := run(t, "status", "-json", "-dir", c.dir)
	var found info
	if err := json.Unmarshal([]byte(r.stdout), &found); err != nil {
		t.Fatalf("read status: %v\n%s%s", err, r.stdout, r.stderr)
	}
	return found, r.code
}

func (i info) pids() []int {
	pids := []int{i.PID}
	for _, c := range i.Components {
		pids = append(pids, c.PID)
	}
	return pids
}

func (i info) pid(t *testing.T, component string) int {
	t.Helper()
	for _, c := range i.Components {
		if c.Name == component {
			return c.PID
		}
	}
	t.Fatalf("no component %s in %+v", component, i)
	return 0
}

// gone waits until all processes have ended.
func gone(t *testing.T, pids ...int) {
	t.Helper()
	eventually(t, func() error { return goneNow(pids...) })
}

// goneNow returns an error if one of the processes runs.
func goneNow(pids ...int) error {
	for _, pid := range pids {
		if ours(pid) {
			return fmt.Errorf("process %d still runs", pid)
		}
	}
	return nil
}

// ours reports whether pid is a live process of the program.
func ours(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.Contains(string(line), "kolla-devcluster")
}

// eventually repeats a check until it returns no error.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// end stops a cluster in any state, and fails the test if processes are left.
func (c devcluster) end(t *testing.T) {
	t.Helper()
	found, _ := c.status(t)
	run(t, "down", "-dir", c.dir)
	for _, pid := range found.pids() {
		if pid > 0 && ours(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Errorf("process %d was still running at the end", pid)
		}
	}
}

// untilEOF starts a cluster that stops when the returned pipe is closed.
func (c devcluster) untilEOF(t *testing.T, flags ...string) (io.WriteCloser, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"up", "-dir", c.dir, "-until-eof"}, flags...)...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return stdin, cmd
}

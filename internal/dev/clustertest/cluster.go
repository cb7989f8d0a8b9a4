package clustertest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	// BinaryVariable is the environment variable with the path of the program that runs local
	// clusters.
	BinaryVariable = "KOLLA_DEVCLUSTER"

	// These limits end a test that hangs, and are no measure of speed.

	startTimeout = 5 * time.Minute
	stopTimeout  = 5 * time.Minute
	// commandTimeout is the limit of one kubectl command, or of the restart of a component. It
	// is longer than any --timeout that a test gives to kubectl.
	commandTimeout = 15 * time.Minute
)

// Cluster is a cluster for tests.
type Cluster struct {
	dir        string // directory of the local cluster's files
	kubeconfig string
	audit      string // path of the audit log; empty if there is none

	// These fields are set if this process started the cluster. The cluster's process ends when
	// its standard input is closed, so that it also ends if the tests are killed.
	process *exec.Cmd
	input   io.Closer
	ended   chan error
}

// Start starts a cluster of one node for a test that damages it, and stops it when the test
// ends.
func Start(t testing.TB) *Cluster {
	t.Helper()
	c, err := start("-nodes=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// StartReal starts a cluster of real nodes, real-1 and so on, and stops it when the test ends.
// It needs root. flags are further options of kolla-devcluster up.
func StartReal(t testing.TB, nodes int, flags ...string) *Cluster {
	t.Helper()
	c, err := start(append([]string{fmt.Sprintf("-real=%d", nodes)}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Running returns the cluster that another program started in a directory. It is not stopped with the
// test.
func Running(dir string) (*Cluster, error) {
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if _, err := os.Stat(kubeconfig); err != nil {
		return nil, fmt.Errorf("no cluster runs in %s: %w", dir, err)
	}
	return &Cluster{dir: dir, kubeconfig: kubeconfig}, nil
}

// Outside returns a command that runs argv as a machine outside of a cluster of real nodes,
// with an address in their network. The command's file system is the folder root. Its /mnt is
// the command's working directory.
func (c *Cluster) Outside(ctx context.Context, address, root string, argv ...string) (*exec.Cmd, error) {
	binary, err := findBinary()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, binary, append([]string{"outside", "-dir", c.dir, "-address", address, "-root", root}, argv...)...), nil
}

// OnProvider is Outside for a machine that is also in the provider network.
func (c *Cluster) OnProvider(ctx context.Context, address, provider, root string, argv ...string) (*exec.Cmd, error) {
	return c.Outside(ctx, address, root, append([]string{"-provider", provider}, argv...)...)
}

// Dir returns the folder with the cluster's files.
func (c *Cluster) Dir() string { return c.dir }

// Kubeconfig returns the path of the cluster's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.kubeconfig }

// Kubectl runs kubectl against the cluster and returns its output. It fails the test if kubectl
// fails.
func (c *Cluster) Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	return c.run(t, append([]string{"kubectl", "-dir", c.dir, "--kubeconfig", c.kubeconfig}, args...)...)
}

// Restart kills one component, such as "kube-apiserver", and returns when the component runs
// again.
func (c *Cluster) Restart(t testing.TB, component string) {
	t.Helper()
	c.run(t, "restart", "-dir", c.dir, component)
}

// CutPower cuts the power of a real node. Restart turns it on again.
func (c *Cluster) CutPower(t testing.TB, node string) {
	t.Helper()
	c.run(t, "off", "-dir", c.dir, node)
}

func (c *Cluster) run(t testing.TB, args ...string) string {
	t.Helper()
	binary, err := findBinary()
	if err != nil {
		t.Fatal(err)
	}
	var out, complaints bytes.Buffer
	// Cleanup functions of tests also use this, when the test's context has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), commandTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, binary, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "GOGC=off")
	command.Stdout, command.Stderr = &out, &complaints
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out.String(), complaints.String())
	}
	return out.String()
}

// start starts a cluster in a temporary directory, and waits until it is ready.
func start(flags ...string) (*Cluster, error) {
	binary, err := findBinary()
	if err != nil {
		return nil, err
	}
	parent, err := os.MkdirTemp("", "kolla-cluster-")
	if err != nil {
		return nil, fmt.Errorf("start a local cluster: %w", err)
	}
	dir := filepath.Join(parent, "cluster")
	process := exec.Command(binary, append([]string{"up", "-dir", dir, "-until-eof", "-delete"}, flags...)...)
	process.Env = append(os.Environ(), "GOGC=400") // a tenth less of the processor, for more memory
	input, err := process.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start a local cluster: %w", err)
	}
	progress, err := process.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start a local cluster: %w", err)
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start a local cluster: %w", err)
	}
	c := &Cluster{dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig"), process: process, input: input, ended: make(chan error, 1)}
	if audit := filepath.Join(dir, "audit.log"); strings.Contains(strings.Join(flags, " "), "-audit") {
		c.audit = audit
	}
	if err := c.awaitReady(progress); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// awaitReady reads the progress of the cluster until the cluster reports that it is ready. A
// goroutine continues to read, so that the cluster never blocks on a full pipe.
func (c *Cluster) awaitReady(progress io.Reader) error {
	ready := make(chan struct{})
	var said []string
	go func() {
		lines := bufio.NewScanner(progress)
		isReady := false
		for lines.Scan() {
			if !isReady && strings.HasPrefix(lines.Text(), "cluster ready") {
				isReady = true
				close(ready)
				continue
			}
			said = append(said, lines.Text())
		}
		err := c.process.Wait()
		if err != nil {
			err = fmt.Errorf("%w:\n%s", err, strings.Join(said, "\n"))
		}
		c.ended <- err
		close(c.ended)
	}()
	select {
	case <-ready:
		return nil
	case err := <-c.ended:
		return fmt.Errorf("the local cluster did not start: %w", err)
	case <-time.After(startTimeout):
		return fmt.Errorf("the local cluster is not ready after %s; its logs are in %s", startTimeout, filepath.Join(c.dir, "logs"))
	}
}

// stop stops a cluster that this process started, and removes its files.
func (c *Cluster) stop() error {
	if c.process == nil {
		return nil
	}
	if err := c.input.Close(); err != nil {
		return fmt.Errorf("tell the local cluster to stop: %w", err)
	}
	select {
	case err := <-c.ended:
		if err != nil {
			return fmt.Errorf("stop the local cluster: %w", err)
		}
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("the local cluster did not stop within %s", stopTimeout), c.process.Process.Kill())
	}
	if err := os.RemoveAll(filepath.Dir(c.dir)); err != nil {
		return fmt.Errorf("remove the local cluster: %w", err)
	}
	return nil
}

// findBinary returns the path of the program that runs local clusters.
func findBinary() (string, error) {
	if path := os.Getenv(BinaryVariable); path != "" {
		return path, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "bin", "kolla-devcluster")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("there is no %s: build the local cluster first: make devcluster", path)
	}
	return path, nil
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("find the module: there is no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}

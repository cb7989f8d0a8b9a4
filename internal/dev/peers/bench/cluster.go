package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// cluster is a local cluster of one simulated node.
type cluster struct {
	binary, dir, home string
	kubeconfig, audit string
	process           *exec.Cmd
	input             io.Closer
}

// startCluster starts a cluster in a new folder. The cluster ends when its standard input
// ends, even after a kill of this program.
func startCluster(ctx context.Context, binary, parent string) (*cluster, error) {
	dir := filepath.Join(parent, "cluster")
	c := &cluster{
		binary: binary, dir: dir, home: parent,
		kubeconfig: filepath.Join(dir, "kubeconfig"), audit: filepath.Join(dir, "audit.log"),
		process: exec.Command(binary, "up", "-dir", dir, "-nodes=1", "-audit", "-until-eof"),
	}
	var err error
	if c.input, err = c.process.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start the cluster: %w", err)
	}
	progress, err := c.process.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start the cluster: %w", err)
	}
	if err := c.process.Start(); err != nil {
		return nil, fmt.Errorf("start the cluster: %w", err)
	}
	ready := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(progress)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "cluster ready") {
				ready <- true
			}
		}
		ready <- false
	}()
	select {
	case ok := <-ready:
		if ok {
			return c, nil
		}
		err = errors.New("it ended")
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(2 * time.Minute):
		err = errors.New("it is not ready after two minutes")
	}
	return nil, errors.Join(fmt.Errorf("start the cluster: %w", err), c.stop())
}

func (c *cluster) stop() error {
	if err := c.input.Close(); err != nil {
		return fmt.Errorf("stop the cluster: %w", err)
	}
	if err := c.process.Wait(); err != nil {
		return fmt.Errorf("stop the cluster: %w", err)
	}
	return nil
}

// makeNamespace creates the namespace for tools that do not create it themselves.
func (c *cluster) makeNamespace(ctx context.Context, name string) error {
	process := exec.CommandContext(ctx, c.binary, "kubectl", "-dir", c.dir, "create", "namespace", name)
	if said, err := process.CombinedOutput(); err != nil {
		return fmt.Errorf("make namespace %s: %w: %s", name, err, said)
	}
	return nil
}

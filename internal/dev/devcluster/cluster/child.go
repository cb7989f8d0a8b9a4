package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kolla.openstack.org/kolla/internal/dev/devcluster/lifeline"
)

// self is this program, even after its file was replaced.
const self = "/proc/self/exe"

// child is a component that the supervisor keeps running.
type child struct {
	name string
	// program runs with args and, if there are any, in namespaces of its own.
	program    string
	args       []string
	namespaces uintptr
	// stage is the order of stopping: a component that others need has a higher stage.
	stage int
	dir   Dir
	alive *os.File // the read end of the supervisor's lifeline

	// changed is called after each start of the component.
	changed func()
	// ended is called each time it ended without a stop.
	ended func(c *child, how string)

	stopping chan struct{}
	done     chan struct{}
	state    childState
}

// childState is the state that other goroutines read; the supervisor's lock guards it.
type childState struct {
	process  Process
	started  bool
	restarts int
}

// run starts the component, and again whenever it ends, until stop.
// The lock guards c.state.
func (c *child) run(lock func(func())) {
	defer close(c.done)
	const firstPause, maxPause = 200 * time.Millisecond, 5 * time.Second
	pause := firstPause
	for {
		c.awaitPower()
		began := time.Now()
		how := c.once(lock)
		select {
		case <-c.stopping:
			return
		default:
		}
		c.ended(c, how)
		if time.Since(began) > 10*time.Second {
			pause = firstPause
		}
		select {
		case <-c.stopping:
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

// awaitPower waits until the component is switched on, or stopped. Only real nodes
// are ever off.
func (c *child) awaitPower() {
	for {
		if _, err := os.Stat(c.dir.offFile(c.name)); err != nil {
			return
		}
		select {
		case <-c.stopping:
			return
		case <-time.After(pollInterval):
		}
	}
}

// offFile exists while a real node is switched off.
func (d Dir) offFile(name string) string { return d.join(runFolder, name+".off") }

// once runs the component to its end and returns the reason.
func (c *child) once(lock func(func())) string {
	log, err := os.OpenFile(c.dir.Log(c.name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err.Error()
	}
	defer log.Close()
	cmd := exec.Command(c.program, c.args...)
	if c.program == self {
		cmd.Args[0] = "kolla-devcluster"
	}
	cmd.Dir = c.dir.join(runFolder)
	cmd.Stdout, cmd.Stderr = log, log
	lifeline.Give(cmd, c.alive)
	// Its own process group: an interrupt typed at the supervisor's terminal is
	// for the supervisor alone, which then stops the components in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Cloneflags: c.namespaces}
	lock(func() { err = c.begin(cmd) })
	if err != nil {
		return err.Error()
	}
	c.changed()
	if err := cmd.Wait(); err != nil {
		return err.Error()
	}
	return "exit status 0"
}

// begin starts the process unless the component is being stopped. Both happen
// under the lock, so that no process is started that stop does not know of.
func (c *child) begin(cmd *exec.Cmd) error {
	select {
	case <-c.stopping:
		return errors.New("stopped before it was started")
	default:
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	process, err := identify(cmd.Process.Pid)
	if err != nil {
		_ = cmd.Process.Kill()
		return errors.Join(err, cmd.Wait())
	}
	if c.state.started {
		c.state.restarts++
	}
	c.state.started = true
	c.state.process = process
	return nil
}

// stop asks the component to end, and kills it if it does not.
func (c *child) stop(process Process, grace time.Duration) error {
	if err := process.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-time.After(grace):
	}
	if err := process.signal(syscall.SIGKILL); err != nil {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-time.After(grace):
		return fmt.Errorf("stop %s: process %d does not end", c.name, process.PID)
	}
}

// logTail returns the end of a component's log, for errors.
func (d Dir) logTail(component string, lines int) string {
	data, err := os.ReadFile(d.Log(component))
	if err != nil {
		return ""
	}
	all := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return strings.Join(all, "\n")
}

// removeOldFiles removes the sockets that a killed etcd leaves behind and would
// trip over, and switches nodes on that were off.
func (d Dir) removeOldFiles() error {
	for _, pattern := range []string{"*.sock", "*.off"} {
		files, err := filepath.Glob(d.join(runFolder, pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("remove file of an earlier run: %w", err)
			}
		}
	}
	return nil
}

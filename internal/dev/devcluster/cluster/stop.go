package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// Stop ends the cluster of a directory, also if another process started it, and waits until no
// process of it runs. It reports whether any process ran.
func Stop(dir Dir) (stopped bool, err error) {
	if _, err := dir.readMarker(); err != nil {
		return false, err
	}
	record, err := dir.awaitRecord()
	if err != nil {
		return false, err
	}
	if record.Supervisor.Alive() {
		stopped = true
		if err := record.Supervisor.signal(syscall.SIGTERM); err != nil {
			return false, fmt.Errorf("stop cluster: %w", err)
		}
		const patience = 30 * time.Second
		if len(waitGone(patience, record.Supervisor)) > 0 {
			if err := record.Supervisor.signal(syscall.SIGKILL); err != nil {
				return false, fmt.Errorf("stop cluster: %w", err)
			}
			waitGone(patience, record.Supervisor)
		}
	}
	left, err := dir.leftovers()
	if err != nil {
		return stopped, err
	}
	if err := dir.endLeftovers(); err != nil {
		return stopped, err
	}
	return stopped || left, dir.removeRecord()
}

// Delete removes a stopped cluster with all its data.
func Delete(dir Dir) error {
	if _, err := os.Stat(dir.join(markerFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete %s: %w (it has no %s)", dir, ErrNoCluster, markerFile)
		}
		return fmt.Errorf("delete %s: %w", dir, err)
	}
	if err := os.RemoveAll(string(dir)); err != nil {
		return fmt.Errorf("delete cluster: %w", err)
	}
	return nil
}

// Off cuts the power of a real node: all that runs on it is killed. It stays off
// until Restart, or until the cluster is started again.
func Off(dir Dir, name string) error {
	record, err := dir.running()
	if err != nil {
		return err
	}
	found, ok := record.find(name)
	if _, err := os.Stat(dir.join(machinesFolder, name)); !ok || err != nil {
		return fmt.Errorf("switch off %s: there is no real node of that name", name)
	}
	if err := os.WriteFile(dir.offFile(name), nil, 0o600); err != nil {
		return fmt.Errorf("switch off %s: %w", name, err)
	}
	if err := found.Process.signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("switch off %s: %w", name, err)
	}
	const patience = 30 * time.Second
	if len(waitGone(patience, found.Process)) > 0 {
		return fmt.Errorf("switch off %s: process %d does not end", name, found.Process.PID)
	}
	return nil
}

// Restart kills a component, as a failure would, and waits until the supervisor
// has started it again and the API server answers. It switches a real node on that
// is off.
func Restart(ctx context.Context, dir Dir, name string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	record, err := dir.running()
	if err != nil {
		return err
	}
	before, ok := record.find(name)
	if !ok && !record.Ready {
		return fmt.Errorf("restart %s: the cluster is still starting; try again when it is ready", name)
	}
	if !ok {
		return fmt.Errorf("restart: there is no component %q; there are %s", name, strings.Join(record.names(), ", "))
	}
	name = before.Name
	if err := os.Remove(dir.offFile(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("restart %s: switch it on: %w", name, err)
	}
	if err := before.Process.signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("restart %s: %w", name, err)
	}
	err = poll(ctx, func(context.Context) error {
		record, err := dir.readRecord()
		if err != nil {
			return err
		}
		now, ok := record.find(name)
		if !ok || now.Process == before.Process || !now.Process.Alive() {
			return errors.New("it was not started again yet")
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("restart %s: %w", name, err)
	}
	w, err := newWaiter(dir.Kubeconfig())
	if err != nil {
		return err
	}
	if err := w.apiServerReady(ctx); err != nil {
		return fmt.Errorf("restart %s: API server does not answer: %w", name, err)
	}
	return nil
}

// running returns the record of a cluster that runs now.
func (d Dir) running() (Record, error) {
	if _, err := d.readMarker(); err != nil {
		return Record{}, err
	}
	record, err := d.awaitRecord()
	if err != nil {
		return Record{}, err
	}
	if !record.Supervisor.Alive() {
		return Record{}, fmt.Errorf("use cluster in %s: %w; start it with: kolla-devcluster up -dir %s", d, ErrNotRunning, d)
	}
	return record, nil
}

// ErrNotRunning means that a cluster is there but stopped.
var ErrNotRunning = errors.New("it is not running")

// alreadyRunning returns the error for a second start.
func (d Dir) alreadyRunning() error {
	record, err := d.awaitRecord()
	if err != nil {
		return err
	}
	if !record.Supervisor.Alive() {
		return fmt.Errorf("start cluster: another process is using %s; try again", d)
	}
	return fmt.Errorf("start cluster: the one in %s is already running (process %d, %s); stop it with: kolla-devcluster down -dir %s",
		d, record.Supervisor.PID, record.URL, d)
}

// awaitRecord reads the record, and waits for it for a moment when another
// process has just taken the directory and is about to write it.
func (d Dir) awaitRecord() (Record, error) {
	deadline := time.Now().Add(5 * time.Second)
	for {
		record, err := d.readRecord()
		if err != nil || record.Supervisor.Alive() || time.Now().After(deadline) {
			return record, err
		}
		held, free, err := d.lock()
		if err != nil {
			return record, err
		}
		if free {
			held.Close()
			return d.readRecord()
		}
		time.Sleep(pollInterval)
	}
}

// leftovers reports whether a component has outlived its supervisor.
func (d Dir) leftovers() (bool, error) {
	record, err := d.readRecord()
	if err != nil {
		return false, err
	}
	for _, c := range record.Components {
		if c.Process.Alive() {
			return true, nil
		}
	}
	return false, nil
}

// endLeftovers ends components that have outlived their supervisor. Components that do not
// hang end by themselves.
func (d Dir) endLeftovers() error {
	record, err := d.readRecord()
	if err != nil {
		// A half-written record belongs to processes that ended with their supervisor.
		return errors.Join(d.removeRecord(), d.removeOldCgroups())
	}
	const patience = 10 * time.Second
	var left []Process
	for _, c := range record.Components {
		left = append(left, c.Process)
	}
	if left = waitGone(500*time.Millisecond, left...); len(left) == 0 {
		return d.removeOldCgroups()
	}
	for _, process := range left {
		if err := process.signal(syscall.SIGKILL); err != nil {
			return fmt.Errorf("end component of an earlier run: %w", err)
		}
	}
	if left = waitGone(patience, left...); len(left) > 0 {
		return fmt.Errorf("end component of an earlier run: process %d does not end", left[0].PID)
	}
	return d.removeOldCgroups()
}

// CheckRunning explains why a cluster cannot be used, if it does not run.
func CheckRunning(dir Dir) error {
	_, err := dir.running()
	return err
}

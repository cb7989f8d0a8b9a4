// Package cluster starts, watches over and stops one cluster: a supervisor
// process with a child process for each component, all of whose files are in
// one directory.
package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Dir is the directory of a cluster, as an absolute path.
type Dir string

// The files of a directory. All keys are in a folder that only the owner may enter.
const (
	markerFile     = "devcluster.json"
	lockFile       = "lock"
	kubeconfigFile = "kubeconfig"
	auditFile      = "audit.log"
	runFolder      = "run"
	pkiFolder      = "pki"
	logsFolder     = "logs"
	etcdFolder     = "etcd"
	machinesFolder = "machines"
)

// supervisorName is the name of a detached supervisor's log.
const supervisorName = "supervisor"

// Abs converts a path from the user to a Dir.
func Abs(path string) (Dir, error) {
	if path == "" {
		return "", errors.New("no cluster directory given; name one with -dir DIR")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find cluster directory %s: %w", path, err)
	}
	if strings.Contains(abs, ":") {
		return "", fmt.Errorf("%s cannot be a cluster directory: a colon separates the files in KUBECONFIG", abs)
	}
	return Dir(abs), nil
}

func (d Dir) join(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}

// Kubeconfig returns the path of the administrator's kubeconfig.
func (d Dir) Kubeconfig() string { return d.join(kubeconfigFile) }

// Log returns the path of a component's log.
func (d Dir) Log(component string) string { return d.join(logsFolder, component+".log") }

// AuditLog returns the path of the API server's audit log, which exists when the
// cluster was started with auditing.
func (d Dir) AuditLog() string { return d.join(auditFile) }

// marker is the content of the file that says that a directory is a cluster's.
// It also keeps what must stay the same from one start to the next.
type marker struct {
	Format int   `json:"format"`
	Ports  ports `json:"ports"`
}

const markerFormat = 1

// prepare makes the directory, or recognizes one made earlier.
func (d Dir) prepare() error {
	entries, err := os.ReadDir(string(d))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("use %s as cluster directory: it is not a directory", d)
		}
		return fmt.Errorf("use %s as cluster directory: %w", d, err)
	}
	if len(entries) > 0 {
		if _, err := d.readMarker(); err != nil {
			return err
		}
	} else if err := d.create(); err != nil {
		return err
	}
	for _, folder := range []string{runFolder, logsFolder, etcdFolder} {
		if err := os.MkdirAll(d.join(folder), 0o700); err != nil {
			return fmt.Errorf("use %s as cluster directory: %w", d, err)
		}
	}
	return nil
}

func (d Dir) create() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("make cluster directory: %w", err)
	}
	if err := d.writeMarker(marker{Format: markerFormat}); err != nil {
		return fmt.Errorf("make cluster directory: %w", err)
	}
	return nil
}

// ErrNoCluster means that a directory holds no cluster.
var ErrNoCluster = errors.New("no cluster there")

func (d Dir) readMarker() (marker, error) {
	var m marker
	data, err := os.ReadFile(d.join(markerFile))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return m, fmt.Errorf("use %s as cluster directory: %w (it has no %s); name a new or empty directory to start one",
			d, ErrNoCluster, markerFile)
	case err != nil:
		return m, fmt.Errorf("use %s as cluster directory: %w", d, err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("read %s: %w; delete the cluster and start a new one", d.join(markerFile), err)
	}
	if m.Format != markerFormat {
		return m, fmt.Errorf("read %s: its format is %d and this program knows %d; use the program that made it, or delete the cluster and start a new one",
			d.join(markerFile), m.Format, markerFormat)
	}
	return m, nil
}

func (d Dir) writeMarker(m marker) error { return writeJSON(d.join(markerFile), m) }

// lock locks the directory for the calling process. The kernel releases it when the process
// ends. ok is false if another process has it.
func (d Dir) lock() (held *os.File, ok bool, err error) {
	file, err := os.OpenFile(d.join(lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("lock cluster directory: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		file.Close()
		return nil, false, nil
	case err != nil:
		file.Close()
		return nil, false, fmt.Errorf("lock cluster directory: %w", err)
	}
	return file, true, nil
}

// take locks the directory for a supervisor. Others hold the lock for a moment
// to see whether there is one, so a held lock means little at first.
func (d Dir) take() (*os.File, error) {
	for range 20 {
		held, ok, err := d.lock()
		if err != nil || ok {
			return held, err
		}
		if record, err := d.readRecord(); err == nil && record.Supervisor.Alive() {
			break
		}
		time.Sleep(pollInterval)
	}
	return nil, d.alreadyRunning()
}

// rotateLogs puts the logs of the run before aside, so that a log is about one
// run and the one before can still be read.
func (d Dir) rotateLogs() error {
	logs, err := filepath.Glob(d.join(logsFolder, "*.log"))
	if err != nil {
		return fmt.Errorf("put old logs aside: %w", err)
	}
	for _, log := range logs {
		// Its owner writes it already, and begins it anew.
		if log == d.Log(supervisorName) {
			continue
		}
		if err := os.Rename(log, log+".old"); err != nil {
			return fmt.Errorf("put old logs aside: %w", err)
		}
	}
	return nil
}

// writeFile replaces a file at once, so that nobody reads half of it. It does
// not wait for the disk: a cluster has to outlive a killed process, not a
// power cut.
func writeFile(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(path, append(data, '\n'))
}

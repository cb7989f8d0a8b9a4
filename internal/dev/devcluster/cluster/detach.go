package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// ProgressFD is the descriptor on which a detached supervisor reports to the
// process that started it. It closes it when the cluster is ready.
const ProgressFD = 3

// Detach starts this program with args, in a session of its own, and passes on
// the lines that it writes to ProgressFD. It returns when the cluster is ready
// or has failed to be. The started program goes on after that. The options are
// the ones that args ask for.
func Detach(ctx context.Context, options Options, args []string) error {
	dir := options.Dir
	if err := options.Real.check(options.Nodes); err != nil {
		return err
	}
	if err := dir.prepare(); err != nil {
		return err
	}
	// The supervisor takes the lock again; here it only makes for a quick error.
	held, err := dir.take()
	if err != nil {
		return err
	}
	held.Close()

	lines, cmd, err := startDetached(dir, args)
	if err != nil {
		return fmt.Errorf("start supervisor: %w", err)
	}
	defer lines.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	read := make(chan struct{})
	go func() {
		defer close(read)
		for scanner := bufio.NewScanner(lines); scanner.Scan(); {
			options.Progress(scanner.Text())
		}
	}()
	select {
	case <-read:
	case <-ctx.Done():
		// Nobody waits for this cluster any more, so it is not left behind.
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		return errors.New("start cluster: interrupted; nothing is left running")
	}
	record, err := dir.readRecord()
	if err == nil && record.Ready && record.Supervisor.PID == cmd.Process.Pid {
		return nil
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
	}
	return errors.New("start cluster: it did not become ready; see the logs in " + dir.join(logsFolder))
}

func startDetached(dir Dir, args []string) (*os.File, *exec.Cmd, error) {
	log, err := os.OpenFile(dir.Log(supervisorName), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	lines, reports, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer reports.Close()
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "kolla-devcluster"
	// A directory that is going to stay, so that none is held that is not.
	cmd.Dir = string(dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{reports}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, nil, errors.Join(err, lines.Close())
	}
	return lines, cmd, nil
}

// Usage tells a user what to do with a cluster that is ready.
func Usage(dir Dir) string {
	return strings.Join([]string{
		"  export KUBECONFIG=" + dir.Kubeconfig(),
		"  kolla-devcluster kubectl -dir " + string(dir) + " get nodes",
		"  kolla-devcluster down -dir " + string(dir),
	}, "\n")
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// cost is the cost of one run of a program.
type cost struct {
	wall     time.Duration
	written  time.Duration // until the last write was answered; zero: nothing was written
	cpu      time.Duration // of the program, in user and kernel mode
	peak     int64         // bytes of memory at most
	requests map[string]int
	err      error // the program failed; the other fields are meaningless
}

// verbs are the verbs of requests, in the order of the report.
var verbs = []string{"discovery", "get", "list", "watch", "dry-run", "create", "patch", "update", "delete"}

// writing are the verbs that change the cluster.
var writing = []string{"create", "patch", "update", "delete"}

// measure runs a command, and reads its requests from the audit log.
func (c *cluster) measure(ctx context.Context, cmd command) cost {
	from, err := os.Stat(c.audit)
	if err != nil {
		return cost{err: err}
	}
	var output bytes.Buffer
	process := exec.CommandContext(ctx, cmd.argv[0], cmd.argv[1:]...)
	process.Dir = cmd.dir
	process.Env = append(append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "HOME="+c.home), cmd.env...)
	process.Stdout, process.Stderr = &output, &output
	start := time.Now()
	err = process.Run()
	spent := cost{wall: time.Since(start)}
	if err != nil && process.ProcessState.ExitCode() != cmd.code {
		said := strings.TrimSpace(output.String())
		spent.err = fmt.Errorf("%s: %w: %s", strings.Join(cmd.argv, " "), err, said[max(0, len(said)-600):])
		return spent
	}
	usage := process.ProcessState.SysUsage().(*syscall.Rusage)
	spent.cpu = process.ProcessState.UserTime() + process.ProcessState.SystemTime()
	spent.peak = usage.Maxrss * 1024
	var last time.Time
	if spent.requests, last, spent.err = c.requests(from.Size(), cmd.agent); !last.IsZero() {
		spent.written = last.Sub(start)
	}
	return spent
}

// requests counts the requests of the user agent by verb, from an offset in the audit log, and returns
// the time of the last answer to a write.
func (c *cluster) requests(from int64, agent string) (counts map[string]int, last time.Time, err error) {
	time.Sleep(300 * time.Millisecond) // the log is written as the answers go out
	file, err := os.Open(c.audit)
	if err != nil {
		return nil, last, fmt.Errorf("read the audit log: %w", err)
	}
	defer file.Close()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, last, fmt.Errorf("read the audit log: %w", err)
	}
	counts = map[string]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb, RequestURI, UserAgent string
			ObjectRef                   *struct{ Resource string }
			StageTimestamp              time.Time
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, last, fmt.Errorf("read the audit log: %w", err)
		}
		if !strings.HasPrefix(event.UserAgent, agent+"/") {
			continue
		}
		verb := event.Verb
		switch {
		case event.ObjectRef == nil:
			verb = "discovery"
		case strings.Contains(event.RequestURI, "dryRun=All"):
			verb = "dry-run"
		}
		if slices.Contains(writing, verb) && event.StageTimestamp.After(last) {
			last = event.StageTimestamp
		}
		counts[verb]++
	}
	return counts, last, lines.Err()
}

// settle waits until the cluster's own controllers are almost idle.
func (c *cluster) settle(ctx context.Context) error {
	const quiet = 30 << 10 // bytes of audit log in a second
	before := int64(-1)
	for range 180 {
		info, err := os.Stat(c.audit)
		if err != nil {
			return fmt.Errorf("wait for the cluster: %w", err)
		}
		if before >= 0 && info.Size()-before < quiet {
			return nil
		}
		before = info.Size()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return nil
}

// median returns the run with the median wall time; failures come first.
func median(costs []cost) cost {
	if len(costs) == 0 {
		return cost{}
	}
	costs = slices.Clone(costs)
	if i := slices.IndexFunc(costs, func(c cost) bool { return c.err != nil }); i >= 0 {
		return costs[i]
	}
	slices.SortFunc(costs, func(a, b cost) int { return int(a.wall - b.wall) })
	return costs[len(costs)/2]
}

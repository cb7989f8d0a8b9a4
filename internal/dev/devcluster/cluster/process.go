package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process identifies a process beyond its id, which the kernel gives to
// another one sooner or later.
type Process struct {
	PID int `json:"pid"`
	// Start is when it was started, in clock ticks since the machine was.
	Start uint64 `json:"start"`
	// Boot tells one start of the machine from the next.
	Boot string `json:"boot"`
}

// identify returns the process that currently has the id pid.
func identify(pid int) (Process, error) {
	_, start, err := readStat(pid)
	if err != nil {
		return Process{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return Process{PID: pid, Start: start, Boot: bootID()}, nil
}

// Alive reports whether this very process still runs.
func (p Process) Alive() bool {
	if p.PID <= 0 || p.Boot != bootID() {
		return false
	}
	state, start, err := readStat(p.PID)
	return err == nil && start == p.Start && state != 'Z' && state != 'X'
}

// signal sends sig to this very process; one that has ended already is no error.
func (p Process) signal(sig os.Signal) error {
	if p.PID <= 0 {
		return nil
	}
	// The handle is taken before the check: from then on it stands for one
	// process, even when that ends and its id is given to another.
	handle, err := os.FindProcess(p.PID)
	if err != nil || !p.Alive() {
		return nil
	}
	defer handle.Release()
	if err := handle.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to process %d: %w", sig, p.PID, err)
	}
	return nil
}

// waitGone waits until none of the processes is alive and returns those that are.
func waitGone(limit time.Duration, processes ...Process) []Process {
	deadline := time.Now().Add(limit)
	for {
		var alive []Process
		for _, p := range processes {
			if p.Alive() {
				alive = append(alive, p)
			}
		}
		if len(alive) == 0 || time.Now().After(deadline) {
			return alive
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// readStat reads the state and the start time of a process. The command name
// before them is in parentheses and may hold anything, spaces included.
func readStat(pid int) (state byte, start uint64, err error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, err
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const stateField, startField = 0, 19
	if len(fields) <= startField {
		return 0, 0, syscall.ESRCH
	}
	start, err = strconv.ParseUint(string(fields[startField]), 10, 64)
	return fields[stateField][0], start, err
}

func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

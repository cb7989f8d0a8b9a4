package rootfs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Verb is the first argument of a process that Make or Check starts: main hands such a
// process to Run.
const Verb = "_rootfs"

// Spec says which layer to make, and where.
type Spec struct {
	// Layer is the recipe's name of the layer.
	Layer string
	// Work is an empty directory for the making; the caller removes it.
	Work string
	// Lower are the file systems of the layers below, the uppermost first.
	Lower []string
	// Apt is a directory that keeps package lists and downloaded packages.
	Apt string
	// Update has the package lists renewed first.
	Update bool
	// Suite is the Debian suite of the lowest layer, and Sources are apt's sources.
	Suite   string
	Sources []string
	// AptOptions are options of apt for the suite.
	AptOptions []string
}

// Upper returns the directory below Work that holds the layer once it is made: what differs
// from Lower, in overlayfs' form.
func (s Spec) Upper() string { return filepath.Join(s.Work, "upper") }

// Make makes a layer. Each step is told to progress; what the tools print goes to log.
// lock is held open by every process that Make starts. What was modified in the making
// has a fixed time afterwards, so that the same layer comes out whenever it is made.
func Make(ctx context.Context, spec Spec, lock *os.File, log *os.File, progress func(string)) error {
	if err := os.Mkdir(spec.Upper(), 0o755); err != nil {
		return fmt.Errorf("preparing layer %s: %w", spec.Layer, err)
	}
	began := time.Now().Truncate(time.Second)
	err := start(ctx, "make", spec, lock, log, progress)
	if err == nil {
		err = fixTimes(spec.Upper(), began)
	}
	if err != nil {
		return fmt.Errorf("making layer %s: %w", spec.Layer, err)
	}
	return nil
}

// start runs this program again, in new namespaces, with a verb and a specification.
// What it prints on its standard output, line by line, is progress.
func start(ctx context.Context, verb string, spec Spec, lock *os.File, log *os.File, progress func(string)) error {
	input, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", Verb, verb)
	cmd.Stdin = bytes.NewReader(input)
	if log != nil {
		cmd.Stderr = log
	}
	if lock != nil {
		// It is inherited on and on. So nobody takes the lock before the last program
		// of a killed build is gone.
		cmd.ExtraFiles = []*os.File{lock}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		// The first process of a PID namespace takes all others with it when it dies,
		// and it dies when this program does.
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
	}
	steps, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	// The signal comes when the thread that started the process ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting a process in namespaces of its own: %w", err)
	}
	var last string
	for lines := bufio.NewScanner(steps); lines.Scan(); {
		var failed bool
		if last, failed = strings.CutPrefix(lines.Text(), failure); !failed {
			progress(last)
		}
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && last != "" {
		return errors.New(last)
	}
	return err
}

// failure begins the line that says why the process gives up.
const failure = "\x00"

// Run returns what a process that Make or Check has started does. It returns the exit code.
func Run(args []string) int {
	var spec Spec
	err := json.NewDecoder(os.Stdin).Decode(&spec)
	if err == nil {
		err = run(args, spec)
	}
	if err != nil {
		fmt.Fprintln(os.Stdout, failure+strings.ReplaceAll(err.Error(), "\n", "; "))
		return 1
	}
	return 0
}

func run(args []string, spec Spec) error {
	switch {
	case slices.Equal(args, []string{"make"}):
		return makeLayer(spec)
	case slices.Equal(args, []string{"probe"}):
		return probe(spec)
	}
	return fmt.Errorf("unknown arguments %q", args)
}

// Package lifeline lets a process notice the end of the one that started it,
// however that came: the kernel closes the other end of a pipe.
package lifeline

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// descriptor is where the started process finds its end of the pipe: the first
// of exec.Cmd's extra files.
const descriptor = 3

// variable is set in the environment of a process that has a lifeline.
const variable = "DEVCLUSTER_LIFELINE"

// Give makes the process that cmd is going to start end with the owner of the
// other end of the pipe. It has to be the first extra file.
func Give(cmd *exec.Cmd, end *os.File) {
	cmd.ExtraFiles = append([]*os.File{end}, cmd.ExtraFiles...)
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, variable+"=1")
}

// Follow ends this process when the one that gave it a lifeline is gone: nobody
// would stop or restart it any more. It does last before that, unless it is nil.
func Follow(last func()) {
	if os.Getenv(variable) == "" {
		return
	}
	// What this process starts must not take an unrelated file for its lifeline.
	os.Unsetenv(variable)
	syscall.CloseOnExec(descriptor)
	end := os.NewFile(descriptor, "lifeline")
	go func() {
		_, _ = io.Copy(io.Discard, end)
		fmt.Fprintln(os.Stderr, "the supervisor is gone; ending too")
		if last != nil {
			last()
		}
		os.Exit(1)
	}()
}

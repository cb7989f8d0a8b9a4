// Package command has the parts that kolla's commands share: streams and prompts, options,
// arguments, exit codes, and the workspace with a configuration, a cluster and a state.
package command

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/run/engine"
)

// Exit codes, the first two as in Terraform.
const (
	ExitError     = 1
	ExitChanges   = 2 // plan -detailed-exitcode: there is something to do; drift: there is drift; doctor: something is found
	ExitUnchecked = 3 // fmt -check: a file is not in canonical form
)

// ExitCode is an error that was reported already, or a result that is no error. kolla exits
// with it.
type ExitCode int

// Error implements error.
func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// Reported returns the exit code of an error that was reported already.
func Reported(err error) (code int, ok bool) {
	var exit ExitCode
	switch {
	case errors.As(err, &exit):
		return int(exit), true
	case errors.Is(err, engine.ErrReported):
		return ExitError, true
	}
	return 0, false
}

// Streams has the streams of a run of kolla, and the version of kolla.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Version  string
	// Writes is set before a command takes the lock of the state: from then on it may have
	// something to finish. It may be nil.
	Writes *atomic.Bool
	// Secrets are the secret values of the run.
	Secrets *redaction.Values
	// Log gets requests and decisions, for those who want to know the reasons. It may be nil.
	Log *slog.Logger
}

// MayWrite says that an interrupted run has to wait for the command from now on.
func (s Streams) MayWrite() {
	if s.Writes != nil {
		s.Writes.Store(true)
	}
}

// Printer prints to the streams as the options of a command ask.
func (s Streams) Printer(c *cli.Context) *view.Printer {
	printer := view.New(s.Out, s.Err, c.Bool("no-color"))
	printer.CompactWarnings = c.Bool("compact-warnings")
	return printer
}

// Package command is the command line of kolla-devcluster.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Exit codes.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNotRunning = 3
)

// streams are the input and output of a command: results go to out, progress and errors to
// err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

type command struct {
	name    string
	summary string
	run     func(ctx context.Context, args []string, s streams) error
}

func commands() []command {
	return []command{
		{"up", "start a cluster and stay with it, or leave it running with -detach", up},
		{"down", "stop a cluster, and delete it with -delete", down},
		{"status", "say whether a cluster is running, and how to reach it", status},
		{"kubectl", "run the compiled-in kubectl against a cluster", kubectl},
		{"restart", "kill one component of a cluster and have it started again", restart},
		{"off", "cut the power of a real node, until restart", off},
		{"outside", "run a command as a machine outside of a cluster with real nodes", outside},
		{"version", "print the versions of what is inside", printVersions},
	}
}

// exitError ends the program with a code of its own; an empty message prints nothing.
type exitError struct {
	code    int
	message string
}

func (e exitError) Error() string { return e.message }

func usageError(format string, args ...any) error {
	return exitError{code: exitUsage, message: fmt.Sprintf(format, args...)}
}

// Run runs one command line and returns the exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := streams{in: stdin, out: stdout, err: stderr}
	err := dispatch(ctx, args, s)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err.Error() != "" {
		fmt.Fprintln(stderr, "kolla-devcluster:", err)
	}
	var exit exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	return exitFailed
}

func dispatch(ctx context.Context, args []string, s streams) error {
	if len(args) == 0 {
		writeUsage(s.err)
		return exitError{code: exitUsage}
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		writeUsage(s.out)
		return nil
	case superviseName:
		return supervise(ctx, args[1:], s)
	}
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == args[0] })
	if i < 0 {
		var names []string
		for _, c := range all {
			names = append(names, c.name)
		}
		return usageError("there is no command %q; there are %s", args[0], strings.Join(names, ", "))
	}
	return all[i].run(ctx, args[1:], s)
}

func writeUsage(w io.Writer) {
	fmt.Fprintln(w, "kolla-devcluster runs a small Kubernetes cluster on this machine, with simulated nodes or real ones.")
	fmt.Fprintln(w)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-8s  %s\n", c.name, c.summary)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "Flags of a command: kolla-devcluster COMMAND -help")
}

// newFlags makes the flag set of a command. Mistakes are reported by the
// caller, in one line; help goes to standard output.
func newFlags(name, arguments string, s streams) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {
		fmt.Fprintf(s.out, "usage: kolla-devcluster %s %s\n", name, arguments)
		flags.SetOutput(s.out)
		flags.PrintDefaults()
		flags.SetOutput(io.Discard)
	}
	return flags
}

// parse reads flags and exactly one further argument for each name.
func parse(flags *flag.FlagSet, args []string, names ...string) ([]string, error) {
	rest, err := parseLeading(flags, args, names...)
	if err == nil && len(rest) > len(names) {
		err = usageError("%s: do not know what to do with %q", flags.Name(), rest[len(names)])
	}
	return rest, err
}

// parseLeading reads flags and at least one further argument for each name.
func parseLeading(flags *flag.FlagSet, args []string, names ...string) ([]string, error) {
	// The flag package also calls Usage after mistakes.
	usage := flags.Usage
	flags.Usage = func() {}
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		usage()
		return nil, err
	}
	if err != nil {
		return nil, usageError("%s: %v; see kolla-devcluster %s -help", flags.Name(), err, flags.Name())
	}
	rest := flags.Args()
	if len(rest) < len(names) {
		return nil, usageError("%s: %s is missing; see kolla-devcluster %s -help", flags.Name(), names[len(rest)], flags.Name())
	}
	return rest, nil
}

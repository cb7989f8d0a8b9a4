// Package cli is kolla's command line. It has a file for each command, and reads options,
// asks and prints. Package engine makes plans and carries them out.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/completion"
	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/internal/engine"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/habits"
	"kolla.openstack.org/kolla/internal/view"
)

// Exit codes, as Terraform has them.
const (
	exitError     = 1
	exitChanges   = 2 // plan -detailed-exitcode: there is something to do
	exitUnchecked = 3 // fmt -check: a file is not in canonical form
)

// exitCode is an error that was reported already, or that is no error but a
// result; all that is left is to exit with it.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// reported returns the exit code of an error that was reported already.
func reported(err error) (code int, ok bool) {
	var exit exitCode
	switch {
	case errors.As(err, &exit):
		return int(exit), true
	case errors.Is(err, engine.ErrReported):
		return exitError, true
	}
	return 0, false
}

// streams is where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// writes is set before a command takes the lock of the state, and so before it may
	// write anything that has to be finished. Nil: nobody asks.
	writes *atomic.Bool
	// log takes what helps to find out why kolla did something; see logVariable.
	log *slog.Logger
}

// mayWrite says that the command is not to be left behind from now on.
func (s streams) mayWrite() {
	if s.writes != nil {
		s.writes.Store(true)
	}
}

// printer renders for the streams; every command with -no-color makes its own.
func (s streams) printer(c *cli.Context) *view.Printer {
	printer := view.New(s.out, s.err, c.Bool("no-color"))
	printer.CompactWarnings = c.Bool("compact-warnings")
	return printer
}

// writeJSON prints a document that people may read as well.
func (s streams) writeJSON(v any) error {
	return foreign.JSON(s.out, v, "  ")
}

// Run runs the command line and returns the exit code of the process.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := streams{in: stdin, out: stdout, err: stderr, writes: &atomic.Bool{}}
	if len(args) > 1 && args[len(args)-1] == completion.Asks {
		completion.Complete(s.out, newApp(s), args[1:len(args)-1])
		return 0
	}
	s, err := s.withLog()
	if err != nil {
		report(view.New(stdout, stderr, false), err)
		return exitError
	}
	return s.run(ctx, newApp(s), args)
}

// patience is how long an interrupted command that has written nothing may take to end.
const patience = 3 * time.Second

// run runs an app. When ctx ends, what cannot be ended is left behind: a read from a file
// system that does not answer, a program that a kubeconfig names. Not so once something
// may be written, which is to be finished.
func (s streams) run(ctx context.Context, app *cli.App, args []string) int {
	done := make(chan int, 1)
	go func() { done <- s.runToEnd(ctx, app, args) }()
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
	}
	select {
	case code := <-done:
		return code
	case <-time.After(patience):
	}
	if s.writes != nil && s.writes.Load() {
		return <-done
	}
	report(view.New(s.out, s.err, false), ctx.Err())
	return exitError
}

// runToEnd runs an app. Not even a panic leaves it but as a message.
func (s streams) runToEnd(ctx context.Context, app *cli.App, args []string) int {
	err := crash.Catch(func() error {
		args, err := withEnvironment(args, app.Commands)
		if err != nil {
			return err
		}
		return app.RunContext(ctx, args)
	})
	if err == nil {
		return 0
	}
	if code, ok := reported(err); ok {
		return code
	}
	report(view.New(s.out, s.err, false), err)
	return exitError
}

// chdirFlag says where kolla works.
const chdirFlag = "chdir"

// newApp makes the command tree. Nothing in it is global.
func newApp(s streams) *cli.App {
	var profiles profiles
	app := &cli.App{
		Name:                      "kolla",
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		CustomAppHelpTemplate:     appHelp,
		Reader:                    s.in,
		Writer:                    s.out,
		ErrWriter:                 s.err,
		ExitErrHandler:            func(*cli.Context, error) {}, // Run reports and exits
		Flags: append(profileFlags(),
			&cli.StringFlag{Name: chdirFlag, Usage: "work in `DIR` instead of the current directory"},
			&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version"}),
		Before: func(c *cli.Context) error {
			warnOfTerraform(s.printer(c))
			if err := profiles.start(c); err != nil {
				return err
			}
			if dir := c.String(chdirFlag); dir != "" {
				if err := os.Chdir(dir); err != nil {
					return failure.New("Cannot change directory", err.Error())
				}
			}
			return nil
		},
		After: func(c *cli.Context) error {
			profiles.stop(s.printer(c))
			return nil
		},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); name != "" {
				return unknownCommand(c.App.Name, name, c.App.Commands)
			}
			if c.Bool("version") {
				s.printVersion()
				return nil
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			initCommand(s), validateCommand(s), planCommand(s), applyCommand(s), rolloutCommand(s), destroyCommand(s),
			fmtCommand(s), renderCommand(s), configCommand(s), graphCommand(s), consoleCommand(s), outputCommand(s),
			showCommand(s), stateCommand(s), forceUnlockCommand(s), rbacCommand(s),
			catalogueCommand(s), exposureCommand(s), completionCommand(s), versionCommand(s),
		},
	}
	for _, command := range app.Commands {
		withHabits(command)
		finish(app.Name, command)
	}
	return app
}

// finish gives a command what all of them have in common.
func finish(path string, command *cli.Command) {
	path += " " + command.Name
	command.CustomHelpTemplate = commandHelp(path, command)
	command.OnUsageError = usageError
	command.HideHelpCommand = true
	for _, sub := range command.Subcommands {
		finish(path, sub)
		sub.Before = optionsAfter(path + " " + sub.Name)
	}
	if len(command.Subcommands) == 0 {
		return
	}
	alone := command.Action
	if alone == nil {
		alone = cli.ShowSubcommandHelp
	}
	command.Action = func(c *cli.Context) error {
		if name := c.Args().First(); name != "" {
			return unknownCommand(path, name, command.Subcommands)
		}
		return alone(c)
	}
}

// optionsAfter refuses options between a command and the one within it: they would
// have no effect.
func optionsAfter(path string) cli.BeforeFunc {
	return func(c *cli.Context) error {
		if parent := c.Lineage()[1]; parent.NumFlags() > 0 {
			return failure.New("Options come after the command", fmt.Sprintf("Put -%s behind it: %s -%s ...", parent.LocalFlagNames()[0], path, parent.LocalFlagNames()[0]))
		}
		return nil
	}
}

func unknownCommand(path, name string, commands []*cli.Command) error {
	var names []string
	for _, command := range commands {
		names = append(names, command.Name)
	}
	advice, ok := habits.Advice(path + " " + name)
	if !ok {
		advice = didYouMean(name, names) + fmt.Sprintf("`%s -help` lists all commands.", path)
	}
	if path != "kolla" {
		name = path + " " + name
	}
	return failure.New(fmt.Sprintf("No command %q", name), advice)
}

func usageError(c *cli.Context, err error, _ bool) error {
	command, flags := "kolla", c.App.Flags
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "kolla" {
		command, flags = "kolla "+c.Command.Name, c.Command.Flags
	}
	help := fmt.Sprintf("`%s -help` lists all options.", command)
	if err.Error() == "flag needs an argument: -adopt" {
		return failure.New("-adopt needs an address", adoptAdvice)
	}
	option, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return failure.New("Wrong options", failure.Sentence(err.Error())+". "+help)
	}
	option = strings.TrimPrefix(option, "-")
	if advice, ok := habits.Advice(command + " -" + option); ok {
		return failure.New(fmt.Sprintf("No option -%s", option), advice)
	}
	var names []string
	for _, flag := range flags {
		names = append(names, "-"+flag.Names()[0])
	}
	return failure.New(fmt.Sprintf("No option -%s", option), didYouMean("-"+option, names)+help)
}

// noArguments refuses arguments, among them flags that come after one.
func noArguments(c *cli.Context) error { return atMost(c, 0) }

func atMost(c *cli.Context, n int) error {
	if c.NArg() <= n {
		return nil
	}
	extra := c.Args().Get(n)
	if strings.HasPrefix(extra, "-") {
		return failure.New("Options come first", fmt.Sprintf("Put %s before the other arguments: kolla %s %s ...", extra, c.Command.Name, extra))
	}
	return tooMany(c, extra)
}

func tooMany(c *cli.Context, extra string) error {
	return failure.New("Too many arguments", fmt.Sprintf("Did not expect %q. See `kolla %s -help`.", extra, c.Command.Name))
}

// interspersed are the arguments of a command whose options may also stand behind
// them; those options are set.
func interspersed(c *cli.Context) ([]string, error) {
	var arguments []string
	for rest := c.Args().Slice(); len(rest) > 0; {
		word := rest[0]
		rest = rest[1:]
		if word == "--" {
			return append(arguments, rest...), nil
		}
		if len(word) < 2 || word[0] != '-' {
			arguments = append(arguments, word)
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		i := slices.IndexFunc(c.Command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
		if i < 0 {
			return nil, usageError(c, errors.New("flag provided but not defined: -"+name), false)
		}
		if documented, ok := c.Command.Flags[i].(cli.DocGenerationFlag); !given && ok && documented.TakesValue() {
			if len(rest) == 0 {
				return nil, usageError(c, errors.New("flag needs an argument: -"+name), false)
			}
			value, given, rest = rest[0], true, rest[1:]
		}
		if !given {
			value = "true"
		}
		if err := c.Set(name, value); err != nil {
			return nil, usageError(c, fmt.Errorf("invalid value %q for flag -%s: %w", value, name, err), false)
		}
	}
	return arguments, nil
}

// Package cli is kolla's command line. Its commands are in change (plan, apply and others that
// change a cloud), inspect (commands that print) and statecmd (the state); command has the
// parts that they share. Package engine makes plans and carries them out.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/internal/cli/access"
	"kolla.openstack.org/kolla/internal/cli/change"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/cli/compat"
	"kolla.openstack.org/kolla/internal/cli/completion"
	"kolla.openstack.org/kolla/internal/cli/diagnose"
	"kolla.openstack.org/kolla/internal/cli/exposure"
	"kolla.openstack.org/kolla/internal/cli/inspect"
	"kolla.openstack.org/kolla/internal/cli/operate"
	"kolla.openstack.org/kolla/internal/cli/statecmd"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/run/explain"
)

// Run runs the command line and returns the exit code of the process.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := command.Streams{In: stdin, Out: stdout, Err: stderr, Version: Version, Writes: &atomic.Bool{}, Secrets: &redaction.Values{}}
	if len(args) > 1 && args[len(args)-1] == completion.Asks {
		completion.Complete(s.Out, newApp(s), args[1:len(args)-1])
		return 0
	}
	s, err := withLog(s)
	if err != nil {
		report(s, err)
		return command.ExitError
	}
	return run(ctx, s, newApp(s), args)
}

// patience is how long an interrupted command that has written nothing may take to end.
const patience = 3 * time.Second

// run runs an app. A read from a dead file system, or a program that a kubeconfig names, may
// not end when ctx ends: run then returns without it. It always waits for a command that may
// have begun to write.
func run(ctx context.Context, s command.Streams, app *cli.App, args []string) int {
	done := make(chan int, 1)
	go func() { done <- runToEnd(ctx, s, app, args) }()
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
	if s.Writes != nil && s.Writes.Load() {
		return <-done
	}
	report(s, ctx.Err())
	return command.ExitError
}

// runToEnd runs an app. It reports a panic as an error.
func runToEnd(ctx context.Context, s command.Streams, app *cli.App, args []string) int {
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
	if code, ok := command.Reported(err); ok {
		return code
	}
	report(s, err)
	return command.ExitError
}

// report prints an error that ends a command: the problem, and the next step.
func report(s command.Streams, err error) {
	view.New(s.Out, s.Err, false).Failure(explain.Error(err, s.Version, s.Secrets))
}

// chdirFlag is the option with the directory to work in.
const chdirFlag = "chdir"

// newApp makes the command tree. Nothing in it is global.
func newApp(s command.Streams) *cli.App {
	var profiles []func() error
	app := &cli.App{
		Name:                      "kolla",
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		CustomAppHelpTemplate:     appHelp,
		Reader:                    s.In,
		Writer:                    s.Out,
		ErrWriter:                 s.Err,
		ExitErrHandler:            func(*cli.Context, error) {}, // Run reports and exits
		Flags: append(profileFlags(),
			&cli.StringFlag{Name: chdirFlag, Usage: "work in `DIR` instead of the current directory"},
			&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version"}),
		Before: func(c *cli.Context) error {
			warnOfTerraform(s.Printer(c))
			var err error
			if profiles, err = startProfiles(c); err != nil {
				return err
			}
			if dir := c.String(chdirFlag); dir != "" {
				return changeDir(dir)
			}
			return nil
		},
		After: func(c *cli.Context) error {
			stopProfiles(profiles, s.Printer(c))
			return nil
		},
		OnUsageError: command.UsageError,
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); name != "" {
				return unknownCommand(c.App.Name, name, c.App.Commands)
			}
			if c.Bool("version") {
				printVersion(s)
				return nil
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			initCommand(s), inspect.Validate(s), inspect.Diff(s), diagnose.Drift(s), change.Plan(s), change.Apply(s), change.Rollout(s), change.Destroy(s), change.Backup(s), change.Restore(s),
			diagnose.Status(s), diagnose.Check(s), diagnose.Logs(s), diagnose.Top(s), diagnose.Discover(s), fmtCommand(s), inspect.Render(s), inspect.Export(s), inspect.Import(s), inspect.Config(s), inspect.Graph(s), inspect.Console(s), inspect.Output(s), access.OpenRC(s),
			inspect.Show(s), inspect.Images(s), statecmd.State(s), statecmd.ForceUnlock(s), access.RBAC(s), diagnose.Doctor(s),
			inspect.Catalogue(s), exposure.Command(s), operate.Command(s), completionCommand(s), versionCommand(s),
		},
	}
	for _, cmd := range app.Commands {
		finish(app.Name, cmd)
		withCompat(cmd)
	}
	return app
}

// finish adds the parts that all commands have. A command without ArgsUsage takes no arguments.
func finish(path string, cmd *cli.Command) {
	path += " " + cmd.Name
	cmd.CustomHelpTemplate = commandHelp(path, cmd)
	cmd.OnUsageError = command.UsageError
	cmd.HideHelpCommand = true
	for _, sub := range cmd.Subcommands {
		finish(path, sub)
		sub.Before = optionsAfter(path + " " + sub.Name)
	}
	if cmd.ArgsUsage != "" {
		return
	}
	alone := cmd.Action
	if alone == nil {
		alone = cli.ShowSubcommandHelp
	}
	cmd.Action = func(c *cli.Context) error {
		if name := c.Args().First(); name != "" && len(cmd.Subcommands) > 0 {
			return unknownCommand(path, name, cmd.Subcommands)
		}
		if err := command.NoArguments(c); err != nil {
			return err
		}
		return alone(c)
	}
}

// optionsAfter refuses options between a command and its subcommand: they would have no
// effect.
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
	for _, cmd := range commands {
		names = append(names, cmd.Name)
	}
	advice, ok := compat.Advice(path + " " + name)
	if !ok {
		advice, ok = compat.Advice(path)
	}
	if !ok {
		advice = command.DidYouMean(name, names) + fmt.Sprintf("`%s -help` lists all commands.", path)
	}
	if path != "kolla" {
		name = path + " " + name
	}
	return failure.New(fmt.Sprintf("No command %q", name), advice)
}

// changeDir makes a directory the current one. A relative path in $KUBECONFIG stays that of the
// shell, so that no file of the new directory takes its place.
func changeDir(dir string) error {
	var err error
	var configs []string
	for _, config := range filepath.SplitList(os.Getenv(kubeconfigVariable)) {
		if config != "" && err == nil {
			config, err = filepath.Abs(config)
		}
		configs = append(configs, config)
	}
	if err == nil {
		err = os.Chdir(dir)
	}
	if err == nil && len(configs) > 0 {
		err = os.Setenv(kubeconfigVariable, strings.Join(configs, string(filepath.ListSeparator)))
	}
	if err != nil {
		return failure.New("Cannot change directory", err.Error())
	}
	return nil
}

const kubeconfigVariable = "KUBECONFIG"

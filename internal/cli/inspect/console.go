package inspect

import (
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/cli/console"
)

// Console is `kolla console`.
func Console(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "console",
		Usage: "Evaluate expressions with the values of the configuration",
		Description: `
Reads expressions, one per line, and prints their values: var.NAME, service.NAME.url,
any function. Brackets and heredocs continue on the next line. Type "help" for help, and
"exit" or Ctrl-D to quit.

Only data blocks need a cluster: if no cluster can be reached, their values are unknown.
Changes nothing. Secrets are not shown.

Exit codes: 0 done, 1 error. Errors in input from a terminal do not change the exit code.`,
		Flags: append(command.CloudFlags(), command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			w := command.NewWorkspace(s, c)
			w.Loading.Quiet = true
			if err := loadForConsole(w); err != nil {
				w.Printer.Failure("The console needs a configuration without errors", "Expressions are evaluated with its values. Correct the errors above first; `kolla validate` prints them again.")
				return err
			}
			ok, err := console.Run(c.Context, console.Options{
				In: s.In, Out: s.Out, Err: s.Err, Prompts: s.Interactive(), Printer: w.Printer, Scope: w.Console,
			})
			if err == nil && !ok {
				return command.ExitCode(command.ExitError)
			}
			return err
		},
	}
}

// loadForConsole loads the configuration, with data if the cluster answers.
func loadForConsole(w *command.Workspace) error {
	// Without an answer for a variable, the diagnostics say that it has no value.
	config, diags, _ := w.Source.Read(w.Flags.Context, w.Loading)
	if diags.HasErrors() || len(config.Data) == 0 {
		return w.Take(config, diags)
	}
	if err := w.Connect(w.Flags.Context); err != nil {
		reason := failure.Sentence(err.Error()) + "."
		if summary, detail, ok := failure.Explain(err); ok {
			reason = failure.Sentence(summary) + ". " + detail
		}
		w.Printer.Warn("The cluster is not read", reason+" What would be read from it is not known.")
		return w.Take(config, diags)
	}
	w.Loading.Cluster, w.Loading.Settled = w.Cluster, true
	return w.LoadConfig()
}

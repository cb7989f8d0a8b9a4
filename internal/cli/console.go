package cli

import (
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/console"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

func consoleCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "console",
		Usage: "Evaluate expressions with the values of the configuration",
		Description: `
Reads expressions, one a line, and prints what they are: var.NAME, service.NAME.url,
any function. A line that ends within brackets goes on on the next one. "help" says
more, "exit" or Ctrl-D ends it.

Needs no cluster, unless there are data blocks to read: where no cluster can be reached,
what they would read is not known. Changes nothing. Secrets are not shown.

Exit codes: 0 done, 1 error; what is typed on a terminal is never one.`,
		Flags: append(append(variableFlags(), clusterFlags()...), noColorFlag()),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			w := newWorkspace(s, c)
			w.loading.Quiet = true
			if err := w.loadForConsole(); err != nil {
				w.printer.Failure("The console needs a configuration without errors", "Expressions are evaluated with its values. Correct the errors above first; `kolla validate` prints them again.")
				return err
			}
			ok, err := console.Run(c.Context, console.Options{
				In: s.in, Out: s.out, Err: s.err, Prompts: s.interactive(), Printer: w.printer, Scope: w.console,
			})
			if err == nil && !ok {
				return exitCode(exitError)
			}
			return err
		},
	}
}

// loadForConsole reads data if there is a cluster to read them from.
func (w *workspace) loadForConsole() error {
	// Without an answer for a variable, the diagnostics say that it has no value.
	config, diags, _ := w.source.Read(w.flags.Context, w.loading)
	if diags.HasErrors() || len(config.Data) == 0 {
		return w.take(config, diags)
	}
	if err := w.connect(w.flags.Context); err != nil {
		reason := failure.Sentence(err.Error()) + "."
		if summary, detail, ok := kubernetes.Explain(err); ok {
			reason = failure.Sentence(summary) + ". " + detail
		}
		w.printer.Warn("The cluster is not read", reason+" What would be read from it is not known.")
		return w.take(config, diags)
	}
	w.loading.Cluster, w.loading.Settled = w.cluster, true
	return w.loadConfig()
}

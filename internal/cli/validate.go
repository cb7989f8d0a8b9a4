package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/providers/openstack"
)

func validateCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "validate",
		Usage: "Check the configuration, without a cluster",
		Flags: append(variableFlags(), noColorFlag()),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			w := newWorkspace(s, c)
			if err := w.loadConfig(); err != nil {
				return err
			}
			objects, diags := openstack.Render(w.config, openstack.Offline())
			w.printer.Diagnostics(diags, w.config.Files)
			if diags.HasErrors() {
				return exitCode(exitError)
			}
			fmt.Fprintf(s.out, "The configuration is valid: %d services, %d objects.\n", len(w.config.Services), len(objects))
			return nil
		},
	}
}

package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/providers/openstack/options"
)

func validateCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "validate",
		Usage: "Check the configuration, without a cluster",
		Description: `
With -json it prints what is wrong, and whether there is anything, in the shape of
"terraform validate -json".

Exit codes: 0 valid, perhaps with warnings; 1 error.`,
		Flags: append(variableFlags(),
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON in the shape of Terraform's"},
			noColorFlag()),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			w := newWorkspace(s, c)
			if c.Bool("json") {
				return w.validateJSON()
			}
			if err := w.loadConfig(); err != nil {
				return err
			}
			objects, diags := openstack.Check(w.config, openstack.Offline())
			w.printer.Diagnostics(diags, w.config.Files)
			if diags.HasErrors() {
				return exitCode(exitError)
			}
			w.checkOptions()
			fmt.Fprintf(s.out, "The configuration is valid: %s, %s.\n",
				counted(len(w.config.Services), "service"), counted(objects, "object"))
			return nil
		},
	}
}

// validateJSON says for programs what is wrong with the configuration.
func (w *workspace) validateJSON() error {
	config, diags := w.readConfig()
	if !diags.HasErrors() {
		_, more := openstack.Check(config, openstack.Offline())
		diags = append(diags, more...)
	}
	if !diags.HasErrors() {
		diags = append(diags, options.Check(config)...)
	}
	if err := view.ValidationJSON(w.out, diags, config.Files); err != nil {
		return err
	}
	if diags.HasErrors() {
		return exitCode(exitError)
	}
	return nil
}

// counted gives "1 service", "2 services".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

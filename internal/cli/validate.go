package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/jsonview"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/providers/openstack/options"
)

func validateCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "validate",
		Usage: "Check the configuration, without a cluster",
		Description: `
Variables need no values: those that have none are unknown, and nobody is asked.
Values that are given are used, and checked.

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
			w.valueless = true
			config, objects, diags := w.validate()
			if c.Bool("json") {
				if err := jsonview.Validation(s.out, diags, config.Files); err != nil {
					return err
				}
			} else {
				w.printer.Diagnostics(diags, config.Files)
			}
			if diags.HasErrors() {
				return exitCode(exitError)
			}
			if !c.Bool("json") {
				fmt.Fprintf(s.out, "The configuration is valid: %s, %s.\n",
					words.Count(len(config.Services), "service"), words.Count(objects, "object"))
				if len(config.Unset) > 0 {
					fmt.Fprintln(s.out, w.printer.Out.Prose(fmt.Sprintf("What follows from variables without a value was not checked: var.%s.", strings.Join(config.Unset, ", var.")), 0))
				}
			}
			return nil
		},
	}
}

// validate counts the objects of the configuration, and gives all that is wrong with it, or
// may be, as far as that can be said without a cluster.
func (w *workspace) validate() (*configs.Config, int, hcl.Diagnostics) {
	config, diags, _ := w.source.Read(w.flags.Context, w.loading) // nobody is asked
	if diags.HasErrors() {
		return config, 0, append(diags, options.CheckPart(config)...)
	}
	objects, more := openstack.Check(config, openstack.Offline())
	return config, objects, slices.Concat(diags, more, options.Check(config))
}

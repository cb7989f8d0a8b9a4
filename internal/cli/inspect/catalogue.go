package inspect

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/lang/catalogue"
	"kolla.openstack.org/kolla/providers/openstack"
)

// Catalogue is `kolla catalogue`.
func Catalogue(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "catalogue",
		Usage:     "List the services that kolla knows, or show one",
		ArgsUsage: "[NAME]",
		Description: `
With a name it prints the definition block of the service. Copy it into a configuration to
change what overrides cannot change, or write one that starts from it: from = "NAME".`,
		Action: func(c *cli.Context) error {
			if err := command.AtMost(c, 1); err != nil {
				return err
			}
			definitions, diags := catalogue.Describe(openstack.Catalogue())
			if diags.HasErrors() {
				return fmt.Errorf("read the catalogue: %w", diags)
			}
			if name := c.Args().First(); name != "" {
				return showDefinition(s.Out, name, definitions)
			}
			return tables.Catalogue(s.Out, definitions)
		},
	}
}

func showDefinition(out io.Writer, name string, definitions []catalogue.Definition) error {
	var names []string
	for _, d := range definitions {
		if d.Name == name {
			return tables.Definition(out, d)
		}
		names = append(names, d.Name)
	}
	return failure.New(fmt.Sprintf("No service %q in the catalogue", name), command.DidYouMean(name, names)+"`kolla catalogue` lists them.")
}

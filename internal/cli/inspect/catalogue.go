package inspect

import (
	"fmt"
	"io"
	"io/fs"
	"strings"

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
change what overrides cannot change, or write one that starts from it: from = "NAME". Files
that a definition reads are printed by their names: kolla catalogue prometheus/alerts.yaml.`,
		Action: func(c *cli.Context) error {
			if err := command.AtMost(c, 1); err != nil {
				return err
			}
			if name := c.Args().First(); strings.Contains(name, "/") {
				return showFile(s.Out, name)
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

// showFile prints a file that a definition reads.
func showFile(out io.Writer, name string) error {
	text, err := fs.ReadFile(openstack.Catalogue(), name)
	if err != nil {
		return failure.New(fmt.Sprintf("No file %q in the catalogue", name), "`kolla catalogue "+strings.SplitN(name, "/", 2)[0]+"` shows which files the definition reads.")
	}
	_, err = out.Write(text)
	return err
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

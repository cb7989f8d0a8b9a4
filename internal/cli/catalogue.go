package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/catalogue"
	"kolla.openstack.org/kolla/providers/openstack"
)

func catalogueCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "catalogue",
		Usage:     "List the services that kolla knows, or show one",
		ArgsUsage: "[NAME]",
		Description: `
With a name it prints the definition, in the words that a definition of your own
would use: copy it into a configuration to change what overrides cannot.`,
		Action: func(c *cli.Context) error {
			if err := atMost(c, 1); err != nil {
				return err
			}
			definitions, diags := catalogue.Describe(openstack.Catalogue())
			if diags.HasErrors() {
				return fmt.Errorf("read the catalogue: %w", diags)
			}
			if name := c.Args().First(); name != "" {
				return showDefinition(s, name, definitions)
			}
			table := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
			fmt.Fprintln(table, "NAME\tPORTS\tNEEDS\tDESCRIPTION")
			for _, d := range definitions {
				foreign.Fprintf(table, "%s\t%s\t%s\t%s\n", d.Name, ports(d), strings.Join(d.Needs, ", "), d.Description)
			}
			return table.Flush()
		},
	}
}

func ports(d catalogue.Definition) string {
	var out []string
	for _, p := range d.Ports {
		out = append(out, fmt.Sprint(p.Number))
	}
	return strings.Join(out, ", ")
}

func showDefinition(s streams, name string, definitions []catalogue.Definition) error {
	var names []string
	for _, d := range definitions {
		if d.Name == name {
			showInputs(s, d.Inputs)
			showRegistered(s, d.Registered)
			showPowers(s, d.Powers)
			_, err := s.out.Write(d.Source)
			return err
		}
		names = append(names, d.Name)
	}
	return failure.New(fmt.Sprintf("No service %q in the catalogue", name), didYouMean(name, names)+"`kolla catalogue` lists them.")
}

// showInputs lists what a service can give to its definition, as a comment before it.
func showInputs(s streams, inputs []catalogue.Input) {
	if len(inputs) == 0 {
		return
	}
	fmt.Fprintln(s.out, "# Inputs, which are arguments of the service:\n#")
	table := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	for _, i := range inputs {
		value := "required"
		if i.Default != "" {
			value = "default " + i.Default
		}
		foreign.Fprintf(table, "#   %s\t%s\t%s\t%s\n", i.Name, i.Type, value, i.Description)
	}
	_ = table.Flush() // to the same stream as what follows, which reports errors
	fmt.Fprintln(s.out)
}

// showRegistered lists what the definition has on other services, likewise.
func showRegistered(s streams, registered []catalogue.Registered) {
	if len(registered) == 0 {
		return
	}
	fmt.Fprintln(s.out, "# Made or registered on other services:\n#")
	table := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	for _, r := range registered {
		if len(r.Arguments) == 0 {
			foreign.Fprintf(table, "#   %s\t%s\n", r.Kind, r.Name)
			continue
		}
		foreign.Fprintf(table, "#   %s\t%s\t%s\n", r.Kind, r.Name, strings.Join(r.Arguments, ", "))
	}
	_ = table.Flush() // as above
	fmt.Fprintln(s.out)
}

// showPowers lists what may do more than others, likewise.
func showPowers(s streams, powers []catalogue.Powers) {
	if len(powers) == 0 {
		return
	}
	fmt.Fprintln(s.out, "# With powers, which \"kolla plan\" names before it gives them:\n#")
	table := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	for _, p := range powers {
		foreign.Fprintf(table, "#   %s\t%s\t%s\n", p.Kind, p.Name, strings.Join(p.Powers, ", "))
		if p.Reason != "" {
			foreign.Fprintf(table, "#   \t\t  for: %s\n", p.Reason)
		}
	}
	_ = table.Flush() // as above
	fmt.Fprintln(s.out)
}

// didYouMean is a sentence with the near miss, and a space after it, or nothing.
func didYouMean(given string, known []string) string {
	if text := words.DidYouMean(given, known); text != "" {
		return strings.TrimSpace(text) + " "
	}
	return ""
}

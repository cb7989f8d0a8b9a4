// Package tables prints lists for people: the catalogue, exposures, config files and the
// state.
package tables

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/lang/catalogue"
)

// Catalogue lists services of the catalogue.
func Catalogue(out io.Writer, definitions []catalogue.Definition) error {
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tPORTS\tNEEDS\tDESCRIPTION")
	for _, d := range definitions {
		if d.Abstract {
			continue
		}
		foreign.Fprintf(table, "%s\t%s\t%s\t%s\n", d.Name, ports(d), strings.Join(d.Needs, ", "), d.Description)
	}
	return table.Flush()
}

func ports(d catalogue.Definition) string {
	var out []string
	for _, p := range d.Ports {
		out = append(out, fmt.Sprint(p.Number))
	}
	return strings.Join(out, ", ")
}

// Definition prints a definition, after comments with facts that the definition does not show.
func Definition(out io.Writer, d catalogue.Definition) error {
	if d.From != "" {
		foreign.Fprintf(out, "# It starts from the definition of `kolla catalogue %s`.\n\n", d.From)
	}
	showInputs(out, d.Inputs)
	showRegistered(out, d.Registered)
	showPowers(out, d.Powers)
	_, err := out.Write(d.Source)
	return err
}

// showInputs lists the inputs of a definition as comments.
func showInputs(out io.Writer, inputs []catalogue.Input) {
	if len(inputs) == 0 {
		return
	}
	fmt.Fprintln(out, "# Inputs, which are arguments of the service:\n#")
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, i := range inputs {
		value := "required"
		if i.Default != "" {
			value = "default " + i.Default
		}
		foreign.Fprintf(table, "#   %s\t%s\t%s\t%s\n", i.Name, i.Type, value, i.Description)
	}
	_ = table.Flush() // the next write to out reports errors
	fmt.Fprintln(out)
}

// showRegistered lists the parts that the definition has on other services.
func showRegistered(out io.Writer, registered []catalogue.Registered) {
	if len(registered) == 0 {
		return
	}
	fmt.Fprintln(out, "# Made or registered on other services:\n#")
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, r := range registered {
		if len(r.Arguments) == 0 {
			foreign.Fprintf(table, "#   %s\t%s\n", r.Kind, r.Name)
			continue
		}
		foreign.Fprintf(table, "#   %s\t%s\t%s\n", r.Kind, r.Name, strings.Join(r.Arguments, ", "))
	}
	_ = table.Flush() // as above
	fmt.Fprintln(out)
}

// showPowers lists the workloads with powers.
func showPowers(out io.Writer, powers []catalogue.Powers) {
	if len(powers) == 0 {
		return
	}
	fmt.Fprintln(out, "# With powers, which \"kolla plan\" names before it gives them:\n#")
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, p := range powers {
		foreign.Fprintf(table, "#   %s\t%s\t%s\n", p.Kind, p.Name, strings.Join(p.Powers, ", "))
		if p.Reason != "" {
			foreign.Fprintf(table, "#   \t\t  for: %s\n", p.Reason)
		}
	}
	_ = table.Flush() // as above
	fmt.Fprintln(out)
}

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
	showComment(out, "Inputs, which are arguments of the service", d.Inputs, func(table io.Writer, i catalogue.Input) {
		value := "required"
		if i.Default != "" {
			value = "default " + i.Default
		}
		foreign.Fprintf(table, "#   %s\t%s\t%s\t%s\n", i.Name, i.Type, value, i.Description)
	})
	showComment(out, "Made or registered on other services", d.Registered, func(table io.Writer, r catalogue.Registered) {
		if len(r.Arguments) == 0 {
			foreign.Fprintf(table, "#   %s\t%s\n", r.Kind, r.Name)
			return
		}
		foreign.Fprintf(table, "#   %s\t%s\t%s\n", r.Kind, r.Name, strings.Join(r.Arguments, ", "))
	})
	showComment(out, `With powers, which "kolla plan" names before it gives them`, d.Powers, func(table io.Writer, p catalogue.Powers) {
		foreign.Fprintf(table, "#   %s\t%s\t%s\n", p.Kind, p.Name, strings.Join(p.Powers, ", "))
		if p.Reason != "" {
			foreign.Fprintf(table, "#   \t\t  for: %s\n", p.Reason)
		}
	})
	_, err := out.Write(d.Source)
	return err
}

// showComment lists parts of a definition as comments below a heading.
func showComment[T any](out io.Writer, heading string, parts []T, show func(table io.Writer, part T)) {
	if len(parts) == 0 {
		return
	}
	fmt.Fprintf(out, "# %s:\n#\n", heading)
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, part := range parts {
		show(table, part)
	}
	_ = table.Flush() // the next write to out reports errors
	fmt.Fprintln(out)
}

package tables

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/state"
)

// State lists the objects of the state, block by block.
func State(out io.Writer, st *state.State) error {
	if len(st.Objects) == 0 {
		fmt.Fprintln(out, "The state is empty: nothing was applied yet.")
		return nil
	}
	foreign.Fprintf(out, "Cloud %q in the cluster at %s, serial %d.\n", st.Cloud, st.Cluster.Server, st.Serial)
	block := ""
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, o := range st.Objects {
		address, err := addrs.ParseObject(o.Address)
		if err != nil {
			return fmt.Errorf("read the state: %w", err)
		}
		if address.Block != block {
			block = address.Block
			foreign.Fprintf(table, "\n%s\n", block)
		}
		format := "  %s\t%s\n"
		if !o.Ready {
			format = "  %s\t%s\tnot seen ready\n"
		}
		foreign.Fprintf(table, format, o.Kind, o.Name)
	}
	return table.Flush()
}

// Object prints the record of an object.
func Object(out io.Writer, o *state.Object) error {
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			foreign.Fprintf(table, "%s:\t%s\n", name, value)
		}
	}
	row("Address", o.Address)
	row("Kind", o.APIVersion+" "+o.Kind)
	row("Namespace", o.Namespace)
	row("Name", o.Name)
	row("UID", o.UID)
	row("Version of", o.Family)
	row("Holds", o.Holds)
	row("Applied", o.Applied.Local().Format(time.RFC3339))
	row("Ready", fmt.Sprint(o.Ready))
	for i, address := range o.DependsOn {
		if i == 0 {
			row("Depends on", address)
			continue
		}
		foreign.Fprintf(table, "\t%s\n", address)
	}
	return table.Flush()
}

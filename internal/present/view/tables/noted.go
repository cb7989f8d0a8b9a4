package tables

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"kolla.openstack.org/kolla/internal/base/foreign"
)

// noted is a table with notes below its rows. Notes must not widen the columns, so they follow when
// the table is complete.
type noted struct {
	table   bytes.Buffer
	columns *tabwriter.Writer
	notes   [][]string // of each row
}

func newNoted() *noted {
	n := &noted{}
	n.columns = tabwriter.NewWriter(&n.table, 0, 8, 2, ' ', 0)
	return n
}

// row adds a row with notes. All rows have the same number of cells.
func (n *noted) row(notes []string, cells ...string) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(n.columns, "\t")
		}
		foreign.Fprintf(n.columns, "%s", cell)
	}
	fmt.Fprintln(n.columns)
	n.notes = append(n.notes, notes)
}

// write prints the table.
func (n *noted) write(out io.Writer) error {
	if err := n.columns.Flush(); err != nil {
		return err
	}
	for i, line := range slices.Collect(strings.Lines(n.table.String())) {
		fmt.Fprintln(out, strings.TrimRight(line, " \n"))
		for _, note := range n.notes[i] {
			foreign.Fprintf(out, "    %s\n", note)
		}
	}
	return nil
}

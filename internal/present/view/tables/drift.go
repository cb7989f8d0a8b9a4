package tables

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/drift"
)

// Drift prints what others changed: a line for each field. Times are in the zone; nil: the
// local one.
func Drift(out io.Writer, look *drift.Look, zone *time.Location) error {
	foreign.Fprintf(out, "Compared %s of cloud %q with %s in %s.\n", words.Count(look.Declared, "object"), look.Cloud, look.Server, words.Duration(look.Took))
	if err := driftFields(out, look, zone); err != nil {
		return err
	}
	if len(look.NotCompared) > 0 {
		fmt.Fprint(out, "\nNot compared:\n\n")
		for _, n := range look.NotCompared {
			foreign.Fprintf(out, "  %s: %s\n", n.Address, strings.TrimSpace(n.Why+" "+n.Advice))
		}
	}
	if err := orphans(out, look.Orphans, zone); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n", look.Summary())
	if pending := look.PendingText(); pending != "" {
		fmt.Fprintln(out, pending)
	}
	return nil
}

// signs precede the fields, so that no foreign text begins a line.
var signs = map[drift.Change]string{drift.Changed: "~", drift.Added: "+", drift.Removed: "-", drift.Deleted: "-"}

// driftFields lists the fields by object.
func driftFields(out io.Writer, look *drift.Look, zone *time.Location) error {
	if len(look.Fields) == 0 {
		return nil
	}
	fmt.Fprint(out, "\nChanged outside of kolla:\n")
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for i, f := range look.Fields {
		if i == 0 || look.Fields[i-1].Address != f.Address {
			foreign.Fprintf(table, "\n  %s\n", f.Address)
		}
		path := f.Path
		if f.Change == drift.Deleted {
			path = "deleted"
		}
		foreign.Fprintf(table, "    %s %s\t%s\t%s\tknown since %s\n", signs[f.Change], path, f.Values(), f.Author(zone), drift.Moment(f.Since, zone))
	}
	return table.Flush()
}

// orphans lists the objects that kolla does not manage.
func orphans(out io.Writer, found *drift.Orphans, zone *time.Location) error {
	if found == nil {
		return nil
	}
	if len(found.Objects) == 0 {
		fmt.Fprint(out, "\nNo objects were found that kolla does not manage.\n")
	} else {
		fmt.Fprint(out, "\nNot managed by kolla:\n\n")
	}
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, o := range found.Objects {
		foreign.Fprintf(table, "  %s\t%s\t%s\n", o.Ref, o.Place(), o.Origin(zone))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, what := range found.NotListed {
		foreign.Fprintf(out, "  Not listed: %s\n", what)
	}
	return nil
}

// DriftHistory prints the entries of a history since a time.
func DriftHistory(out io.Writer, history *drift.History, since time.Time, zone *time.Location) error {
	entries := history.Since(since)
	if len(entries) == 0 {
		foreign.Fprintf(out, "No drift is known since %s.\n", drift.Moment(since, zone))
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "FIRST SEEN\tGONE\tOBJECT\tFIELD\tBY")
	for _, e := range entries {
		gone, path, by := "-", e.Path, e.Program()
		if !e.Gone.IsZero() {
			gone = drift.Moment(e.Gone, zone)
		}
		if e.Change == drift.Deleted {
			path = "(deleted)"
		}
		if by == "" {
			by = "-"
		}
		foreign.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", drift.Moment(e.First, zone), gone, e.Address, path, by)
	}
	return table.Flush()
}

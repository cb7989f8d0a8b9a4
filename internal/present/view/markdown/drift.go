package markdown

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/drift"
)

// driftMarker returns the first line of a page about drift. A bot finds its own comment by it.
func driftMarker(cloud string) string { return "<!-- kolla drift of " + comment(cloud) + " -->" }

// Drift renders drift in at most budget bytes; zero means Budget. It prints the number
// of rows that do not fit.
func Drift(look *drift.Look, zone *time.Location, budget int) string {
	head := fmt.Sprintf("%s\n### kolla: drift of cloud %s\n\n**%s** %s\n", driftMarker(look.Cloud), code(look.Cloud), text(look.Summary()), text(look.PendingText()))
	foot := fmt.Sprintf("\n<sub>Compared %s with %s at %s, by kolla %s.</sub>\n", words.Count(look.Declared, "object"), text(look.Server), text(drift.Moment(look.At, zone)), text(look.Tool))
	var fields, uncompared, strangers []string
	for _, f := range look.Fields {
		path := "(deleted)"
		if f.Change != drift.Deleted {
			path = code(f.Path)
		}
		fields = append(fields, row(address(f.Address), path, text(f.Values()), text(f.Author(zone)), text(drift.Moment(f.Since, zone))))
	}
	for _, n := range look.NotCompared {
		uncompared = append(uncompared, row(address(n.Address), text(strings.TrimSpace(n.Why+" "+n.Advice))))
	}
	if look.Orphans != nil {
		for _, o := range look.Orphans.Objects {
			strangers = append(strangers, row(code(o.Ref.String()), text(o.Place()), text(o.Origin(zone))))
		}
		for _, what := range look.Orphans.NotListed {
			strangers = append(strangers, row("", "not listed", text(what)))
		}
	}
	tables := slices.DeleteFunc([]driftTable{
		{"Changed outside of kolla:", []string{"Object", "Field", "Change", "By", "Known since"}, fields},
		{"Not compared:", []string{"Object", "Reason"}, uncompared},
		{"Not managed by kolla:", []string{"Object", "Place", "Origin"}, strangers},
	}, func(t driftTable) bool { return len(t.rows) == 0 })
	left := cmp.Or(budget, Budget) - len(head) - len(foot)
	body := ""
	for i, t := range tables {
		body += t.fit((left - len(body)) / (len(tables) - i))
	}
	return head + body + foot
}

// driftTable is a table with its formatted rows.
type driftTable struct {
	title string
	head  []string
	rows  []string
}

// row returns a row of a table. A vertical bar in a span of code would end the cell.
func row(cells ...string) string {
	for i, cell := range cells {
		if strings.HasPrefix(cell, "`") {
			cells[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// fit returns the table in at most budget bytes.
func (t driftTable) fit(budget int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n\n%s|%s\n", t.title, row(t.head...), strings.Repeat(" --- |", len(t.head)))
	const rest = 40 // bytes for the last line
	for i, line := range t.rows {
		if b.Len()+len(line)+rest > budget {
			fmt.Fprintf(&b, "\nand %d more\n", len(t.rows)-i)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

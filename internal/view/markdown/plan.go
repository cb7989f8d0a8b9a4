// Package markdown renders a report for a comment in code review, on GitHub, GitLab or Gitea.
// The verdict and the dangers come first; diffs are folded. All facts and sentences come from
// internal/report.
package markdown

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
)

// Budget is the number of bytes that a comment on GitHub may have.
const Budget = 65_536

// Options choose how much of a plan is shown.
type Options struct {
	Full   bool // every declared field of new objects, and whole values
	Budget int  // bytes; zero: Budget. A full page has no limit.
}

// Marker is the first line of the page. A bot finds its own comment by it.
func Marker(cloud string) string { return "<!-- kolla plan of " + comment(cloud) + " -->" }

// Plan renders a plan. If the page is larger than the budget, the last diffs are left out,
// then the lists of their objects, and the page says so. The summary and the dangers always
// stay.
func Plan(doc *report.Plan, o Options) string {
	if o.Budget == 0 {
		o.Budget = Budget
	}
	foot := closing(doc)
	if o.Full {
		return page{o, len(doc.Actions)}.summary(doc) + join(details(doc, o), 1<<40, 1<<40) + foot
	}
	head := ""
	for _, rows := range []int{30, 10, 3} {
		if head = (page{o, rows}).summary(doc); len(head) < o.Budget/2 {
			break
		}
	}
	return head + fit(details(doc, o), o.Budget-len(head)-len(foot)) + foot
}

// page has the limits of a summary.
type page struct {
	Options
	rows int // of a list; the rest is counted
}

// summary is everything above the diffs.
func (p page) summary(doc *report.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n### kolla: cloud %s\n\n**%s**%s\n", Marker(doc.Cloud), code(doc.Cloud), text(doc.Summary), text(doc.OutputCount))
	for _, sentence := range doc.Scope {
		fmt.Fprintf(&b, "\n%s\n", text(sentence))
	}
	if grave := doc.Grave(p.Full); len(grave) > 0 {
		b.WriteString("\n> [!CAUTION]\n")
		for _, sentence := range grave {
			fmt.Fprintf(&b, "> - %s\n", text(sentence))
		}
	}
	for _, t := range doc.Losses {
		p.table(&b, t)
	}
	if doc.Jobs != nil {
		p.table(&b, *doc.Jobs)
	}
	p.destroyed(&b, doc)
	p.note(&b, doc.Forced)
	p.impact(&b, doc)
	if doc.Kept != nil {
		p.table(&b, *doc.Kept)
	}
	outputs(&b, doc)
	for i := range doc.Unverified {
		p.note(&b, &doc.Unverified[i])
	}
	p.note(&b, doc.Pending)
	p.warnings(&b, doc.Warnings)
	return b.String()
}

// closing says what was compared, and how long ago.
func closing(doc *report.Plan) string {
	said := strings.TrimSpace(doc.Compared.What + " " + doc.Compared.Verdict)
	return fmt.Sprintf("\n<sub>%s Made %s, by kolla %s.</sub>\n", text(said), text(doc.Made), text(doc.Tool))
}

// table lists objects with a text about each.
func (p page) table(b *strings.Builder, t report.Table) {
	fmt.Fprintf(b, "\n%s\n", text(t.Title))
	if len(t.Rows) > 0 {
		b.WriteString("\n")
	}
	for i, row := range t.Rows {
		if p.more(b, i, len(t.Rows)) {
			break
		}
		fmt.Fprintf(b, "- %s: %s\n", address(row.Address), text(row.Text))
	}
	if t.Advice != "" {
		fmt.Fprintf(b, "\n%s\n", text(t.Advice))
	}
	if len(t.Commands) > 0 {
		fmt.Fprintf(b, "\n%s", fenced("sh", t.Commands))
	}
}

// more counts the rows that are left out, at the first of them.
func (p page) more(b *strings.Builder, i, all int) bool {
	if i < p.rows || all <= p.rows+1 {
		return false
	}
	fmt.Fprintf(b, "- and %d more\n", all-i)
	return true
}

// note is a sentence about objects.
func (p page) note(b *strings.Builder, n *report.Note) {
	if n == nil {
		return
	}
	fmt.Fprintf(b, "\n%s\n\n", text(n.Text))
	for i, a := range n.Addresses {
		if p.more(b, i, len(n.Addresses)) {
			break
		}
		fmt.Fprintf(b, "- %s\n", address(a))
	}
	if n.Advice != "" {
		fmt.Fprintf(b, "\n%s\n", text(n.Advice))
	}
}

// destroyed lists the objects that will be deleted, those with data first. A plan that
// destroys everything lists those with data, and counts the others.
func (p page) destroyed(b *strings.Builder, doc *report.Plan) {
	d := doc.Destroyed
	if d == nil {
		return
	}
	fmt.Fprintf(b, "\n**%s**\n\n", text(d.Title))
	listed := d.Actions
	if doc.Destroy {
		fmt.Fprintf(b, "- %s\n", text(d.Kinds))
		listed = slices.DeleteFunc(slices.Clone(listed), func(a *report.Action) bool { return a.Holds == "" })
	}
	for i, a := range listed {
		if p.more(b, i, len(listed)) {
			break
		}
		var said []string
		if a.Holds != "" {
			said = append(said, "**LOST: "+text(a.Holds)+"**")
		}
		if a.Why != "" {
			said = append(said, text(a.Why))
		}
		fmt.Fprintf(b, "- %s\n", strings.TrimSuffix(address(a.Object.Address)+": "+strings.Join(said, "; "), ": "))
	}
	for _, sentence := range append(slices.Clone(d.Renamed), d.Harmless) {
		if sentence != "" {
			fmt.Fprintf(b, "- %s\n", text(sentence))
		}
	}
}

// impact lists the services that are disturbed, grave disturbances first.
func (p page) impact(b *strings.Builder, doc *report.Plan) {
	rows := doc.Disturbances(p.Full)
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n#### Impact\n\n")
	for i, row := range rows {
		if p.more(b, i, len(rows)) {
			break
		}
		fmt.Fprintf(b, "- **%s**: %s\n", text(row.Label()), text(row.Sentence()))
	}
}

// outputs lists the outputs that change.
func outputs(b *strings.Builder, doc *report.Plan) {
	if len(doc.Outputs) == 0 {
		return
	}
	var lines []string
	for _, out := range doc.Outputs {
		if out.Before != "" {
			lines = append(lines, "- "+out.Name+" = "+out.Before)
		}
		if out.After != "" {
			lines = append(lines, "+ "+out.Name+" = "+out.After)
		}
	}
	fmt.Fprintf(b, "\n#### Outputs\n\n%s", fenced("diff", lines))
	if doc.OutputNote != "" {
		fmt.Fprintf(b, "\n%s\n", text(doc.OutputNote))
	}
}

// warnings are those of the planner and of the server.
func (p page) warnings(b *strings.Builder, all []report.Message) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n", words.Count(len(all), "warning"))
	for i, m := range all {
		if p.more(b, i, len(all)) {
			break
		}
		fmt.Fprintf(b, "- **%s** %s%s\n", text(report.Headline(m.Summary)), text(m.Detail), places(m.Places))
	}
	b.WriteString("\n</details>\n")
}

// places are the objects of a message, and their places in the configuration.
func places(all []report.Place) string {
	var out []string
	for i, at := range all {
		if i == report.Similar && len(all) > report.Similar+1 {
			out = append(out, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		switch {
		case at.Address == (addrs.Object{}):
			out = append(out, code(at.Source))
		case at.Source == "":
			out = append(out, address(at.Address))
		default:
			out = append(out, address(at.Address)+" at "+code(at.Source))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

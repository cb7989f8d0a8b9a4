// Package markdown renders a report for a comment in code review, on GitHub, GitLab or Gitea.
// The verdict and the dangers come first; diffs are folded. All facts and sentences come from
// internal/present/report.
package markdown

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/addrs"
)

// Budget is the number of bytes that a comment on GitHub may have.
const Budget = 65_536

// Options choose how much of a plan is shown.
type Options struct {
	Full   bool // every declared field of new objects, and whole values
	Budget int  // bytes; zero: Budget, and no limit for a full page
}

// planMarker returns the first line of the page. A bot finds its own comment by it.
func planMarker(cloud string) string { return "<!-- kolla plan of " + comment(cloud) + " -->" }

// marker is planMarker, or its form for a comparison without a cluster: that is another comment.
func marker(doc *report.Plan) string {
	if doc.Rendered {
		return "<!-- kolla diff of " + comment(doc.Cloud) + " -->"
	}
	return planMarker(doc.Cloud)
}

// Plan renders a plan. If the page is larger than the budget, the last diffs are left out,
// then the lists of their objects, and the page says so. The summary and the dangers always
// stay.
func Plan(doc *report.Plan, o Options) string {
	sizes := sizes
	if o.Full {
		sizes = append([]limits{{all, all, all, math.MaxInt}}, sizes...)
	}
	switch {
	case o.Budget == 0 && o.Full:
		o.Budget = math.MaxInt
	case o.Budget == 0:
		o.Budget = Budget
	}
	foot := closing(doc)
	head := ""
	for _, size := range sizes {
		if head = (page{o, size}).summary(doc); len(head) < o.Budget/2 {
			break
		}
	}
	return head + fit(details(doc, o), o.Budget-len(head)-len(foot)) + foot
}

// page writes a summary within limits.
type page struct {
	Options
	limits
}

// limits bound a summary, whatever the lengths of values and messages. The rest of a list is
// counted.
type limits struct {
	rows         int // of a list
	deletions    int // rows of the list of deletions
	disturbances int // rows of the impact
	bytes        int // of a text; the rest is left out
}

const all = math.MaxInt - 1

// sizes are the limits of smaller and smaller summaries. The impact is complete as long as deletions
// are listed.
var sizes = []limits{{30, 30, all, 4000}, {10, 10, all, 1000}, {3, 3, all, 400}, {3, 0, all, 400}, {3, 0, 30, 400}, {3, 0, 3, 400}}

// text is text within the limit.
func (p page) text(s string) string { return text(p.clip(s)) }

// clip cuts a text that is too long, and says so.
func (p page) clip(s string) string {
	if len(s) <= p.bytes {
		return s
	}
	return words.Shorter(strings.ToValidUTF8(s[:p.bytes], "")+fmt.Sprintf("… (%d bytes more)", len(s)-p.bytes), s)
}

// summary is everything above the diffs.
func (p page) summary(doc *report.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n### kolla: cloud %s\n\n**%s**%s\n", marker(doc), code(doc.Cloud), p.text(doc.Summary), p.text(doc.OutputCount))
	for _, sentence := range doc.Scope {
		fmt.Fprintf(&b, "\n%s\n", p.text(sentence))
	}
	p.errors(&b, doc.Errors)
	p.upgrade(&b, doc.Upgrade)
	p.policies(&b, doc.Policies)
	if dangers := doc.Dangers(p.Full); len(dangers) > 0 {
		b.WriteString("\n> [!CAUTION]\n")
		for _, sentence := range dangers {
			fmt.Fprintf(&b, "> - %s\n", p.text(sentence))
		}
	}
	p.impact(&b, doc)
	for _, t := range doc.Losses {
		p.table(&b, t)
	}
	if doc.Jobs != nil {
		p.table(&b, *doc.Jobs)
	}
	p.destroyed(&b, doc)
	p.note(&b, doc.Forced)
	if doc.Kept != nil {
		p.table(&b, *doc.Kept)
	}
	p.outputs(&b, doc)
	for i := range doc.Unverified {
		p.note(&b, &doc.Unverified[i])
	}
	p.note(&b, doc.Pending)
	p.warnings(&b, doc.Warnings)
	return b.String()
}

// upgrade says that the OpenStack release changes.
func (p page) upgrade(b *strings.Builder, u *report.Upgrade) {
	if u == nil {
		return
	}
	kind := "IMPORTANT"
	if u.Grave {
		kind = "CAUTION"
	}
	fmt.Fprintf(b, "\n> [!%s]\n> **%s**\n", kind, p.text(u.Title))
	if len(u.Lines) > 0 {
		b.WriteString(">\n")
	}
	for _, sentence := range u.Lines {
		fmt.Fprintf(b, "> - %s\n", p.text(sentence))
	}
}

// policies lists the policies that the plan does not meet.
func (p page) policies(b *strings.Builder, all *report.Policies) {
	if all == nil {
		return
	}
	fmt.Fprintf(b, "\n%s\n", p.text(all.Title))
	if len(all.Unmet) > 0 {
		b.WriteString("\n")
	}
	for policy := range limited(p, b, all.Unmet) {
		fmt.Fprintf(b, "- **%s** %s: %s (%s)\n", p.text(policy.Verdict), code(policy.Name), p.text(policy.Message), code(policy.Source))
	}
}

// closing says what was compared, and how long ago.
func closing(doc *report.Plan) string {
	said := strings.TrimSpace(doc.Compared.What + " " + doc.Compared.Verdict)
	return fmt.Sprintf("\n<sub>%s Made %s, by kolla %s.</sub>\n", text(said), text(doc.Made), text(doc.Tool))
}

// table lists objects with a text about each.
func (p page) table(b *strings.Builder, t report.Table) {
	fmt.Fprintf(b, "\n%s\n", p.text(t.Title))
	if len(t.Rows) > 0 {
		b.WriteString("\n")
	}
	for row := range limited(p, b, t.Rows) {
		fmt.Fprintf(b, "- %s: %s\n", address(row.Address), p.text(row.Text))
	}
	if t.Advice != "" {
		fmt.Fprintf(b, "\n%s\n", p.text(t.Advice))
	}
	if len(t.Commands) > 0 {
		fmt.Fprintf(b, "\n%s", fenced("sh", p.lines(t.Commands)))
	}
}

// limited iterates over the rows of a list within the limit, and then prints the number of the others.
func limited[T any](p page, b *strings.Builder, all []T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i, row := range all {
			if i >= p.rows && len(all) > p.rows+1 {
				fmt.Fprintf(b, "- and %d more\n", len(all)-i)
				return
			}
			if !yield(row) {
				return
			}
		}
	}
}

// lines returns a list within the limits. Its last line counts the lines that are left out.
func (p page) lines(all []string) []string {
	var out []string
	for i, line := range all {
		if i >= p.rows && len(all) > p.rows+1 {
			return append(out, fmt.Sprintf("# and %d more", len(all)-i))
		}
		out = append(out, p.clip(line))
	}
	return out
}

// note is a sentence about objects.
func (p page) note(b *strings.Builder, n *report.Note) {
	if n == nil {
		return
	}
	fmt.Fprintf(b, "\n%s\n\n", p.text(n.Text))
	for a := range limited(p, b, n.Addresses) {
		fmt.Fprintf(b, "- %s\n", address(a))
	}
	if n.Advice != "" {
		fmt.Fprintf(b, "\n%s\n", p.text(n.Advice))
	}
}

// destroyed lists the objects that will be deleted, those with data first. A plan that
// destroys everything lists those with data, and counts the others.
func (p page) destroyed(b *strings.Builder, doc *report.Plan) {
	d := doc.Destroyed
	if d == nil {
		return
	}
	fmt.Fprintf(b, "\n**%s**\n\n", p.text(d.Title))
	listed, folded := d.Listed, d.Folded
	if doc.Destroy {
		fmt.Fprintf(b, "- %s\n", p.text(d.Kinds))
		listed, folded = slices.DeleteFunc(slices.Clone(listed), func(a *report.Action) bool { return a.Holds == "" }), ""
	}
	p.rows = p.deletions
	for a := range limited(p, b, listed) {
		var said []string
		if a.Holds != "" {
			said = append(said, "**LOST: "+p.text(a.Holds)+"**")
		}
		if a.Why != "" {
			said = append(said, p.text(a.Why))
		}
		fmt.Fprintf(b, "- %s\n", strings.TrimSuffix(address(a.Object.Address)+": "+strings.Join(said, "; "), ": "))
	}
	for _, sentence := range append(slices.Clone(d.Renamed), folded, d.Harmless) {
		if sentence != "" {
			fmt.Fprintf(b, "- %s\n", p.text(sentence))
		}
	}
}

// impact lists the services that are disturbed, grave disturbances first.
func (p page) impact(b *strings.Builder, doc *report.Plan) {
	rows := doc.Disturbed(p.Full)
	if len(rows) == 0 {
		return
	}
	p.rows = p.disturbances
	b.WriteString("\n#### Impact\n\n")
	for row := range limited(p, b, rows) {
		if len(row.Lines) == 1 {
			fmt.Fprintf(b, "- **%s**: %s\n", p.text(row.Label), p.text(row.Lines[0].Sentence()))
			continue
		}
		fmt.Fprintf(b, "- **%s**\n", p.text(row.Label))
		for _, line := range row.Lines {
			fmt.Fprintf(b, "  - %s\n", p.text(line.Sentence()))
		}
	}
}

// outputs lists the outputs that change.
func (p page) outputs(b *strings.Builder, doc *report.Plan) {
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
	fmt.Fprintf(b, "\n#### Outputs\n\n%s", fenced("diff", p.lines(lines)))
	if doc.OutputNote != "" {
		fmt.Fprintf(b, "\n%s\n", p.text(doc.OutputNote))
	}
}

// errors are the reasons for which the plan cannot be applied. They are not folded, and what
// they advise can be copied.
func (p page) errors(b *strings.Builder, all []report.Message) {
	if len(all) > 0 {
		b.WriteString("\n")
	}
	for m := range limited(p, b, all) {
		fmt.Fprintf(b, "**Error: %s**%s\n\n", p.text(report.Headline(m.Summary)), places(m.Places))
		if m.Detail != "" {
			fmt.Fprintf(b, "%s\n", fenced("text", p.lines(strings.Split(m.Detail, "\n"))))
		}
	}
}

// warnings are those of the planner and of the server.
func (p page) warnings(b *strings.Builder, all []report.Message) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n", words.Count(len(all), "warning"))
	for m := range limited(p, b, all) {
		fmt.Fprintf(b, "- **%s** %s%s\n", p.text(report.Headline(m.Summary)), p.text(m.Detail), places(m.Places))
	}
	b.WriteString("\n</details>\n")
}

// places returns the objects of a message, and their places in the configuration.
func places(all []report.Place) string {
	var out []string
	for _, at := range all {
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
	return " (" + strings.Join(words.First(out, report.Similar, ""), ", ") + ")"
}

// Package terminal renders a report for a terminal: it chooses widths, colours and line
// breaks, shortens long values, and tells similar things together. All facts and sentences
// come from internal/present/report: this package cannot see a plan.
package terminal

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/lang/addrs"
)

// Options choose how much of a plan is shown.
type Options struct {
	Full    bool // every declared field of new objects, and whole values
	Compact bool // one line for each action
	Summary bool // the impact and the dangers, without objects
	Saved   bool // the plan comes from a file
	Applied bool // and was applied already
}

// page is a plan, the options and the output.
type page struct {
	doc     *report.Plan
	options Options
	out     screen.Stream
	width   int
}

// Plan renders a plan. Dangers come first and the summary comes last, because a screen shows
// the ends.
func Plan(doc *report.Plan, options Options, stream screen.Stream) []screen.Line {
	p := page{doc: doc, options: options, out: stream, width: stream.Width}
	if options.Summary {
		return sections(append(saved(p), compared(p)...), scope(p), upgrade(p), losses(p), impact(p), grave(p), unverified(p), pending(p), warnings(p), policies(p), summary(p))
	}
	return sections(
		append(saved(p), compared(p)...),
		scope(p),
		upgrade(p),
		losses(p),
		destroyed(p),
		forced(p),
		drift(p),
		replaced(p),
		yielded(p),
		added(p),
		p.actions(p.items()),
		kept(p),
		impact(p),
		grave(p),
		outputs(p),
		unverified(p),
		pending(p),
		warnings(p),
		policies(p),
		summary(p),
	)
}

// saved describes the saved plan and the time when it was made.
func saved(p page) []screen.Line {
	if !p.options.Saved {
		return nil
	}
	out := []screen.Line{
		screen.Text("Plan ").Then(screen.Styled(screen.Bold, p.doc.ID)),
		screen.Textf("  made %s, by kolla %s", p.doc.Made, p.doc.Tool),
	}
	if p.options.Applied {
		out = append(out, screen.Styled(screen.Caution, "It was used already, and a plan is applied once: make a new one."))
	}
	return append(out, nil)
}

// compared says how many objects were compared, and with which result.
func compared(p page) []screen.Line {
	what := screen.Text(p.doc.Compared.What)
	if p.doc.Compared.Verdict == "" {
		return []screen.Line{what}
	}
	if l := what.Then(screen.Text(" " + p.doc.Compared.Verdict)); l.Width() <= p.width {
		return []screen.Line{l}
	}
	return []screen.Line{what, screen.Text("  " + p.doc.Compared.Verdict)}
}

// scope lists restrictions of the plan.
func scope(p page) []screen.Line {
	var out []screen.Line
	for _, note := range p.doc.Scope {
		out = append(out, p.cautious(note)...)
	}
	return out
}

// upgrade says that the OpenStack release changes.
func upgrade(p page) []screen.Line {
	u := p.doc.Upgrade
	if u == nil {
		return nil
	}
	style := screen.Bold
	if u.Grave {
		style = screen.Danger
	}
	var out []screen.Line
	for _, l := range p.out.Quoting(u.Title) {
		out = append(out, screen.Styled(style, l.String()))
	}
	for _, text := range u.Lines {
		for i, line := range screen.Wrap(text, p.out.ProseWidth()-4) {
			mark := "  - "
			if i > 0 {
				mark = "    "
			}
			out = append(out, screen.Text(mark+line))
		}
	}
	return out
}

// cautious returns running text that quotes others, in the colour of a warning.
func (p page) cautious(words string) []screen.Line {
	var out []screen.Line
	for _, l := range p.out.Quoting(words) {
		out = append(out, screen.Styled(screen.Caution, l.String()))
	}
	return out
}

// prose returns running text of kolla.
func prose(words string, width int, style screen.Style) []screen.Line {
	var out []screen.Line
	for _, part := range screen.Wrap(words, width) {
		out = append(out, screen.Styled(style, part))
	}
	return out
}

// losses lists lost data, and jobs that may have to run again.
func losses(p page) []screen.Line {
	var out []screen.Line
	for _, table := range p.doc.Losses {
		if out != nil {
			out = append(out, nil)
		}
		out = append(out, prose(table.Title, p.width, screen.Danger)...)
		var rows [][2]screen.Line
		for _, row := range table.Rows {
			head := screen.Styled(screen.Danger, "    ! ").Then(screen.Styled(screen.Bold, row.Address.String()))
			rows = append(rows, [2]screen.Line{head, screen.Text(row.Text)})
		}
		out = append(out, p.columns(rows)...)
		if table.Advice != "" {
			out = append(append(out, nil), prose(table.Advice, p.out.ProseWidth(), screen.Plain)...)
		}
	}
	if jobs := p.doc.Jobs; jobs != nil {
		out = append(append(out, nil), prose(jobs.Title, p.width, screen.Caution)...)
		for _, command := range jobs.Commands {
			out = append(out, screen.Text("  "+command))
		}
	}
	return out
}

// destroyed lists all deletions before anything else.
func destroyed(p page) []screen.Line {
	d := p.doc.Destroyed
	if d == nil {
		return nil
	}
	out := []screen.Line{screen.Styled(screen.Danger, d.Title)}
	switch {
	case p.doc.Destroy: // the plan has no other actions
		for _, part := range screen.Wrap(d.Kinds, p.width-2) {
			out = append(out, screen.Text("  "+part))
		}
		return append(out, lostWith(p)...)
	case p.options.Compact: // the objects are not listed again
		return append(append(append(out, nil), p.grouped(d.Actions)...), lostWith(p)...)
	}
	var rows [][2]screen.Line
	for _, a := range d.Listed {
		sign := screen.Styled(mark(a.Sign).style, fmt.Sprintf("  %3s ", mark(a.Sign).text))
		rows = append(rows, [2]screen.Line{sign.Then(screen.Styled(screen.Bold, a.Object.Address.String())), why(a)})
	}
	out = append(append(out, nil), p.columns(rows)...)
	for _, words := range d.Renamed {
		for _, l := range prose(words, max(p.width-6, 40), screen.Faint) {
			out = append(out, l.Indent(6))
		}
	}
	for _, words := range []string{d.Folded, d.Harmless} {
		if words != "" {
			out = append(out, screen.Styled(screen.Faint, "      "+words))
		}
	}
	return out
}

// why returns the reason of an action in one line, lost data first.
func why(a *report.Action) screen.Line {
	switch {
	case a.Holds != "" && a.Why != "":
		return screen.Styled(screen.Danger, "LOST: "+a.Holds).Then(screen.Text("; " + a.Why))
	case a.Holds != "":
		return screen.Styled(screen.Danger, "LOST: "+a.Holds)
	case a.Why == "":
		return nil
	}
	return screen.Text(a.Why)
}

// lostWith names lost data if there is no room for it beside the objects.
func lostWith(p page) []screen.Line {
	var rows [][2]screen.Line
	for _, a := range p.doc.Destroyed.Actions {
		if a.Risk == report.LosesData {
			head := screen.Styled(screen.Danger, "  LOST with ").Then(screen.Styled(screen.Bold, a.Object.Address.String()))
			rows = append(rows, [2]screen.Line{head, screen.Text(a.Holds)})
		}
	}
	return p.columns(rows)
}

// forced lists objects with fields that are taken from others.
func forced(p page) []screen.Line {
	if p.doc.Forced == nil {
		return nil
	}
	return append([]screen.Line{screen.Styled(screen.Danger, p.doc.Forced.Text)}, p.some(p.doc.Forced.Addresses)...)
}

// kept lists objects that stay, and says how to delete them.
func kept(p page) []screen.Line {
	k := p.doc.Kept
	if k == nil {
		return nil
	}
	var rows [][2]screen.Line
	for _, row := range k.Rows {
		rows = append(rows, [2]screen.Line{screen.Styled(screen.Bold, row.Address.String()).Indent(2), screen.Text(row.Text)})
	}
	out := append([]screen.Line{screen.Text(k.Title), nil}, p.columns(rows)...)
	out = append(append(out, nil), prose(k.Advice, p.out.ProseWidth(), screen.Plain)...)
	if len(k.Commands) > 0 {
		out = append(out, nil)
	}
	for _, command := range k.Commands {
		out = append(out, screen.Text("  "+command))
	}
	return out
}

// impact lists the disturbed services. Many services with the same disturbance are one entry.
func impact(p page) []screen.Line {
	rows := p.doc.Disturbed(p.options.Full)
	if len(rows) == 0 {
		return nil
	}
	names := 0
	for _, row := range rows {
		names = max(names, screen.Columns(row.Label))
	}
	out := []screen.Line{screen.Text("Impact:")}
	empty := screen.Line{}.Pad(2 + names + 3)
	for _, row := range rows {
		head := screen.Styled(screen.Bold, row.Label).Indent(2).Pad(2 + names + 3)
		for _, line := range row.Lines {
			look := screen.Plain
			if line.Grave {
				look = screen.Danger
			}
			for n, part := range screen.Wrap(line.Sentence(), max(p.width-names-7, 30)) {
				if n > 0 {
					part = "  " + part
				}
				out = append(out, head.Then(screen.Styled(look, part)))
				head = empty
			}
		}
	}
	return out
}

// grave lists the dangers that the impact does not contain: those of a comparison without a cluster,
// which has no question that could name them, and those of a summary, which lists no objects.
func grave(p page) []screen.Line {
	var rest []string
	if p.doc.Rendered || p.options.Summary {
		rest = p.doc.Dangers(p.options.Full)
	}
	for _, d := range p.doc.Disturbances(p.options.Full) {
		rest = slices.DeleteFunc(rest, func(danger string) bool { return danger == d.Label()+": "+d.Sentence() })
	}
	if len(rest) == 0 {
		return nil
	}
	out := []screen.Line{screen.Styled(screen.Danger, "Dangers:")}
	for _, danger := range rest {
		for n, part := range screen.Wrap(danger, max(p.out.ProseWidth()-4, 40)) {
			indent := 2
			if n > 0 {
				indent = 4
			}
			out = append(out, screen.Styled(screen.Danger, part).Indent(indent))
		}
	}
	return out
}

// outputs lists the outputs that change, below Terraform's heading.
func outputs(p page) []screen.Line {
	if len(p.doc.Outputs) == 0 {
		return nil
	}
	out := []screen.Line{screen.Text("Changes to Outputs:")}
	names := 0
	for _, o := range p.doc.Outputs {
		names = max(names, screen.Columns(o.Name))
	}
	for _, o := range p.doc.Outputs {
		m := mark(o.Sign)
		name := screen.Styled(m.style, "  "+m.text+" ").Then(screen.Text(o.Name)).Pad(4 + names)
		out = append(out, name.Then(screen.Text(" = "+outputChange(p, o, names))))
	}
	if p.doc.OutputNote != "" {
		out = append(append(out, nil), prose(p.doc.OutputNote, p.out.ProseWidth(), screen.Plain)...)
	}
	return out
}

// outputChange returns the value of an output, or both values if it changes.
func outputChange(p page, o report.Output, names int) string {
	before, after := o.Before, o.After
	room := max(p.width-names-7, 30)
	if p.options.Full {
		room = max(len(before), len(after))
	}
	switch o.Sign {
	case report.Add:
		return shorten(after, len([]rune(after)), room)
	case report.Remove:
		return shorten(before, len([]rune(before)), room)
	}
	before, after = shortenPair(before, after, len([]rune(before)), len([]rune(after)), room/2-2)
	return before + " → " + after
}

// unverified lists actions that the server did not check, with the cause and advice.
func unverified(p page) []screen.Line {
	var out []screen.Line
	for _, note := range p.doc.Unverified {
		out = append(append(out, p.cautious(note.Text)...), p.some(note.Addresses)...)
		if note.Advice != "" {
			out = append(out, p.out.Quoting(note.Advice)...)
		}
	}
	return out
}

// pending lists unchanged objects that are not ready.
func pending(p page) []screen.Line {
	if p.doc.Pending == nil {
		return nil
	}
	return append(prose(p.doc.Pending.Text, p.out.ProseWidth(), screen.Caution), p.some(p.doc.Pending.Addresses)...)
}

// warnings returns the warnings of the planner and of the server. They are near the end, because a
// screen shows the end of a plan.
func warnings(p page) []screen.Line {
	var out []screen.Line
	for i, m := range p.doc.Warnings {
		if i > 0 {
			out = append(out, nil)
		}
		lines := Problem(m).Lines(p.out.Inner(DetailIndent))
		out = append(out, lines[:len(lines)-1]...)
	}
	return out
}

// policies lists the policies that the plan does not meet.
func policies(p page) []screen.Line {
	if p.doc.Policies == nil {
		return nil
	}
	out := []screen.Line{screen.Text(p.doc.Policies.Title)}
	var rows [][2]screen.Line
	for _, policy := range p.doc.Policies.Unmet {
		style := screen.Caution
		if policy.Denies {
			style = screen.Danger
		}
		head := screen.Styled(style, fmt.Sprintf("  %-10s ", policy.Verdict)).Then(screen.Styled(screen.Bold, policy.Name))
		rows = append(rows, [2]screen.Line{head, screen.Text(policy.Message)})
	}
	return append(out, p.columns(rows)...)
}

// some lists addresses up to a limit.
func (p page) some(addresses []addrs.Object) []screen.Line {
	const maxAddresses = 10
	var out []screen.Line
	for i, a := range addresses {
		if i == maxAddresses && len(addresses) > maxAddresses+1 && !p.options.Full {
			out = append(out, screen.Textf("  and %d more", len(addresses)-maxAddresses))
			break
		}
		out = append(out, screen.Text("  "+a.String()))
	}
	return out
}

// summary is Terraform's closing line.
func summary(p page) []screen.Line {
	sentence := p.doc.Summary
	if none, after, ok := strings.Cut(sentence, ". "); ok && (none == "No changes" || none == "No differences") {
		return []screen.Line{screen.Styled(screen.Added, none+".").Then(screen.Text(" " + after))}
	}
	head, rest, _ := strings.Cut(sentence, " ")
	out := screen.Styled(screen.Bold, head)
	if n := p.doc.Counts.Destroy; n > 0 {
		destroyed := fmt.Sprintf("%d to destroy", n)
		before, after, _ := strings.Cut(rest, destroyed)
		return []screen.Line{out.Then(screen.Text(" "+before), screen.Styled(screen.Danger, destroyed), screen.Text(after))}
	}
	return []screen.Line{out.Then(screen.Text(" " + rest))}
}

// columns aligns the second parts of rows if they fit.
func (p page) columns(rows [][2]screen.Line) []screen.Line {
	first := 0
	for _, row := range rows {
		if row[0].Width()+3+row[1].Width() <= p.width {
			first = max(first, row[0].Width())
		}
	}
	var out []screen.Line
	for _, row := range rows {
		switch {
		case len(row[1]) == 0:
			out = append(out, row[0])
		case max(first, row[0].Width())+3+row[1].Width() <= p.width:
			out = append(out, row[0].Pad(first).Then(screen.Text("   "), row[1]))
		default:
			out = append(out, row[0])
			for _, l := range prose(row[1].String(), max(p.width-8, 40), row[1][0].Style) {
				out = append(out, l.Indent(8))
			}
		}
	}
	return out
}

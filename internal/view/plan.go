package view

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner"
)

// PlanOptions choose how much of a plan is shown.
type PlanOptions struct {
	Full    bool // every declared field of what is created, nothing shortened
	Compact bool // one line an action
}

// Plan prints a plan to standard output. The error is that of writing.
func (p *Printer) Plan(plan *planner.Plan, options PlanOptions) error {
	v := &planView{Printer: p, plan: plan, options: options, width: p.Out.Width}
	return p.Out.print(v.lines())
}

// planView renders one plan.
type planView struct {
	*Printer
	plan    *planner.Plan
	options PlanOptions
	width   int
}

// lines is the whole output: what is in danger first, the summary last, because
// the ends are what is on the screen.
func (v *planView) lines() []line {
	out := v.compared()
	actions := v.items()
	for _, section := range [][]line{
		v.destroyed(),
		v.drift(),
		v.keptChanges(),
		v.yielded(),
		v.foreign(),
		v.actions(actions),
		v.kept(),
		v.impact(),
		v.unverified(),
		v.pending(),
		v.summary(),
	} {
		if len(section) > 0 {
			out = append(append(out, nil), section...)
		}
	}
	return out
}

// compared says what was compared, and how much of it is as it should be.
func (v *planView) compared() []line {
	unchanged := 0
	for _, a := range v.plan.Actions {
		if a.Verb == planner.None {
			unchanged++
		}
	}
	verdict := fmt.Sprintf("%d unchanged", unchanged)
	if unchanged == 0 {
		verdict = "none unchanged"
	}
	if unchanged == len(v.plan.Actions) {
		verdict = "all unchanged"
	}
	what := textf("Compared %s of cloud %q with %s in %s:",
		count(len(v.plan.Actions), "object"), v.plan.Cloud, v.plan.Cluster.Server, duration(v.plan.Elapsed))
	if l := what.then(text(" " + verdict + ".")); l.width() <= v.width {
		return []line{l}
	}
	return []line{what, text("  " + verdict + ".")}
}

// destroyed lists everything that the plan destroys, before anything else. That
// with which nothing is lost is only counted.
func (v *planView) destroyed() []line {
	var rows [][2]line
	harmlessly := 0
	for i := range v.plan.Actions {
		a := &v.plan.Actions[i]
		switch {
		case harmless(a):
			harmlessly++
		case a.Verb == planner.Delete && !a.Partial:
			rows = append(rows, [2]line{styled(removed, "    - ").then(styled(bold, a.Address.String())), v.why(a)})
		case a.Verb == planner.Replace:
			rows = append(rows, [2]line{styled(removed, "  -/+ ").then(styled(bold, a.Address.String())), v.why(a)})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if v.plan.Destroy { // the actions are nothing but this list
		title := fmt.Sprintf("%s of cloud %q will be DESTROYED:", count(len(rows), "object"), v.plan.Cloud)
		out := []line{styled(danger, title)}
		for _, part := range wrap(v.kinds(), v.width-2) {
			out = append(out, text("  "+part))
		}
		return out
	}
	out := []line{styled(danger, count(len(rows), "object")+" will be DESTROYED:"), nil}
	out = append(out, v.columns(rows)...)
	if harmlessly > 0 {
		out = append(out, styled(faint, fmt.Sprintf("      and %d with which nothing is lost: old versions, failed jobs", harmlessly)))
	}
	return out
}

// why is the reason of an action in one line.
func (v *planView) why(a *planner.Action) line {
	comments := v.comments(a)
	if len(comments) == 0 {
		return nil
	}
	if a.Verb == planner.Replace {
		return text("made again: " + strings.Join(comments, "; "))
	}
	return text(comments[0])
}

// kinds counts what is deleted by kind, most frequent first.
func (v *planView) kinds() string {
	counts := map[string]int{}
	for _, a := range v.plan.Actions {
		if a.Verb == planner.Delete && !a.Partial {
			counts[a.Address.Kind]++
		}
	}
	kinds := sortedKeys(counts)
	slices.SortStableFunc(kinds, func(a, b string) int { return counts[b] - counts[a] })
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", counts[kind], kind)
	}
	return strings.Join(kinds, ", ")
}

// columns puts the second part of each row below the others' where that fits.
func (v *planView) columns(rows [][2]line) []line {
	first := 0
	for _, row := range rows {
		if row[0].width()+3+row[1].width() <= v.width {
			first = max(first, row[0].width())
		}
	}
	var out []line
	for _, row := range rows {
		switch {
		case len(row[1]) == 0:
			out = append(out, row[0])
		case max(first, row[0].width())+3+row[1].width() <= v.width:
			out = append(out, row[0].pad(first).then(text("   "), row[1]))
		default:
			out = append(out, row[0])
			for _, part := range wrap(row[1].String(), max(v.width-8, 40)) {
				out = append(out, text(part).indent(8))
			}
		}
	}
	return out
}

// drift shows what somebody changed in the cluster, and who.
func (v *planView) drift() []line {
	var items []item
	for i := range v.plan.Actions {
		a := &v.plan.Actions[i]
		if it, ok := v.drifted(a); ok {
			items = append(items, it)
		}
	}
	if len(items) == 0 {
		return nil
	}
	out := []line{styled(caution, "Changed outside of kolla, will be put back:")}
	if v.options.Compact {
		out = append(out, nil)
	} else {
		items = fold(items)
	}
	for _, it := range items {
		if !v.options.Compact {
			out = append(out, nil)
		}
		// All of them are again among the actions.
		if n := len(it.heads); n > similar {
			it.heads = append(it.heads[:similar-1:similar-1], styled(faint, fmt.Sprintf("  # and %d more, all listed below", n-similar+1)))
		}
		out = append(out, it.lines()...)
	}
	return out
}

// drifted is the part of an action that is there because of somebody else.
func (v *planView) drifted(a *planner.Action) (item, bool) {
	head := text("  # ").then(styled(bold, a.Address.String()))
	if hasReason(a, planner.ReasonGone) && fresh(a) {
		if v.options.Compact {
			return item{heads: []line{head.then(text(": deleted"))}}, true
		}
		return item{heads: []line{head}, body: []line{styled(removed, "-").then(text(" deleted from the cluster")).indent(bodyIndent)}}, true
	}
	var changes []planner.Change
	var paths []string
	f := v.fields(a)
	for _, c := range a.Changes {
		if c.Drift {
			changes = append(changes, c)
			paths = append(paths, f.path(c))
		}
	}
	if len(changes) == 0 {
		return item{}, false
	}
	if v.options.Compact {
		return item{heads: []line{head.then(text(": " + strings.Join(paths, ", ")))}}, true
	}
	f.note = func(c planner.Change) string { return v.culprit(c, v.plan.Created) }
	return item{heads: []line{head}, body: f.render(changes)}, true
}

// kept lists what a destroy leaves.
func (v *planView) kept() []line {
	if len(v.plan.Kept) == 0 {
		return nil
	}
	var rows [][2]line
	for _, k := range v.plan.Kept {
		rows = append(rows, [2]line{styled(bold, k.Address.String()).indent(2), text(k.Holds)})
	}
	return append([]line{text("Kept, because they hold data:"), nil}, v.columns(rows)...)
}

// moves reports whether there is something to do that is not counted.
func (v *planView) moves() bool {
	return slices.ContainsFunc(v.plan.Actions, func(a planner.Action) bool { return a.Verb != planner.None && hasReason(&a, planner.ReasonMoved) })
}

// impact says what is disturbed, service by service.
func (v *planView) impact() []line {
	if len(v.plan.Impact) == 0 {
		return nil
	}
	names := 0
	for _, i := range v.plan.Impact {
		names = max(names, columns(serviceName(i.Block)))
	}
	out := []line{text("Impact:")}
	for _, i := range v.plan.Impact {
		head := styled(bold, serviceName(i.Block)).indent(2).pad(2 + names + 3)
		for _, l := range i.Lines {
			for n, part := range wrap(l, max(v.width-names-7, 30)) {
				if n > 0 {
					part = "  " + part
				}
				out = append(out, head.then(text(part)))
				head = line{}.pad(2 + names + 3)
			}
		}
	}
	return out
}

func serviceName(block string) string { return strings.TrimPrefix(block, "service.") }

// unverified names what no server could be asked about, by cause.
func (v *planView) unverified() []line {
	byCause := map[string][]lang.Address{}
	for _, a := range v.plan.Actions {
		if a.Evidence.Kind == planner.Unverified {
			byCause[a.Evidence.Detail] = append(byCause[a.Evidence.Detail], a.Address)
		}
	}
	var out []line
	for _, cause := range sortedKeys(byCause) {
		note := "Not checked by the server; what is shown is kolla's own reckoning"
		if cause != "" {
			note += " (" + cause + ")"
		}
		for _, part := range wrap(note+":", v.Out.prose(0)) {
			out = append(out, styled(caution, part))
		}
		out = append(out, v.some(byCause[cause])...)
	}
	return out
}

// pending names what matches but is not ready.
func (v *planView) pending() []line {
	var waiting []lang.Address
	for _, a := range v.plan.Actions {
		if a.Verb == planner.None && a.Pending {
			waiting = append(waiting, a.Address)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	verb := "are"
	if len(waiting) == 1 {
		verb = "is"
	}
	title := fmt.Sprintf("%s %s not ready yet; apply waits for them:", count(len(waiting), "object"), verb)
	if len(waiting) == 1 {
		title = strings.Replace(title, "them", "it", 1)
	}
	return append([]line{styled(caution, title)}, v.some(waiting)...)
}

// some lists addresses, but not endlessly.
func (v *planView) some(addresses []lang.Address) []line {
	const most = 10
	var out []line
	for i, a := range addresses {
		if i == most && len(addresses) > most+1 && !v.options.Full {
			out = append(out, textf("  and %d more", len(addresses)-most))
			break
		}
		out = append(out, text("  "+a.String()))
	}
	return out
}

// summary is Terraform's closing line.
func (v *planView) summary() []line {
	c := v.plan.Counts()
	if c == (planner.Counts{}) && !v.moves() {
		if v.plan.Destroy {
			return []line{styled(added, "No changes.").then(text(" No objects need to be destroyed."))}
		}
		return []line{styled(added, "No changes.").then(text(" Your infrastructure matches the configuration."))}
	}
	sentence := " "
	if c.Import > 0 {
		sentence += fmt.Sprintf("%d to import, ", c.Import)
	}
	sentence += fmt.Sprintf("%d to add, %d to change, %d to destroy", c.Add, c.Change, c.Destroy)
	if c.Forget > 0 {
		sentence += fmt.Sprintf(", %d to forget", c.Forget)
	}
	return []line{styled(bold, "Plan:").then(text(sentence + "."))}
}

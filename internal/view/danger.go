package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// byRisk are the actions in the order of their risk, else in that of the plan.
func (v *planView) byRisk() []*plans.Action {
	var out []*plans.Action
	for i := range v.plan.Actions {
		out = append(out, &v.plan.Actions[i])
	}
	slices.SortStableFunc(out, func(a, b *plans.Action) int { return cmp.Compare(report.RiskOf(a), report.RiskOf(b)) })
	return out
}

// scope says that the plan is not about the whole cloud, or not about the cluster.
func (v *planView) scope() []screen.Line {
	var notes []string
	if v.plan.RefreshOnly {
		notes = append(notes, "This plan only refreshes the state: nothing in the cluster will be changed.")
	}
	if v.plan.Selection.Restricts() {
		notes = append(notes, fmt.Sprintf("This plan is restricted (%s): nothing else was compared, and nothing else will be changed.", v.plan.Selection))
	}
	var out []screen.Line
	for _, note := range notes {
		for _, l := range v.Out.Quoting(note) {
			out = append(out, screen.Styled(screen.Caution, l.String()))
		}
	}
	return out
}

// destroyed lists everything that the plan destroys, before anything else, and of
// that first what holds data. That with which nothing is lost is only counted.
func (v *planView) destroyed() []screen.Line {
	var rows [][2]screen.Line
	var all []*plans.Action
	harmlessly := 0
	for _, a := range v.byRisk() {
		switch report.RiskOf(a) {
		case report.CleansUp:
			harmlessly++
		case report.LosesData, report.Destroys:
			sign, _ := markOf(a)
			rows = append(rows, [2]screen.Line{screen.Styled(sign.style, fmt.Sprintf("  %3s ", sign.text)).Then(screen.Styled(screen.Bold, a.Address.String())), v.why(a)})
			all = append(all, a)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if v.plan.Destroy { // the actions are nothing but this list
		title := fmt.Sprintf("%s of cloud %q will be DESTROYED:", words.Count(len(rows), "object"), v.plan.Cloud)
		out := []screen.Line{screen.Styled(screen.Danger, title)}
		for _, part := range screen.Wrap(v.kinds(), v.width-2) {
			out = append(out, screen.Text("  "+part))
		}
		return append(out, v.lostWith()...)
	}
	out := []screen.Line{screen.Styled(screen.Danger, words.Count(len(rows), "object")+" will be DESTROYED:"), nil}
	if v.options.Compact { // one line an action: these are not listed again
		return append(append(out, v.grouped(all)...), v.lostWith()...)
	}
	out = append(append(out, v.columns(rows)...), v.renamed()...)
	if harmlessly > 0 {
		out = append(out, screen.Styled(screen.Faint, fmt.Sprintf("      and %d %s", harmlessly, words.Plural(harmlessly, "old version or finished job", "old versions or finished jobs"))))
	}
	return out
}

// lostWith names the data that is lost, where there is no room beside the objects.
func (v *planView) lostWith() []screen.Line {
	var rows [][2]screen.Line
	for _, a := range v.byRisk() {
		if report.RiskOf(a) == report.LosesData {
			rows = append(rows, [2]screen.Line{screen.Styled(screen.Danger, "  LOST with ").Then(screen.Styled(screen.Bold, a.Address.String())), screen.Text(a.Holds)})
		}
	}
	return v.columns(rows)
}

// forced lists what is taken from others, where it is not shown as drift.
func (v *planView) forced() []screen.Line {
	addresses := v.withRisk(report.Takes)
	if len(addresses) == 0 {
		return nil
	}
	return append([]screen.Line{screen.Styled(screen.Danger, "Fields are taken from other managers by FORCE in:")}, v.some(addresses)...)
}

// why is the reason of an action in one line: what is lost by it comes first.
func (v *planView) why(a *plans.Action) screen.Line {
	comments := v.reasons(a)
	if report.HasReason(a, plans.ReasonRenamed) {
		comments = nil // renamed says it of all of them
	}
	if a.Verb == plans.Replace && report.HasReason(a, plans.ReasonRequested) {
		comments = append([]string{"as requested with -replace"}, comments...)
	}
	if a.Heir != (addrs.Object{}) {
		comments = append(comments, report.TakenAlong(a))
	}
	why := strings.Join(comments, "; ")
	if a.Verb == plans.Replace {
		why = "made again: " + why
	}
	switch holds := a.Holds; {
	case holds != "" && why != "":
		return screen.Styled(screen.Danger, "LOST: "+holds).Then(screen.Text("; " + why))
	case holds != "":
		return screen.Styled(screen.Danger, "LOST: "+holds)
	case why == "":
		return nil
	}
	return screen.Text(why)
}

// renamed says once of all objects of a block that moved why they go.
func (v *planView) renamed() []screen.Line {
	var out []screen.Line
	told := map[string]bool{}
	for i := range v.plan.Actions {
		a := &v.plan.Actions[i]
		for _, r := range a.Reasons {
			if r.Kind != plans.ReasonRenamed || told[a.Address.Block] {
				continue
			}
			told[a.Address.Block] = true
			for _, part := range screen.Wrap(fmt.Sprintf("(%s %s)", a.Address.Block, report.Because(r)), max(v.width-6, 40)) {
				out = append(out, screen.Styled(screen.Faint, part).Indent(6))
			}
		}
	}
	return out
}

// kinds counts what is deleted by kind, most frequent first.
func (v *planView) kinds() string {
	counts := map[string]int{}
	for _, a := range v.plan.Actions {
		if a.Verb == plans.Delete && !a.Partial {
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
func (v *planView) columns(rows [][2]screen.Line) []screen.Line {
	first := 0
	for _, row := range rows {
		if row[0].Width()+3+row[1].Width() <= v.width {
			first = max(first, row[0].Width())
		}
	}
	var out []screen.Line
	for _, row := range rows {
		switch {
		case len(row[1]) == 0:
			out = append(out, row[0])
		case max(first, row[0].Width())+3+row[1].Width() <= v.width:
			out = append(out, row[0].Pad(first).Then(screen.Text("   "), row[1]))
		default:
			out = append(out, row[0])
			for _, part := range screen.Wrap(row[1].String(), max(v.width-8, 40)) {
				out = append(out, screen.Styled(row[1][0].Style, part).Indent(8))
			}
		}
	}
	return out
}

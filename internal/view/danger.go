package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// risk orders actions by what a reviewer has to see first.
type risk int

const (
	losesData  risk = iota // something that cannot be made again
	destroys               // deleted, or deleted and made again
	takes                  // fields that others look after
	changesIt              // all that is there and will be different
	makes                  // what is new
	cleansUp               // nothing is lost with it
	leavesItBe             // nothing happens
)

func riskOf(a *plans.Action) risk {
	deletes := a.Verb == plans.Replace || a.Verb == plans.Delete && !a.Partial
	switch {
	case a.Verb == plans.None || a.Verb == plans.Refresh || a.MovedTo() != "":
		return leavesItBe
	case harmless(a):
		return cleansUp
	case deletes && a.Holds != "":
		return losesData
	case deletes:
		return destroys
	case a.Force && !drifted(a):
		return takes
	case fresh(a):
		return makes
	default:
		return changesIt
	}
}

// drifted reports whether somebody else changed or deleted an object.
func drifted(a *plans.Action) bool {
	return hasReason(a, plans.ReasonGone) || slices.ContainsFunc(a.Changes, func(c plans.Change) bool { return c.Drift })
}

// byRisk are the actions in the order of their risk, else in that of the plan.
func (v *planView) byRisk() []*plans.Action {
	var out []*plans.Action
	for i := range v.plan.Actions {
		out = append(out, &v.plan.Actions[i])
	}
	slices.SortStableFunc(out, func(a, b *plans.Action) int { return cmp.Compare(riskOf(a), riskOf(b)) })
	return out
}

// scope says that the plan is not about the whole cloud, or not about the cluster.
func (v *planView) scope() []line {
	var notes []string
	if v.plan.RefreshOnly {
		notes = append(notes, "This plan only refreshes the state: nothing in the cluster will be changed.")
	}
	if v.plan.Selection.Restricts() {
		notes = append(notes, fmt.Sprintf("This plan is restricted (%s): nothing else was compared, and nothing else will be changed.", v.plan.Selection))
	}
	var out []line
	for _, note := range notes {
		for _, l := range v.Out.quoting(note) {
			out = append(out, styled(caution, l.String()))
		}
	}
	return out
}

// destroyed lists everything that the plan destroys, before anything else, and of
// that first what holds data. That with which nothing is lost is only counted.
func (v *planView) destroyed() []line {
	var rows [][2]line
	var all []*plans.Action
	harmlessly := 0
	for _, a := range v.byRisk() {
		switch riskOf(a) {
		case cleansUp:
			harmlessly++
		case losesData, destroys:
			sign, _ := markOf(a)
			rows = append(rows, [2]line{styled(sign.style, fmt.Sprintf("  %3s ", sign.text)).then(styled(bold, a.Address.String())), v.why(a)})
			all = append(all, a)
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
		return append(out, v.lostWith()...)
	}
	out := []line{styled(danger, count(len(rows), "object")+" will be DESTROYED:"), nil}
	if v.options.Compact { // one line an action: these are not listed again
		return append(append(out, v.grouped(all)...), v.lostWith()...)
	}
	out = append(append(out, v.columns(rows)...), v.renamed()...)
	if harmlessly > 0 {
		out = append(out, styled(faint, fmt.Sprintf("      and %d %s", harmlessly, plural(harmlessly, "old version or finished job", "old versions or finished jobs"))))
	}
	return out
}

// lostWith names the data that is lost, where there is no room beside the objects.
func (v *planView) lostWith() []line {
	var rows [][2]line
	for _, a := range v.byRisk() {
		if riskOf(a) == losesData {
			rows = append(rows, [2]line{styled(danger, "  LOST with ").then(styled(bold, a.Address.String())), text(a.Holds)})
		}
	}
	return v.columns(rows)
}

// forced lists what is taken from others, where it is not shown as drift.
func (v *planView) forced() []line {
	addresses := v.withRisk(takes)
	if len(addresses) == 0 {
		return nil
	}
	return append([]line{styled(danger, "Fields are taken from other managers by FORCE in:")}, v.some(addresses)...)
}

// why is the reason of an action in one line: what is lost by it comes first.
func (v *planView) why(a *plans.Action) line {
	comments := v.reasons(a)
	if hasReason(a, plans.ReasonRenamed) {
		comments = nil // renamed says it of all of them
	}
	if a.Verb == plans.Replace && hasReason(a, plans.ReasonRequested) {
		comments = append([]string{"as requested with -replace"}, comments...)
	}
	if a.Heir != (addrs.Object{}) {
		comments = append(comments, takenAlong(a))
	}
	why := strings.Join(comments, "; ")
	if a.Verb == plans.Replace {
		why = "made again: " + why
	}
	switch holds := a.Holds; {
	case holds != "" && why != "":
		return styled(danger, "LOST: "+holds).then(text("; " + why))
	case holds != "":
		return styled(danger, "LOST: "+holds)
	case why == "":
		return nil
	}
	return text(why)
}

// renamed says once of all objects of a block that moved why they go.
func (v *planView) renamed() []line {
	var out []line
	told := map[string]bool{}
	for i := range v.plan.Actions {
		a := &v.plan.Actions[i]
		for _, r := range a.Reasons {
			if r.Kind != plans.ReasonRenamed || told[a.Address.Block] {
				continue
			}
			told[a.Address.Block] = true
			for _, part := range wrap(fmt.Sprintf("(%s %s)", a.Address.Block, because(r)), max(v.width-6, 40)) {
				out = append(out, styled(faint, part).indent(6))
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
				out = append(out, styled(row[1][0].style, part).indent(8))
			}
		}
	}
	return out
}

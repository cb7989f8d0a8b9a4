package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// PlanOptions choose how much of a plan is shown.
type PlanOptions struct {
	Full    bool // every declared field of what is created, nothing shortened
	Compact bool // one line an action
	// Saved: the plan was made earlier, and Now is when it is looked at; Applied: and
	// was applied since.
	Saved   bool
	Now     time.Time
	Applied bool
}

// Plan prints a plan to standard output. The error is that of writing.
func (p *Printer) Plan(plan *plans.Plan, options PlanOptions) error {
	p.events.Plan(plan)
	v := &planView{Printer: p, plan: plan, options: options, width: p.Out.Width}
	return errors.Join(p.Out.Print(v.lines()), p.events.Err())
}

// planView renders one plan.
type planView struct {
	*Printer
	plan    *plans.Plan
	options PlanOptions
	width   int
	// versions are the names of versions of objects, by block; nil: not yet needed.
	versions map[string][][2]string
	// services are the names of services in the cluster, by block; nil: not yet needed.
	services map[string]string
}

// lines is the whole output: what is in danger first, the summary last, because
// the ends are what is on the screen.
func (v *planView) lines() []screen.Line {
	out := append(v.saved(), v.compared()...)
	actions := v.items()
	for _, section := range [][]screen.Line{
		v.scope(),
		v.losses(),
		v.destroyed(),
		v.forced(),
		v.drift(),
		v.keptChanges(),
		v.yielded(),
		v.foreign(),
		v.actions(actions),
		v.kept(),
		v.impact(),
		v.outputs(),
		v.unverified(),
		v.pending(),
		v.warnings(),
		v.summary(),
	} {
		if len(section) > 0 {
			out = append(append(out, nil), section...)
		}
	}
	return out
}

// saved says of a plan that was made earlier which one it is, and when that was.
func (v *planView) saved() []screen.Line {
	if !v.options.Saved {
		return nil
	}
	made := v.moment(v.plan.Created)
	if age := v.now().Sub(v.plan.Created); age >= 0 {
		made += ", " + words.Ago(age)
	}
	out := []screen.Line{screen.Text("Plan ").Then(screen.Styled(screen.Bold, v.plan.ID)), screen.Textf("  made %s, by kolla %s", made, v.plan.Tool)}
	if v.options.Applied {
		out = append(out, screen.Styled(screen.Caution, "It was used already, and a plan is applied once: make a new one."))
	}
	return append(out, nil)
}

// now is the moment from which what others did is looked back at.
func (v *planView) now() time.Time {
	if v.options.Saved {
		return v.options.Now
	}
	return v.plan.Created
}

// compared says what was compared, and how much of it is as it should be.
func (v *planView) compared() []screen.Line {
	if len(v.plan.Actions) == 0 && v.plan.Selection.Restricts() {
		return []screen.Line{screen.Textf("Nothing was compared with %s.", v.plan.Cluster.Server)}
	}
	tally := v.plan.Tally()
	if v.plan.Destroy && tally.NotCompared == 0 { // nothing is compared with anything
		return []screen.Line{screen.Textf("Read cloud %q from %s in %s.", v.plan.Cloud, v.plan.Cluster.Server, words.Duration(v.plan.Elapsed))}
	}
	verdict := fmt.Sprintf("%d unchanged, %d changed, %d not compared", tally.Unchanged, tally.Changed, tally.NotCompared)
	if tally.Unchanged == tally.All() {
		verdict = "all unchanged"
	}
	what := screen.Textf("Compared %s of cloud %q with %s in %s:",
		words.Count(tally.All(), "object"), v.plan.Cloud, v.plan.Cluster.Server, words.Duration(v.plan.Elapsed))
	if l := what.Then(screen.Text(" " + verdict + ".")); l.Width() <= v.width {
		return []screen.Line{l}
	}
	return []screen.Line{what, screen.Text("  " + verdict + ".")}
}

// drift shows what somebody changed in the cluster, and who.
func (v *planView) drift() []screen.Line {
	items := v.driftItems()
	if len(items) == 0 {
		return nil
	}
	title := "Changed outside of kolla, will be put back:"
	if v.plan.RefreshOnly {
		title = "Changed outside of kolla, and left as it is:"
	}
	out := []screen.Line{screen.Styled(screen.Caution, title)}
	if v.options.Compact {
		return append(append(out, nil), v.driftInShort(items)...)
	}
	for _, it := range v.fold(items) {
		// All of them are again among the actions.
		if n := len(it.heads); n > similar && !v.plan.RefreshOnly {
			it.heads = append(it.heads[:similar-1:similar-1], screen.Styled(screen.Faint, fmt.Sprintf("  # and %d more, all listed below", n-similar+1)))
		}
		out = append(append(out, nil), it.lines()...)
	}
	return out
}

// driftItems are the objects that somebody else touched: those that were changed,
// which look like any other below, before those that were deleted.
func (v *planView) driftItems() []item {
	var changed, deleted []item
	for i := range v.plan.Actions {
		a := &v.plan.Actions[i]
		if v.lostBy(a) {
			continue
		}
		it, ok := v.drifted(a)
		switch {
		case ok && it.gone:
			deleted = append(deleted, it)
		case ok:
			changed = append(changed, it)
		}
	}
	return append(changed, deleted...)
}

// driftInShort is one line an object. Nothing else tells in a compact plan what was
// changed, so that none of that is left out.
func (v *planView) driftInShort(items []item) []screen.Line {
	var out, deleted []screen.Line
	for _, it := range items {
		if it.gone {
			deleted = append(deleted, it.heads...)
		} else {
			out = append(out, it.heads...)
		}
	}
	if n := len(deleted); n > similar && !v.plan.RefreshOnly {
		deleted = append(deleted[:similar-1:similar-1], screen.Styled(screen.Faint, fmt.Sprintf("  # and %d more: deleted, and created again below", n-similar+1)))
	}
	return append(out, deleted...)
}

// drifted is the part of an action that is there because of somebody else.
func (v *planView) drifted(a *plans.Action) (item, bool) {
	address := screen.Styled(screen.Bold, a.Address.String())
	if report.HasReason(a, plans.ReasonGone) && (report.Creates(a) || v.plan.RefreshOnly) {
		head := screen.Styled(screen.Removed, "  - ").Then(address)
		if v.options.Compact {
			return item{heads: []screen.Line{head.Then(screen.Text(": deleted"))}, gone: true}, true
		}
		return item{heads: []screen.Line{head}, gone: true, body: []screen.Line{screen.Styled(screen.Removed, "-").Then(screen.Text(" deleted from the cluster")).Indent(bodyIndent)}}, true
	}
	head := screen.Styled(screen.Changed, "  ~ ").Then(address)
	var changes []plans.Change
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
		return item{heads: []screen.Line{head.Then(screen.Text(": " + cutList(paths, v.width-head.Width()-2)))}}, true
	}
	f.note = func(c plans.Change) string {
		who := v.culprit(c, v.now())
		before, after := c.Before, c.After // kolla's and the live value, or the other way round
		if !v.plan.RefreshOnly {
			before, after = after, before
		}
		switch {
		case c.Path == "spec.replicas" && after != nil:
			who = strings.Replace(who, "scaled by", fmt.Sprintf("scaled to %v by", after), 1)
		case before == nil && after != nil:
			who = "added " + who
		case before != nil && after == nil:
			who = "removed " + who
		}
		if c.Edited && isText(c) {
			who += ", and your change"
		}
		return who
	}
	return item{heads: []screen.Line{head}, body: f.render(changes)}, true
}

// kept lists what stays because it holds data, and how to delete it nevertheless.
func (v *planView) kept() []screen.Line {
	if len(v.plan.Kept) == 0 {
		return nil
	}
	var rows [][2]screen.Line
	for _, k := range v.plan.Kept {
		rows = append(rows, [2]screen.Line{screen.Styled(screen.Bold, k.Address.String()).Indent(2), screen.Text(k.Holds)})
	}
	out := append([]screen.Line{screen.Text("Kept, because they hold data:"), nil}, v.columns(rows)...)
	how := "To delete them too, name them with -delete-data=ADDRESS, or all of them with -delete-data='*'."
	alone := func(k plans.Kept) bool { return k.Alone }
	switch {
	case !v.plan.Destroy:
		how = "Once nobody needs the data, delete it with:"
	case !slices.ContainsFunc(v.plan.Kept, func(k plans.Kept) bool { return !alone(k) }):
		how = "To delete them too, name each with -delete-data=ADDRESS; '*' does not include them. Deleting a namespace deletes everything in it."
	case slices.ContainsFunc(v.plan.Kept, alone):
		how += " '*' does not include volumes that the state does not know."
	}
	out = append(out, nil)
	for _, part := range screen.Wrap(how, v.Out.ProseWidth()) {
		out = append(out, screen.Text(part))
	}
	if !v.plan.Destroy {
		out = append(append(out, nil), v.deletions()...)
	}
	return out
}

// deletions are the commands that delete what is kept, to be copied as they are.
func (v *planView) deletions() []screen.Line {
	names := map[string]string{}
	for _, k := range v.plan.Kept {
		of := fmt.Sprintf("-n %s %s", foreign.Word(k.Ref.Namespace), foreign.Word(strings.ToLower(k.Ref.GVK.Kind)))
		names[of] += " " + foreign.Word(k.Ref.Name)
	}
	var out []screen.Line
	for _, of := range sortedKeys(names) {
		out = append(out, screen.Textf("  kubectl delete %s%s", of, names[of]))
	}
	return out
}

// unverified names what no server could be asked about, or not all of it, by cause, and
// what can be done about it.
func (v *planView) unverified() []screen.Line {
	notes, advice := map[string][]addrs.Object{}, map[string]string{}
	for _, a := range v.plan.Actions {
		if note := unverifiedNote(a); note != "" {
			notes[note] = append(notes[note], a.Address)
			advice[note] = a.Evidence.Advice
		}
	}
	var out []screen.Line
	for _, note := range sortedKeys(notes) {
		for _, l := range v.Out.Quoting(note + ":") {
			out = append(out, screen.Styled(screen.Caution, l.String()))
		}
		out = append(out, v.some(notes[note])...)
		if advice[note] == "" {
			continue
		}
		out = append(out, v.Out.Quoting(advice[note])...)
	}
	return out
}

// unverifiedNote says what an action is built on besides the server's own words; empty:
// on nothing else.
func unverifiedNote(a plans.Action) string {
	detail := a.Evidence.Detail
	switch {
	case a.Deferred():
		return "Known after the apply of the rest, planned then, and done in the same apply"
	case a.Evidence.Kind == plans.Schema && detail != "":
		return words.Capital(detail)
	case a.Evidence.Kind != plans.Unverified:
		return ""
	case a.NotCompared():
		return "Not compared (" + detail + ")"
	case detail == "":
		return "Not checked by the server; kolla calculated the changes that are shown"
	}
	return "Not checked by the server; kolla calculated the changes that are shown (" + detail + ")"
}

// pending names what matches but is not ready.
func (v *planView) pending() []screen.Line {
	var waiting []addrs.Object
	for _, a := range v.plan.Actions {
		if a.Verb == plans.None && a.Pending {
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
	title := fmt.Sprintf("%s %s not ready yet; apply waits for them:", words.Count(len(waiting), "object"), verb)
	if v.plan.Counts() == (plans.Counts{}) {
		title = "Everything is as declared, but " + title
	}
	if len(waiting) == 1 {
		title = strings.Replace(title, "them", "it", 1)
	}
	var out []screen.Line
	for _, part := range screen.Wrap(title, v.Out.ProseWidth()) {
		out = append(out, screen.Styled(screen.Caution, part))
	}
	return append(out, v.some(waiting)...)
}

// warnings are what the server and the planner had to say: after the plan, where they
// are still on the screen at its end.
func (v *planView) warnings() []screen.Line {
	var problems []plans.Problem
	for _, n := range v.plan.Warnings {
		problems = append(problems, n.Problem())
	}
	var out []screen.Line
	for i, m := range together(problems) {
		if i > 0 {
			out = append(out, nil)
		}
		lines := m.lines(v.Out.Inner(detailIndent))
		out = append(out, lines[:len(lines)-1]...)
	}
	return out
}

// some lists addresses, but not endlessly.
func (v *planView) some(addresses []addrs.Object) []screen.Line {
	const most = 10
	var out []screen.Line
	for i, a := range addresses {
		if i == most && len(addresses) > most+1 && !v.options.Full {
			out = append(out, screen.Textf("  and %d more", len(addresses)-most))
			break
		}
		out = append(out, screen.Text("  "+a.String()))
	}
	return out
}

// summary is Terraform's closing line.
func (v *planView) summary() []screen.Line {
	sentence := report.Summary(v.plan)
	if none, after, ok := strings.Cut(sentence, ". "); ok && none == "No changes" {
		return []screen.Line{screen.Styled(screen.Added, none+".").Then(screen.Text(" " + after))}
	}
	head, rest, _ := strings.Cut(sentence, " ")
	out := screen.Styled(screen.Bold, head)
	if n := v.plan.Counts().Destroy; n > 0 {
		destroyed := fmt.Sprintf("%d to destroy", n)
		before, after, _ := strings.Cut(rest, destroyed)
		return []screen.Line{out.Then(screen.Text(" "+before), screen.Styled(screen.Danger, destroyed), screen.Text(after))}
	}
	return []screen.Line{out.Then(screen.Text(" " + rest))}
}

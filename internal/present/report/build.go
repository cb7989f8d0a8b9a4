package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// Of makes a document of a plan.
func Of(plan *plans.Plan, at Moment) *Plan {
	if at.Now.IsZero() {
		at.Now = plan.Created
	}
	if at.Zone == nil {
		at.Zone = time.Local
	}
	p := &Plan{
		ID: plan.ID, Tool: plan.Tool, Cloud: plan.Cloud, Namespace: plan.Namespace, Rendered: plan.Renderings != nil,
		Destroy: plan.Destroy, RefreshOnly: plan.RefreshOnly,
		Made: at.format(plan.Created), Elsewhere: elsewhere(plan),
		Compared: compared(plan), Scope: scope(plan), Upgrade: upgrade(plan, at), Policies: policies(plan), Losses: losses(plan), Jobs: jobs(plan),
		Drift: drift(plan, at), Replaced: replaced(plan, at), Yielded: yielded(plan, at), Foreign: added(plan, at),
		Kept: kept(plan), Impact: ImpactOf(plan), Services: services(plan), Outputs: outputs(plan), Unverified: unverified(plan), Pending: pending(plan),
		Summary: Summary(plan), Counts: plan.Counts(), OutputCount: outputCounts(plan),
		plan: plan, names: namesOf(plan),
	}
	if age := at.Now.Sub(plan.Created); age >= 0 {
		p.Made += ", " + words.Ago(age)
	}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if riskOf(a) != Leaves || a.Supersedes != (addrs.Object{}) {
			p.Actions = append(p.Actions, actionOf(plan, a, p.names))
		}
	}
	p.Destroyed, p.Forced = destroyed(plan, p.ByRisk()), forced(plan)
	if len(p.Outputs) > 0 && p.Counts == (plans.Counts{}) {
		p.OutputNote = "An apply saves these output values to the state, and changes nothing in the cluster."
	}
	p.Warnings, p.Errors = messagesOf(plan.Warnings), messagesOf(plan.Errors)
	return p
}

// messagesOf converts warnings or errors of a plan.
func messagesOf(notices []plans.Notice) []Message {
	var problems []plans.Problem
	for _, n := range notices {
		problems = append(problems, n.Problem())
	}
	return Messages(problems)
}

// ActionsTitle returns a line above the actions.
func (p *Plan) ActionsTitle() string {
	switch {
	case p.Rendered:
		return "An apply of the second version would perform these actions:"
	case len(p.Errors) > 0:
		return "Without the errors, kolla would perform these actions:"
	}
	return "kolla will perform these actions:"
}

// ByRisk returns the actions in the order of their risk. Actions of the same risk keep the order
// of the plan.
func (p *Plan) ByRisk() []*Action {
	out := slices.Clone(p.Actions)
	slices.SortStableFunc(out, func(a, b *Action) int { return cmp.Compare(a.Risk, b.Risk) })
	return out
}

// ByBlock returns the actions with those of each block together. Blocks and actions keep the
// order of the plan.
func (p *Plan) ByBlock() [][]*Action {
	var out [][]*Action
	at := map[string]int{}
	for _, a := range p.Actions {
		block := a.Object.Address.Block
		if _, seen := at[block]; !seen {
			at[block] = len(out)
			out = append(out, nil)
		}
		out[at[block]] = append(out[at[block]], a)
	}
	return out
}

// Tally says how many actions of each sort there are: "2 to create, 1 to change".
func Tally(actions []*Action) string {
	var order []string
	n := map[string]int{}
	for _, a := range actions {
		if n[a.Todo] == 0 {
			order = append(order, a.Todo)
		}
		n[a.Todo]++
	}
	var out []string
	for _, todo := range order {
		out = append(out, fmt.Sprintf("%d %s", n[todo], todo))
	}
	return strings.Join(out, ", ")
}

// format gives a time to the minute, with its zone.
func (m Moment) format(t time.Time) string { return t.In(m.Zone).Format("2006-01-02 15:04 MST") }

// compared says how many objects were compared.
func compared(plan *plans.Plan) Comparison {
	if len(plan.Actions) == 0 && plan.Selection.Restricts() {
		return Comparison{What: fmt.Sprintf("Nothing was compared with %s.", plan.Cluster.Server)}
	}
	tally, took := plan.Tally(), words.Duration(plan.Elapsed)
	if r := plan.Renderings; r != nil {
		return Comparison{
			What:    fmt.Sprintf("Compared %s of cloud %q, rendered from %s and from %s:", words.Count(tally.All(), "object"), plan.Cloud, r.Base, r.Head),
			Verdict: fmt.Sprintf("%d the same, %d different.", tally.Unchanged, tally.Changed),
		}
	}
	if plan.Destroy && tally.NotCompared == 0 { // a destroy only reads
		return Comparison{What: fmt.Sprintf("Read cloud %q from %s in %s.", plan.Cloud, plan.Cluster.Server, took)}
	}
	verdict := fmt.Sprintf("%d unchanged, %d changed, %d not compared.", tally.Unchanged, tally.Changed, tally.NotCompared)
	if tally.Unchanged == tally.All() && len(plan.Errors) == 0 {
		verdict = "all unchanged."
	}
	return Comparison{
		What:    fmt.Sprintf("Compared %s of cloud %q with %s in %s:", words.Count(tally.All(), "object"), plan.Cloud, plan.Cluster.Server, took),
		Verdict: verdict,
	}
}

// scope says that the plan covers a part of the cloud, or does not change the cluster.
func scope(plan *plans.Plan) []string {
	var out []string
	if n := len(messagesOf(plan.Errors)); n > 0 {
		out = append(out, fmt.Sprintf("This plan has %s, and cannot be applied.", words.Count(n, "error")))
	}
	if r := plan.Renderings; r != nil {
		out = append(out, "Rendered without a cluster: drift, defaults of the server and values that only the cluster has are not compared.")
		if slices.ContainsFunc(plan.Actions, func(a plans.Action) bool { return a.Holds != "" }) {
			out = append(out, "An apply refuses to delete or replace an object that holds data, unless -delete-data names it.")
		}
		if len(r.Unset) > 0 {
			out = append(out, fmt.Sprintf("Variables have no value here, and what depends on them was not compared: %s.", strings.Join(r.Unset, ", ")))
		}
	}
	if plan.RefreshOnly {
		out = append(out, "This plan only refreshes the state: nothing in the cluster will be changed.")
	}
	if plan.Selection.Restricts() {
		rest := "nothing else was compared, and nothing else will be changed"
		if plan.Renderings != nil {
			rest = "nothing else was compared"
		}
		out = append(out, fmt.Sprintf("This plan is restricted (%s): %s.", plan.Selection, rest))
	}
	return out
}

// losses lists data that is gone although its object will be made again, and data that no
// object uses any more.
func losses(plan *plans.Plan) []Table {
	var gone, kept []Row
	objects := 0
	for _, l := range plan.Losses {
		row := Row{l.Address, l.Consequence()}
		if l.Kept {
			kept = append(kept, row)
		} else {
			gone = append(gone, row)
			objects += len(l.Refs)
		}
	}
	var out []Table
	if objects > 0 {
		title := words.Count(objects, "object") + " that held data are GONE; their data cannot be restored:"
		if objects == 1 {
			title = "1 object that held data is GONE; its data cannot be restored:"
		}
		out = append(out, Table{Title: title, Rows: gone})
	}
	if len(kept) > 0 {
		out = append(out, Table{
			Title: "Data will be left behind, because the volumes belong to the old name:", Rows: kept,
			Advice: "To go on with the data, copy them over before the old volumes are deleted; or keep the name, with the argument name of its block.",
		})
	}
	return out
}

// jobs lists finished jobs that may have written lost data.
func jobs(plan *plans.Plan) *Table {
	var all []addrs.Object
	for _, l := range plan.Losses {
		all = append(all, l.Jobs...)
	}
	if len(all) == 0 || plan.RefreshOnly {
		return nil
	}
	slices.SortFunc(all, addrs.Object.Compare)
	out := &Table{Title: "Jobs that may have filled the volumes do not run again by themselves. To run them, plan with:"}
	for _, job := range slices.Compact(all) {
		out.Commands = append(out.Commands, words.Option("-replace", job.String()))
	}
	return out
}

// destroyed lists deletions. It only counts those without a loss.
func destroyed(plan *plans.Plan, byRisk []*Action) *Destroyed {
	var out Destroyed
	harmless := 0
	for _, a := range byRisk {
		switch a.Risk {
		case CleansUp:
			harmless++
		case LosesData, Destroys:
			out.Actions = append(out.Actions, a)
		}
	}
	n := len(out.Actions)
	if n == 0 {
		return nil
	}
	what, will := words.Count(n, "object"), "will"
	if plan.Destroy {
		what += fmt.Sprintf(" of cloud %q", plan.Cloud)
	}
	if len(plan.Errors) > 0 {
		will = "would"
	}
	out.Title = fmt.Sprintf("%s %s be DESTROYED:", what, will)
	out.Kinds, out.Renamed = kindsOf(plan), renamed(plan)
	out.Listed, out.Folded = folded(out.Actions)
	if harmless > 0 {
		out.Harmless = fmt.Sprintf("and %d %s", harmless, words.Plural(harmless, "old version or finished job", "old versions or finished jobs"))
	}
	return &out
}

// folded takes ConfigMaps and finished Jobs from a long list of deletions, and counts them.
func folded(all []*Action) (listed []*Action, rest string) {
	if len(all) <= Similar {
		return all, ""
	}
	minor := map[string]int{}
	for _, a := range all {
		if a.minor == "" {
			listed = append(listed, a)
		} else {
			minor[a.minor]++
		}
	}
	var parts []string
	for _, what := range sortedKeys(minor) {
		parts = append(parts, words.Count(minor[what], what))
	}
	if len(parts) > 0 {
		rest = "and " + strings.Join(parts, ", ") + " without data"
	}
	return listed, rest
}

// kindsOf counts the deleted objects by kind, the most frequent kind first.
func kindsOf(plan *plans.Plan) string {
	counts := map[string]int{}
	for _, a := range plan.Actions {
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

// renamed says once for each renamed block why its objects are deleted.
func renamed(plan *plans.Plan) []string {
	var out []string
	told := map[string]bool{}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		for _, r := range a.Reasons {
			if r.Kind == plans.ReasonRenamed && !told[a.Address.Block] {
				told[a.Address.Block] = true
				out = append(out, fmt.Sprintf("(%s %s)", a.Address.Block, because(r)))
			}
		}
	}
	return out
}

// forced lists objects with fields that kolla takes from other managers. Drift is another
// section.
func forced(plan *plans.Plan) *Note {
	addresses := matching(plan, func(a *plans.Action) bool { return riskOf(a) == Takes })
	if len(addresses) == 0 {
		return nil
	}
	return &Note{Text: "Fields are taken from other managers by FORCE in:", Addresses: addresses}
}

// matching returns the addresses of some actions, in the order of the plan.
func matching(plan *plans.Plan, is func(*plans.Action) bool) []addrs.Object {
	var out []addrs.Object
	for i := range plan.Actions {
		if a := &plan.Actions[i]; is(a) {
			out = append(out, a.Address)
		}
	}
	return out
}

// kept lists objects that stay because they hold data, and says how to delete them.
func kept(plan *plans.Plan) *Table {
	if len(plan.Kept) == 0 {
		return nil
	}
	out := &Table{Title: "Kept, because they hold data:"}
	for _, k := range plan.Kept {
		out.Rows = append(out.Rows, Row{k.Address, k.Holds})
	}
	alone := func(k plans.Kept) bool { return k.Alone }
	switch {
	case !plan.Destroy:
		out.Advice = "Once nobody needs the data, delete it with:"
		out.Commands = deletions(plan)
	case !slices.ContainsFunc(plan.Kept, func(k plans.Kept) bool { return !alone(k) }):
		out.Advice = "To delete them too, name each with -delete-data=ADDRESS; '*' does not include them. Deleting a namespace deletes everything in it."
	default:
		out.Advice = "The next apply takes them up again, with their data. To delete them too, now or with a later destroy, name them with -delete-data=ADDRESS, or all of them with -delete-data='*'."
		if slices.ContainsFunc(plan.Kept, alone) {
			out.Advice += " '*' does not include volumes that the state does not know."
		}
	}
	return out
}

// deletions returns the commands that delete the kept objects.
func deletions(plan *plans.Plan) []string {
	names := map[string]string{}
	for _, k := range plan.Kept {
		of := fmt.Sprintf("-n %s %s", foreign.Word(k.Ref.Namespace), foreign.Word(strings.ToLower(k.Ref.GVK.Kind)))
		names[of] += " " + foreign.Word(k.Ref.Name)
	}
	var out []string
	for _, of := range sortedKeys(names) {
		out = append(out, "kubectl delete "+of+names[of])
	}
	return out
}

// unverified lists actions that the server did not check, or not completely, by cause.
func unverified(plan *plans.Plan) []Note {
	notes := map[string]*Note{}
	for _, a := range plan.Actions {
		if text := unverifiedNote(a); text != "" {
			if notes[text] == nil {
				notes[text] = &Note{Text: text + ":"}
			}
			notes[text].Addresses = append(notes[text].Addresses, a.Address)
			notes[text].Advice = a.Evidence.Advice
		}
	}
	var out []Note
	for _, text := range sortedKeys(notes) {
		out = append(out, *notes[text])
	}
	return out
}

// unverifiedNote names the evidence of an action if it is weaker than an answer of the
// server.
func unverifiedNote(a plans.Action) string {
	detail := a.Evidence.Detail
	switch {
	case a.Evidence.Kind == plans.Rendered:
		return ""
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

// pending lists unchanged objects that are not ready.
func pending(plan *plans.Plan) *Note {
	waiting := matching(plan, func(a *plans.Action) bool { return a.Verb == plans.None && a.Pending })
	n := len(waiting)
	if n == 0 {
		return nil
	}
	title := fmt.Sprintf("%s %s not ready yet; apply waits for %s:", words.Count(n, "object"), words.Plural(n, "is", "are"), words.Plural(n, "it", "them"))
	if plan.Counts() == (plans.Counts{}) {
		title = "Everything is as declared, but " + title
	}
	return &Note{Text: title, Addresses: waiting}
}

package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/content"
	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// item is one action, or several that differ in nothing but the address: the
// heads below each other, and what they have in common once.
type item struct {
	heads []screen.Line // one an action: "# ADDRESS will be ..."
	// own is said about the object alone, below its head; once there are several,
	// together is said about all of them in its place.
	own, together []screen.Line
	comments      []screen.Line
	marked        []marked // the objects, one an action
	body          []screen.Line
	// fact is the body where it is a single fact, which may have room beside the object.
	fact screen.Line
	// create: a plain creation, which is listed with its neighbours.
	create bool
	// gone: what somebody deleted.
	gone   bool
	block  string
	source string
	within string // where the block is declared
	// names replaces in a text the names that are the object's own; nil: not known.
	names func(string) string
	alike bool // said of several that are the same but for such names
	width int
	// relocation is set if the object only moves, with its block.
	relocation report.Relocation
}

// similar is how many objects with something in common a person counts at a glance.
const similar = 5

// lines puts heads and body together.
func (it item) lines() []screen.Line {
	out := append([]screen.Line{}, it.heads...)
	own := it.own
	if len(it.heads) > 1 {
		own = it.together
	}
	out = append(append(out, own...), it.comments...)
	switch n := len(it.heads); {
	case len(it.body) == 0:
	case n > similar && it.alike:
		out = append(out, comment(fmt.Sprintf("the same in all %d, each with its own name for *", n), 80)...)
	case n > similar:
		out = append(out, comment(fmt.Sprintf("the same in all %d", n), 0)...)
	}
	if len(it.marked) == 0 {
		return append(out, it.body...)
	}
	object := objectLine(it.marked, it.width)
	if one := object.Then(screen.Text(": "), it.fact); len(it.heads) == 1 && it.fact != nil && one.Width() <= it.width {
		return append(out, one)
	}
	return append(append(out, object), it.body...)
}

// items renders all actions that do something: those of a block together, blocks
// in the order in which they are come to.
func (v *planView) items() []item {
	var blocks []string
	byBlock := map[string][]item{}
	for i := range v.plan.Actions {
		a := &v.plan.Actions[i]
		if report.RiskOf(a) == report.Leaves && a.Supersedes == (addrs.Object{}) {
			continue
		}
		if _, seen := byBlock[a.Address.Block]; !seen {
			blocks = append(blocks, a.Address.Block)
		}
		byBlock[a.Address.Block] = append(byBlock[a.Address.Block], v.item(a))
	}
	var all []item
	for _, block := range blocks {
		all = append(all, v.relocated(byBlock[block])...)
	}
	return all
}

// actions lists what will be done. Creations of one block that follow each other
// stand under a heading without empty lines between them.
func (v *planView) actions(items []item) []screen.Line {
	if v.options.Compact {
		return v.others()
	}
	if len(items) == 0 {
		return nil
	}
	out := []screen.Line{screen.Styled(screen.Bold, "kolla will perform these actions:")}
	out = append(out, legend(items)...)
	items = v.fold(items)
	for i := 0; i < len(items); {
		n := creations(items[i:])
		if n > 1 {
			out = append(out, nil, heading(items[i:i+n]))
		}
		out = append(out, nil)
		for _, it := range items[i : i+max(n, 1)] {
			out = append(out, it.lines()...)
		}
		i += max(n, 1)
	}
	return out
}

// creations counts the plain creations of one block at the start of items.
func creations(items []item) int {
	n := 0
	for n < len(items) && items[n].create && items[n].block == items[0].block {
		n++
	}
	return n
}

// heading stands over the creations of a block.
func heading(items []item) screen.Line {
	l := screen.Styled(screen.Bold, items[0].block).Then(screen.Textf(": %d to create", len(items)))
	for _, it := range items {
		if it.within != "" {
			return l.Then(screen.Styled(screen.Faint, "   "+it.within))
		}
	}
	return l
}

// item renders one action.
func (v *planView) item(a *plans.Action) item {
	it := item{
		heads: []screen.Line{v.head(a)}, block: a.Address.Block, create: report.Creates(a),
		gone: report.HasReason(a, plans.ReasonGone), names: v.anyNames(a.Address), source: a.Declared(), width: v.width,
	}
	it.relocation, _ = report.RelocationOf(a)
	if a.Object != nil {
		it.within = cmp.Or(a.Object.Within, a.Object.Source)
	}
	if m, ok := v.marked(a); ok {
		it.marked = []marked{m}
	}
	if a.Supersedes != (addrs.Object{}) {
		place := "in place of " + a.Supersedes.Name
		if it.source != "" {
			place += ", " + it.source
		}
		it.own = comment(place, v.width)
		it.together = comment("each in place of its older version", v.width)
	}
	if report.HasReason(a, plans.ReasonImmutable) && it.source != "" {
		it.own = comment("declared at "+it.source, v.width)
	}
	var telling []content.Line
	if it.create && !v.options.Full && a.Object != nil && !a.Object.Partial {
		telling = content.Of(a.Object, v.width-bodyIndent-2)
	}
	for _, c := range v.comments(a) {
		if c == runsOnce && len(telling) > 0 {
			continue
		}
		it.comments = append(it.comments, comment(c, v.width)...)
	}
	switch {
	case it.create && !v.options.Full:
		it.body = v.told(telling)
		if len(telling) == 1 {
			it.fact = screen.Styled(look(telling[0]), telling[0].Text)
		}
	case a.Verb != plans.Delete || a.Partial:
		it.body = append(it.body, v.fields(a).render(shown(a))...)
	}
	return it
}

// shown are the changes of an action besides what its headline says.
func shown(a *plans.Action) []plans.Change {
	if a.MovedFrom() == "" {
		return a.Changes
	}
	return slices.DeleteFunc(slices.Clone(a.Changes), plans.Change.NotesMove)
}

// comment is a remark below the head of an action.
func comment(s string, width int) []screen.Line {
	var out []screen.Line
	for _, part := range screen.Wrap("("+s+")", max(width-4, 40)) {
		out = append(out, screen.Styled(screen.Faint, "  # "+part))
	}
	return out
}

// fields is how the changes of an action are rendered.
func (v *planView) fields(a *plans.Action) fields {
	f := fields{width: v.width, full: v.options.Full, fresh: report.Creates(a), kind: a.Address.Kind, named: report.Family(a)}
	switch a.Address.Kind {
	case "Deployment", "StatefulSet", "DaemonSet", "Job":
		if !f.full {
			f.shorten = "spec.template.spec."
		}
	}
	f.note = func(c plans.Change) string {
		switch {
		case report.Forces(a, c):
			return "# forces replacement"
		case c.Drift && c.Before != nil && c.After == nil && c.Edited:
			return "# added outside of kolla, or your change"
		case c.Drift && c.Before != nil && c.After == nil:
			return "# added outside of kolla"
		case c.Drift && c.Edited && isText(c):
			return "# put back, together with your change"
		case c.Drift && c.Edited:
			return "# put back, or your change"
		case c.Drift:
			return "# put back"
		case c.Manager != "":
			return "# until " + report.Tool(c.Manager) + " sets it again"
		case a.Object != nil && a.Object.Causes[c.Path] != "":
			return "# because of " + a.Object.Causes[c.Path]
		default:
			return ""
		}
	}
	return f
}

// head is the line by which programs recognize an action.
func (v *planView) head(a *plans.Action) screen.Line {
	address := screen.Styled(screen.Bold, a.Address.String())
	at := screen.Text("  # ")
	if a.OnlyMoves() {
		return at.Then(screen.Text(a.MovedFrom()+" has moved to "), address)
	}
	switch a.Verb {
	case plans.Create, plans.Run:
		return at.Then(address, screen.Text(" will be created"))
	case plans.Update:
		return at.Then(address, screen.Text(" will be updated in-place"))
	case plans.Replace:
		if report.HasReason(a, plans.ReasonRequested) {
			return at.Then(address, screen.Text(" "), screen.Styled(screen.Danger, "will be replaced, as requested"))
		}
		if slices.ContainsFunc(a.Reasons, plans.Reason.Triggered) {
			return at.Then(address, screen.Text(" "), screen.Styled(screen.Danger, "will be replaced, due to changes in replace_triggered_by"))
		}
		if report.Harmless(a) {
			return at.Then(address, screen.Text(" must be replaced"))
		}
		return at.Then(address, screen.Text(" "), screen.Styled(screen.Danger, "must be replaced"))
	case plans.Delete:
		if a.Partial {
			return at.Then(address, screen.Text(" will be updated in-place"))
		}
		if a.Prunes() {
			return at.Then(address, screen.Text(" will be pruned"))
		}
		return at.Then(address, screen.Text(" will be "), screen.Styled(screen.Danger, "destroyed"))
	case plans.None:
		return at.Then(address, screen.Text(" is there already and will be used again"))
	case plans.Adopt:
		if a.MovedFrom() != "" || a.ChangesValues() {
			return at.Then(address, screen.Text(" will be updated in-place"))
		}
		return at.Then(address, screen.Text(" will be imported"))
	case plans.Forget:
		if report.HasReason(a, plans.ReasonGone) || report.HasReason(a, plans.ReasonUnfinished) {
			return at.Then(address, screen.Text(" is gone, and is forgotten"))
		}
		return at.Then(address, screen.Text(" will no longer be managed by kolla, but will not be destroyed"))
	default:
		return at.Then(address, screen.Textf(" %s", a.Verb))
	}
}

// runsOnce marks jobs, which Terraform has no words for.
const runsOnce = "a job: runs once"

// runsNot marks jobs that count as run.
const runsNot = "does not run: its service is new, and begins with this image"

// comments say why, where the action itself does not, most important first.
func (v *planView) comments(a *plans.Action) []string {
	var out []string
	if a.Verb == plans.Create && a.Object != nil && a.Object.Manifest != nil && a.Object.Skipped() {
		out = append(out, runsNot)
	}
	if a.Verb == plans.Run {
		out = append(out, runsOnce)
		if report.HasReason(a, plans.ReasonRequested) {
			out = append(out, "it runs again, as requested with -replace")
		}
	}
	if a.Verb == plans.Delete && a.Partial {
		out = append(out, "kolla removes its fields; the object stays")
	}
	out = append(out, v.reasons(a)...)
	if a.Holds != "" {
		out = append(out, "what it holds is lost: "+a.Holds)
	}
	if a.Heir != (addrs.Object{}) {
		out = append(out, report.TakenAlong(a))
	}
	if a.Force {
		out = append(out, "takes fields from other managers by force")
	}
	switch {
	case a.Deferred():
		out = append(out, "waits for "+strings.Join(a.Object.Deferred, ", "))
	case a.Evidence.Kind == plans.Unverified:
		out = append(out, "not checked by the server, see below")
	}
	return out
}

// reasons are the reasons of an action in words.
func (v *planView) reasons(a *plans.Action) []string {
	var out []string
	for _, r := range a.Reasons {
		c := report.Because(r)
		if r.Kind == plans.ReasonRenamed && r.Detail == "" {
			c = "its service " + c
		}
		// Of what only moved, the headline says where from.
		if c != "" && !a.OnlyMoves() {
			out = append(out, c)
		}
	}
	return out
}

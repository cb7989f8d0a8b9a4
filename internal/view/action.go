package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/content"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// item is one action, or several that differ in nothing but the address: the
// heads below each other, and what they have in common once.
type item struct {
	heads []line // one an action: "# ADDRESS will be ..."
	// own is said about the object alone, below its head; once there are several,
	// together is said about all of them in its place.
	own, together []line
	comments      []line
	marked        []marked // the objects, one an action
	body          []line
	// fact is the body where it is a single fact, which may have room beside the object.
	fact line
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
	relocation relocation
}

// similar is how many objects with something in common a person counts at a glance.
const similar = 5

// lines puts heads and body together.
func (it item) lines() []line {
	out := append([]line{}, it.heads...)
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
	if one := object.then(text(": "), it.fact); len(it.heads) == 1 && it.fact != nil && one.width() <= it.width {
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
		if riskOf(a) == leavesItBe && a.Supersedes == (addrs.Object{}) {
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
func (v *planView) actions(items []item) []line {
	if v.options.Compact {
		return v.others()
	}
	if len(items) == 0 {
		return nil
	}
	out := []line{styled(bold, "kolla will perform these actions:")}
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
func heading(items []item) line {
	l := styled(bold, items[0].block).then(textf(": %d to create", len(items)))
	for _, it := range items {
		if it.within != "" {
			return l.then(styled(faint, "   "+it.within))
		}
	}
	return l
}

// item renders one action.
func (v *planView) item(a *plans.Action) item {
	it := item{
		heads: []line{v.head(a)}, block: a.Address.Block, create: fresh(a),
		gone: hasReason(a, plans.ReasonGone), names: v.anyNames(a.Address), source: a.Declared(), width: v.width,
	}
	it.relocation, _ = relocationOf(a)
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
	if hasReason(a, plans.ReasonImmutable) && it.source != "" {
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
			it.fact = styled(look(telling[0]), telling[0].Text)
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

// fresh reports whether an action makes something that has no predecessor.
func fresh(a *plans.Action) bool {
	return (a.Verb == plans.Create || a.Verb == plans.Run) && a.Supersedes == (addrs.Object{})
}

// comment is a remark below the head of an action.
func comment(s string, width int) []line {
	var out []line
	for _, part := range wrap("("+s+")", max(width-4, 40)) {
		out = append(out, styled(faint, "  # "+part))
	}
	return out
}

// fields is how the changes of an action are rendered.
func (v *planView) fields(a *plans.Action) fields {
	f := fields{width: v.width, full: v.options.Full, fresh: fresh(a), kind: a.Address.Kind, named: family(a)}
	switch a.Address.Kind {
	case "Deployment", "StatefulSet", "DaemonSet", "Job":
		if !f.full {
			f.shorten = "spec.template.spec."
		}
	}
	f.note = func(c plans.Change) string {
		switch {
		case forces(a, c):
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
			return "# until " + tool(c.Manager) + " sets it again"
		case a.Object != nil && a.Object.Causes[c.Path] != "":
			return "# because of " + a.Object.Causes[c.Path]
		default:
			return ""
		}
	}
	return f
}

// forces reports whether a change is, or is part of, what cannot be changed in place.
func forces(a *plans.Action, c plans.Change) bool {
	return slices.ContainsFunc(a.Reasons, func(r plans.Reason) bool {
		rest, ok := strings.CutPrefix(c.Path, r.Path)
		return r.Kind == plans.ReasonImmutable && ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// head is the line by which programs recognize an action.
func (v *planView) head(a *plans.Action) line {
	address := styled(bold, a.Address.String())
	at := text("  # ")
	if a.OnlyMoves() {
		return at.then(text(a.MovedFrom()+" has moved to "), address)
	}
	switch a.Verb {
	case plans.Create, plans.Run:
		return at.then(address, text(" will be created"))
	case plans.Update:
		return at.then(address, text(" will be updated in-place"))
	case plans.Replace:
		if hasReason(a, plans.ReasonRequested) {
			return at.then(address, text(" "), styled(danger, "will be replaced, as requested"))
		}
		if slices.ContainsFunc(a.Reasons, plans.Reason.Triggered) {
			return at.then(address, text(" "), styled(danger, "will be replaced, due to changes in replace_triggered_by"))
		}
		if harmless(a) {
			return at.then(address, text(" must be replaced"))
		}
		return at.then(address, text(" "), styled(danger, "must be replaced"))
	case plans.Delete:
		if a.Partial {
			return at.then(address, text(" will be updated in-place"))
		}
		if a.Prunes() {
			return at.then(address, text(" will be pruned"))
		}
		return at.then(address, text(" will be "), styled(danger, "destroyed"))
	case plans.None:
		return at.then(address, text(" is there already and will be used again"))
	case plans.Adopt:
		if a.MovedFrom() != "" || a.ChangesValues() {
			return at.then(address, text(" will be updated in-place"))
		}
		return at.then(address, text(" will be imported"))
	case plans.Forget:
		if hasReason(a, plans.ReasonGone) || hasReason(a, plans.ReasonUnfinished) {
			return at.then(address, text(" is gone, and is forgotten"))
		}
		return at.then(address, text(" will no longer be managed by kolla, but will not be destroyed"))
	default:
		return at.then(address, textf(" %s", a.Verb))
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
		if hasReason(a, plans.ReasonRequested) {
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
		out = append(out, takenAlong(a))
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
		c := because(r)
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

// because puts a reason into words; empty where the action speaks for itself.
func because(r plans.Reason) string {
	words := map[plans.ReasonKind]string{
		plans.ReasonGone:       "somebody deleted it in the cluster",
		plans.ReasonUnfinished: "an earlier apply deleted it, and did not get further",
		plans.ReasonCleaned:    "an earlier apply was about to delete it: its pods may have cleaned their nodes already",
		plans.ReasonUndeclared: "no longer in the configuration",
		plans.ReasonExternal:   "its service is external now",
		plans.ReasonRenamed:    renaming(r.Detail),
		plans.ReasonSuperseded: "an older version that nothing uses any more",
		plans.ReasonImmutable:  r.Path + " cannot be changed in place",
		plans.ReasonFailedJob:  "the last run failed; it runs again",
		plans.ReasonIdle:       fmt.Sprintf("%s has %s, and does not look after it any more: taken back", tool(r.Manager), r.Path),
		plans.ReasonReplaced:   "somebody replaced " + r.Path + ": the value is kept, and the objects that read it are renewed",
		plans.ReasonRenewed:    "made anew",
		plans.ReasonReuse:      "reuses existing volumes, with the data on them",
		plans.ReasonTriggered:  r.TriggerWords(),
		plans.ReasonOwed:       r.TriggerWords(),
		plans.ReasonMoved:      "moved from " + r.Detail,
		plans.ReasonUnowned:    "imported: it exists already, and was not made by kolla",
		plans.ReasonDefinition: "the definition of its kind changes",
		plans.ReasonUpgrade:    "neither the configuration nor the cluster changed: kolla or the server has new defaults",
	}[r.Kind]
	switch {
	case r.Detail == "", r.Kind == plans.ReasonRenamed, r.Kind == plans.ReasonMoved, r.Triggered():
		return words
	case words == "":
		return r.Detail
	default:
		return fmt.Sprintf("%s: %s", words, r.Detail)
	}
}

// takenAlong says where the values go on of a Secret that goes.
func takenAlong(a *plans.Action) string {
	return "its values are copied to Secret " + a.Heir.Name
}

// renaming says of a block why its objects have other names: it moved, or its service is
// called something else.
func renaming(block string) string {
	if block == "" {
		return "has another name in the cluster now, and so have its objects"
	}
	return fmt.Sprintf("moved to %s, whose objects have other names", block)
}

// harmless reports whether nothing is lost with what an action deletes: versions
// that nothing uses any more, jobs that failed.
func harmless(a *plans.Action) bool {
	return a.Prunes() || hasReason(a, plans.ReasonFailedJob)
}

// family is the name of an object of which there are versions, without the version.
func family(a *plans.Action) string {
	if a.Object == nil {
		return ""
	}
	return a.Object.Family.Name
}

func hasReason(a *plans.Action, kind plans.ReasonKind) bool {
	return slices.ContainsFunc(a.Reasons, func(r plans.Reason) bool { return r.Kind == kind })
}

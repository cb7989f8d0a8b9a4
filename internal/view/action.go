package view

import (
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner"
)

// item is one action, or several that differ in nothing but the address: the
// heads below each other, and what they have in common once.
type item struct {
	heads []line // one an action: "# ADDRESS will be ..."
	body  []line
	// create: a plain creation, which is listed with its neighbours.
	create bool
	block  string
	source string
}

// lines puts heads and body together.
func (it item) lines() []line { return append(append([]line{}, it.heads...), it.body...) }

// fold joins items with the same body into the first of them.
func fold(items []item) []item {
	var out []item
	first := map[string]int{}
	for _, it := range items {
		key := plainText(it.body)
		if at, ok := first[key]; ok && !it.create && !out[at].create {
			out[at].heads = append(out[at].heads, it.heads...)
			continue
		}
		if !it.create {
			first[key] = len(out)
		}
		out = append(out, it)
	}
	return out
}

// items renders all actions that do something: those of a block together, blocks
// in the order in which they are come to.
func (v *planView) items() []item {
	var blocks []string
	byBlock := map[string][]item{}
	for i := range v.plan.Actions {
		a := &v.plan.Actions[i]
		if a.Verb == planner.None {
			continue
		}
		if _, seen := byBlock[a.Address.Block]; !seen {
			blocks = append(blocks, a.Address.Block)
		}
		byBlock[a.Address.Block] = append(byBlock[a.Address.Block], v.item(a))
	}
	var all []item
	for _, block := range blocks {
		all = append(all, byBlock[block]...)
	}
	return all
}

// actions lists what will be done. Creations of one block that follow each other
// stand under a heading without empty lines between them.
func (v *planView) actions(items []item) []line {
	if len(items) == 0 {
		return nil
	}
	out := []line{styled(bold, "kolla will perform these actions:")}
	if v.options.Compact {
		out = append(out, nil)
		for _, it := range items {
			out = append(out, it.heads...)
		}
		return out
	}
	out = append(out, legend(items)...)
	items = fold(items)
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
		if it.source != "" {
			return l.then(styled(faint, "   "+it.source))
		}
	}
	return l
}

// signs are the marks in front of fields, and what they stand for.
var signs = [][2]string{{"+", "added"}, {"~", "changed"}, {"-", "removed"}}

// legend explains the signs that occur among the items.
func legend(items []item) []line {
	used := map[string]bool{}
	for _, it := range items {
		for _, l := range it.body {
			if sign, _, _ := strings.Cut(strings.TrimLeft(l.String(), " "), " "); sign != "" {
				used[sign] = true
			}
		}
	}
	var parts []string
	for _, s := range signs {
		if used[s[0]] {
			parts = append(parts, s[0]+" "+s[1])
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []line{styled(faint, "  "+strings.Join(parts, "   "))}
}

// item renders one action.
func (v *planView) item(a *planner.Action) item {
	it := item{
		heads:  []line{v.head(a)},
		block:  a.Address.Block,
		create: (a.Verb == planner.Create || a.Verb == planner.Run) && a.Supersedes == (lang.Address{}),
	}
	if a.Object != nil {
		it.source = a.Object.Source
	}
	if v.options.Compact {
		return it
	}
	for _, comment := range v.comments(a) {
		for _, part := range wrap("("+comment+")", max(v.width-4, 40)) {
			it.body = append(it.body, styled(faint, "  # "+part))
		}
	}
	f := v.fields(a)
	switch {
	case it.create && !v.options.Full && a.Object != nil && !a.Object.Partial:
		for _, e := range essence(a.Object) {
			it.body = append(it.body, styled(added, "+").then(text(" "+e)).indent(bodyIndent))
		}
	case a.Verb != planner.Delete || a.Partial:
		it.body = append(it.body, f.render(a.Changes)...)
	}
	return it
}

// fields is how the changes of an action are rendered.
func (v *planView) fields(a *planner.Action) fields {
	f := fields{width: v.width, full: v.options.Full}
	f.fresh = (a.Verb == planner.Create || a.Verb == planner.Run) && a.Supersedes == (lang.Address{})
	switch a.Address.Kind {
	case "Deployment", "StatefulSet", "DaemonSet", "Job":
		if !f.full {
			f.shorten = "spec.template.spec."
		}
	}
	forced := map[string]bool{}
	for _, r := range a.Reasons {
		if r.Kind == planner.ReasonImmutable {
			forced[r.Path] = true
		}
	}
	f.note = func(c planner.Change) string {
		switch {
		case forced[c.Path]:
			return "# forces replacement"
		case c.Drift:
			return "# put back"
		default:
			return ""
		}
	}
	return f
}

// head is the line by which programs recognize an action.
func (v *planView) head(a *planner.Action) line {
	address := styled(bold, a.Address.String())
	at := text("  # ")
	switch a.Verb {
	case planner.Create, planner.Run:
		return at.then(address, text(" will be created"))
	case planner.Update:
		return at.then(address, text(" will be updated in-place"))
	case planner.Replace:
		return at.then(address, text(" "), styled(danger, "must be replaced"))
	case planner.Delete:
		if a.Partial {
			return at.then(address, text(" will be updated in-place"))
		}
		return at.then(address, text(" will be "), styled(danger, "destroyed"))
	case planner.Adopt:
		return at.then(address, text(" will be imported"))
	case planner.Forget:
		return at.then(address, text(" will no longer be managed by kolla, but will not be destroyed"))
	default:
		return at.then(address, textf(" %s", a.Verb))
	}
}

// comments say why, where the action itself does not, most important first.
func (v *planView) comments(a *planner.Action) []string {
	var out []string
	if a.Supersedes != (lang.Address{}) {
		out = append(out, "in place of "+a.Supersedes.Name)
	}
	if a.Verb == planner.Run {
		out = append(out, "a job: runs once")
	}
	if a.Verb == planner.Delete && a.Partial {
		out = append(out, "kolla gives up its fields; the object itself stays")
	}
	if a.Verb == planner.Adopt {
		out = append(out, "imported from "+a.Ref.String())
	}
	for _, r := range a.Reasons {
		if c := because(r); c != "" {
			out = append(out, c)
		}
	}
	if a.Force {
		out = append(out, "takes fields from other managers by force")
	}
	if a.Evidence.Kind == planner.Unverified {
		out = append(out, "not checked by the server, see below")
	}
	return out
}

// because puts a reason into words; empty where the action speaks for itself.
func because(r planner.Reason) string {
	words := map[planner.ReasonKind]string{
		planner.ReasonGone:       "somebody deleted it in the cluster",
		planner.ReasonUndeclared: "no longer in the configuration",
		planner.ReasonSuperseded: "an older version that nothing uses any more",
		planner.ReasonImmutable:  r.Path + " cannot be changed in place",
		planner.ReasonFailedJob:  "the last run failed; it runs again",
		planner.ReasonUnowned:    "exists already, and was not made by kolla",
		planner.ReasonUpgrade:    "neither the configuration nor the cluster changed: kolla or the server has new defaults",
	}[r.Kind]
	switch {
	case r.Detail == "":
		return words
	case words == "":
		return r.Detail
	default:
		return fmt.Sprintf("%s: %s", words, r.Detail)
	}
}

func hasReason(a *planner.Action, kind planner.ReasonKind) bool {
	for _, r := range a.Reasons {
		if r.Kind == kind {
			return true
		}
	}
	return false
}

package view

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/content"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/plans"
)

// sign is what happens to an object or a field, in one sign. Review bots read the line
// with the address up to its end and from its start ("  # ADDRESS will be created"), so
// that the sign of an object is on the line below, as in Terraform's plans.
type sign struct {
	text, means string
	style       screen.Style
}

// The marks, in the order of the legend.
var (
	markAdd     = sign{"+", "added", screen.Added}
	markChange  = sign{"~", "changed", screen.Changed}
	markRemove  = sign{"-", "removed", screen.Removed}
	markReplace = sign{"-/+", "removed and made again", screen.Removed}

	marks = []sign{markAdd, markChange, markRemove, markReplace}
)

// markOf is the sign of an action; ok is false where nothing happens to the object.
func markOf(a *plans.Action) (m sign, ok bool) {
	switch a.Verb {
	case plans.Create, plans.Run:
		return markAdd, true
	case plans.Replace:
		return markReplace, true
	case plans.Update, plans.Adopt:
		return markChange, true
	case plans.Delete:
		if a.Partial {
			return markChange, true
		}
		return markRemove, true
	case plans.Forget:
		return markChange, a.Releases
	default:
		return sign{}, false
	}
}

// marked is an object with the sign of what happens to it.
type marked struct {
	sign             sign
	kind, name, more string
}

// marked names the object of an action; ok is false where nothing happens to it.
func (v *planView) marked(a *plans.Action) (m marked, ok bool) {
	sign, ok := markOf(a)
	m = marked{sign: sign, kind: a.Address.Kind, name: a.Address.Name}
	if group := a.Ref.GVK.Group; strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") {
		m.more = fmt.Sprintf(" (%s)", a.Ref.GVK.GroupVersion())
	}
	if namespace := a.Ref.Namespace; namespace != "" && v.plan.Namespace != "" && namespace != v.plan.Namespace {
		m.more += " in namespace " + namespace
	}
	return m, ok
}

// objectLine is the line of an object with its sign, or of several that share the rest:
// they were all named above.
func objectLine(all []marked, width int) screen.Line {
	first := all[0]
	var names, kinds []string
	more := first.more
	for _, m := range all {
		names, kinds = append(names, m.name), append(kinds, m.kind+" "+m.name)
		if m.more != first.more {
			more = ""
		}
	}
	what, many := first.kind+" "+strings.Join(names, ", "), words.Count(len(all), first.kind+" object")
	if slices.ContainsFunc(all, func(m marked) bool { return m.kind != first.kind }) {
		what, many = strings.Join(kinds, ", "), words.Count(len(all), "object")
	}
	if len(all) > 1 && screen.Columns(what+more) > width-4 {
		what = many
	}
	return screen.Styled(first.sign.style, first.sign.text).Then(screen.Text(" " + what + more)).Indent(2)
}

// legend explains the marks that occur among the items, and no others.
func legend(items []item) []screen.Line {
	used := map[sign]bool{}
	for _, it := range items {
		for _, m := range it.marked {
			used[m.sign] = true
		}
		for _, l := range it.body {
			for _, s := range l { // the signs of fields
				for _, m := range marks {
					if s.Style == m.style && m != markReplace {
						used[m] = true
					}
				}
			}
		}
	}
	var parts []string
	for _, m := range marks {
		if used[m] {
			parts = append(parts, m.text+" "+m.means)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []screen.Line{screen.Styled(screen.Faint, "  "+strings.Join(parts, "   "))}
}

// look makes what weakens security stand out.
func look(fact content.Line) screen.Style {
	if fact.Weak {
		return screen.Caution
	}
	return screen.Plain
}

// told are the facts about an object that will be created. What programs read has each on
// one line.
func (v *planView) told(facts []content.Line) []screen.Line {
	var out []screen.Line
	width := math.MaxInt
	if v.Out.Terminal {
		width = v.width - bodyIndent - 2
	}
	for _, fact := range facts {
		body := strings.TrimLeft(fact.Text, " ")
		depth := len(fact.Text) - len(body)
		for i, part := range wrapWords(body, width-depth) {
			if i == 0 {
				out = append(out, screen.Styled(screen.Added, "+").Then(screen.Text(strings.Repeat(" ", depth+1)), screen.Styled(look(fact), part)).Indent(bodyIndent))
				continue
			}
			out = append(out, screen.Styled(look(fact), part).Indent(bodyIndent+2+depth+screen.Further))
		}
	}
	return out
}

// wrapWords breaks a text into lines of at most width columns at blanks, each but the
// first of them a little shorter. A word that no line has room for stays where it is.
func wrapWords(s string, width int) []string {
	out := []string{""}
	for _, word := range strings.SplitAfter(s, " ") {
		last := len(out) - 1
		room := width
		if last > 0 {
			room -= screen.Further
		}
		n := screen.Columns(foreign.Text(strings.TrimRight(word, " ")))
		if out[last] != "" && screen.Columns(foreign.Text(out[last]))+n > room && n <= width-screen.Further {
			out = append(out, word)
			continue
		}
		out[last] += word
	}
	return out
}

// others is one line an action, those that were not listed as destroyed.
func (v *planView) others() []screen.Line {
	var rest []*plans.Action
	above := 0
	for _, a := range v.byRisk() {
		switch r := report.RiskOf(a); {
		case r == report.Leaves:
		case r <= report.Destroys && !v.plan.Destroy:
			above++
		default:
			rest = append(rest, a)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	title := "kolla will perform these actions:"
	if above > 0 {
		title = "kolla will also perform these actions:"
	}
	return append([]screen.Line{screen.Styled(screen.Bold, title), nil}, v.grouped(rest)...)
}

// group is what actions have in common that stand below one sign.
type group struct {
	sign sign
	what string
}

func groupOf(a *plans.Action) group {
	sign, ok := markOf(a)
	switch {
	case !ok:
		return group{what: "without a change"}
	case a.Prunes():
		return group{sign, "to prune"}
	case sign == markAdd:
		return group{sign, "to create"}
	case sign == markReplace:
		return group{sign, "to replace"}
	case sign == markRemove:
		return group{sign, "to destroy"}
	default:
		return group{sign, "to change"}
	}
}

// grouped is one line an action. Those of each sign stand together below it.
func (v *planView) grouped(actions []*plans.Action) []screen.Line {
	var order []group
	heads, members := map[group][]screen.Line{}, map[group]int{}
	together, told := map[report.Relocation]int{}, map[report.Relocation]bool{}
	for _, a := range actions {
		if r, ok := report.RelocationOf(a); ok {
			together[r]++
		}
	}
	for _, a := range actions {
		g := groupOf(a)
		if heads[g] == nil {
			order = append(order, g)
		}
		members[g]++
		r, _ := report.RelocationOf(a)
		switch n := together[r]; {
		case n <= similar || v.options.Full:
			heads[g] = append(heads[g], v.head(a))
		case !told[r]:
			told[r] = true
			heads[g] = append(heads[g], relocationHead(r).Then(screen.Textf(" (%d objects)", n)))
		}
	}
	var out []screen.Line
	for _, g := range order {
		title := screen.Textf("%d %s:", members[g], g.what)
		if g.sign.text != "" {
			title = screen.Styled(g.sign.style, g.sign.text).Then(screen.Text(" "), title)
		}
		out = append(append(out, title.Indent(2)), heads[g]...)
	}
	return out
}

package terminal

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/present/content"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// item is the text about one object, or about several objects with the same text: their headlines,
// and then the text once.
type item struct {
	heads []screen.Line // "# ADDRESS will be ...", one for each object
	// own is the text about a single object; together replaces it for several objects.
	own, together []screen.Line
	comments      []screen.Line
	objects       []*report.Action // objects that have a sign
	body          []screen.Line
	// fact is the body if it is a single fact. It may be printed beside the object.
	fact   screen.Line
	create bool // listed with other new objects of the block
	gone   bool
	block  string
	within string // the place of the block in the configuration
	// names replaces the object's own names in a text. If it is nil, names are not replaced.
	names func(string) string
	alike bool // the bodies differ only in such names
	width int
	// relocation is set if the text only says that the object moves.
	relocation report.Relocation
}

// lines returns the headlines and the body.
func (it item) lines() []screen.Line {
	out := append([]screen.Line{}, it.heads...)
	own := it.own
	if len(it.heads) > 1 {
		own = it.together
	}
	out = append(append(out, own...), it.comments...)
	switch n := len(it.heads); {
	case len(it.body) == 0:
	case n > report.Similar && it.alike:
		out = append(out, comment(fmt.Sprintf("the same in all %d, each with its own name for *", n), 80)...)
	case n > report.Similar:
		out = append(out, comment(fmt.Sprintf("the same in all %d", n), 0)...)
	}
	if len(it.objects) == 0 {
		return append(out, it.body...)
	}
	object := objectLine(it.objects, it.width)
	if one := object.Then(screen.Text(": "), it.fact); len(it.heads) == 1 && it.fact != nil && one.Width() <= it.width {
		return append(out, one)
	}
	return append(append(out, object), it.body...)
}

// items renders all actions, block by block.
func (p page) items() []item {
	var all []item
	for _, actions := range p.doc.ByBlock() {
		var items []item
		for _, a := range actions {
			items = append(items, p.item(a))
		}
		all = append(all, relocated(p, items)...)
	}
	return all
}

// actions lists all changes. Successive new objects of a block are below a heading, without
// empty lines between them.
func (p page) actions(items []item) []screen.Line {
	if p.options.Compact {
		return others(p)
	}
	if len(items) == 0 {
		return nil
	}
	out := []screen.Line{screen.Styled(screen.Bold, p.doc.ActionsTitle())}
	out = append(out, legend(items)...)
	items = fold(items, p.options.Full)
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

// creations counts the new objects of one block at the start of items.
func creations(items []item) int {
	n := 0
	for n < len(items) && items[n].create && items[n].block == items[0].block {
		n++
	}
	return n
}

// heading is above the new objects of a block.
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
func (p page) item(a *report.Action) item {
	it := item{
		heads: []screen.Line{head(a)}, block: a.Object.Address.Block, create: a.Create, gone: a.Object.Gone,
		names: a.AnyName, within: a.Within, width: p.width,
	}
	if a.Sign != report.NoSign {
		it.objects = []*report.Action{a}
	}
	if a.Place != "" {
		it.own = comment(a.Place, p.width)
	}
	if a.PlaceOfMany != "" {
		it.together = comment(a.PlaceOfMany, p.width)
	}
	short := a.Create && !p.options.Full
	var facts []content.Line
	if short {
		facts = a.Facts(p.width - bodyIndent - 2)
	}
	for _, c := range a.Comments {
		if c != report.Once || len(facts) == 0 {
			it.comments = append(it.comments, comment(c, p.width)...)
		}
	}
	if !short {
		it.body = p.fields(a.Object).render(a.Object.Fields())
	} else {
		it.body = p.told(facts)
		if len(facts) == 1 {
			it.fact = screen.Styled(factStyle(facts[0]), facts[0].Text)
		}
	}
	if a.Moves() {
		it.relocation = a.Relocation
	}
	return it
}

// head returns the line by which programs recognize an action.
func head(a *report.Action) screen.Line {
	address := screen.Styled(screen.Bold, a.Object.Address.String())
	at := screen.Text("  # ")
	switch {
	case a.Head.Before != "":
		return at.Then(screen.Text(a.Head.Before), address)
	case a.Head.Danger != "":
		return at.Then(address, screen.Text(a.Head.After), screen.Styled(screen.Danger, a.Head.Danger))
	default:
		return at.Then(address, screen.Text(a.Head.After))
	}
}

// comment returns a remark below the head of an action.
func comment(s string, width int) []screen.Line {
	var out []screen.Line
	for _, part := range screen.Wrap("("+s+")", max(width-4, 40)) {
		out = append(out, screen.Styled(screen.Faint, "  # "+part))
	}
	return out
}

// relocated replaces many objects of a block that only move by one item.
func relocated(p page, items []item) []item {
	if p.options.Full {
		return items
	}
	count := map[report.Relocation]int{}
	for _, it := range items {
		count[it.relocation]++
	}
	var out []item
	told := map[report.Relocation]bool{}
	for _, it := range items {
		r := it.relocation
		switch n := count[r]; {
		case r == report.Relocation{} || n <= report.Similar:
			out = append(out, it)
		case !told[r]:
			told[r] = true
			out = append(out, item{
				heads: []screen.Line{relocationHead(r)}, block: it.block, width: it.width,
				comments: comment(fmt.Sprintf("%d objects keep their names; -full lists them", n), it.width),
			})
		}
	}
	return out
}

// relocationHead returns the line for all objects that move together.
func relocationHead(r report.Relocation) screen.Line {
	return screen.Text("  # ").Then(screen.Text(r.From+" has moved to "), screen.Styled(screen.Bold, r.To))
}

// fold merges items with the same text into the first of them.
func fold(items []item, full bool) []item {
	foldables := make([]report.Foldable, len(items))
	for i, it := range items {
		foldables[i] = report.Foldable{Text: it.said(), Own: it.names, Create: it.create, Gone: it.gone}
	}
	var out []item
	for _, f := range report.Folds(foldables, full) {
		it := items[f.Members[0]]
		if f.Alike {
			it.alike, it.create = true, false
			it.comments, it.body = it.starred(it.comments), it.starred(it.body)
		}
		for _, i := range f.Members[1:] {
			it.heads = append(it.heads, items[i].heads...)
			it.objects = append(it.objects, items[i].objects...)
		}
		out = append(out, it)
	}
	return out
}

// said returns the text about an object without its address. Objects with different signs have
// different texts.
func (it item) said() string {
	sign := ""
	for _, a := range it.objects {
		sign = mark(a.Sign).text
	}
	return sign + screen.PlainText(slices.Concat(it.together, it.comments, it.body))
}

// starred replaces the object's own names in lines.
func (it item) starred(lines []screen.Line) []screen.Line {
	out := make([]screen.Line, len(lines))
	for i, l := range lines {
		for _, s := range l {
			out[i] = append(out[i], screen.Span{Text: it.names(s.Text), Style: s.Style})
		}
	}
	return out
}

// others returns the actions of a short plan, one line each, without those in the list of
// deletions.
func others(p page) []screen.Line {
	var rest []*report.Action
	above := 0
	for _, a := range p.doc.ByRisk() {
		switch {
		case a.Risk == report.Leaves:
		case a.Risk <= report.Destroys && !p.doc.Destroy:
			above++
		default:
			rest = append(rest, a)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	title := p.doc.ActionsTitle()
	if above > 0 {
		title = strings.Replace(title, " perform ", " also perform ", 1)
	}
	return append([]screen.Line{screen.Styled(screen.Bold, title), nil}, p.grouped(rest)...)
}

// group is the sign and the title of actions in a short plan.
type group struct {
	sign report.Sign
	todo string
}

// grouped lists actions in one line each, below their signs.
func (p page) grouped(actions []*report.Action) []screen.Line {
	var order []group
	heads, members := map[group][]screen.Line{}, map[group]int{}
	together, told := map[report.Relocation]int{}, map[report.Relocation]bool{}
	for _, a := range actions {
		if a.Relocation != (report.Relocation{}) {
			together[a.Relocation]++
		}
	}
	for _, a := range actions {
		g := group{a.Sign, a.Todo}
		if heads[g] == nil {
			order = append(order, g)
		}
		members[g]++
		r := a.Relocation
		switch n := together[r]; {
		case n <= report.Similar || p.options.Full:
			heads[g] = append(heads[g], head(a))
		case !told[r]:
			told[r] = true
			heads[g] = append(heads[g], relocationHead(r).Then(screen.Textf(" (%d objects)", n)))
		}
	}
	var out []screen.Line
	for _, g := range order {
		title := screen.Textf("%d %s:", members[g], g.todo)
		if m := mark(g.sign); m.text != "" {
			title = screen.Styled(m.style, m.text).Then(screen.Text(" "), title)
		}
		out = append(append(out, title.Indent(2)), heads[g]...)
	}
	return out
}

package terminal

import (
	"math"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/content"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// look is the printed form of a sign. Review bots read the line with the address from its start to
// its end ("  # ADDRESS will be created"), so the sign of an object is on the next line, as in
// Terraform's plans.
type look struct {
	text, means string
	style       screen.Style
}

// mark returns the look of a sign.
func mark(s report.Sign) look {
	switch s {
	case report.Add:
		return look{"+", "added", screen.Added}
	case report.Change:
		return look{"~", "changed", screen.Changed}
	case report.Remove:
		return look{"-", "removed", screen.Removed}
	case report.Replace:
		return look{"-/+", "removed and made again", screen.Removed}
	case report.Given:
		return look{"·", "", screen.Faint}
	default:
		return look{}
	}
}

// explained are the signs of the legend, in its order.
var explained = []report.Sign{report.Add, report.Change, report.Remove, report.Replace}

// legend explains the signs that occur among the items, and no others.
func legend(items []item) []screen.Line {
	used := map[report.Sign]bool{}
	for _, it := range items {
		for _, a := range it.objects {
			used[a.Sign] = true
		}
		for _, l := range it.body {
			for _, s := range l { // the signs of fields
				for _, sign := range explained {
					if s.Style == mark(sign).style && sign != report.Replace {
						used[sign] = true
					}
				}
			}
		}
	}
	var parts []string
	for _, sign := range explained {
		if used[sign] {
			parts = append(parts, mark(sign).text+" "+mark(sign).means)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []screen.Line{screen.Styled(screen.Faint, "  "+strings.Join(parts, "   "))}
}

// objectLine returns the line of an object with its sign. It can stand for several objects that
// share the text below: their addresses are above.
func objectLine(all []*report.Action, width int) screen.Line {
	first := all[0]
	kind, more := first.Object.Address.Kind, first.More
	var names, kinds []string
	for _, a := range all {
		address := a.Object.Address
		names, kinds = append(names, address.Name), append(kinds, address.Kind+" "+address.Name)
		if a.More != first.More {
			more = ""
		}
	}
	what, many := kind+" "+strings.Join(names, ", "), words.Count(len(all), kind+" object")
	if slices.ContainsFunc(all, func(a *report.Action) bool { return a.Object.Address.Kind != kind }) {
		what, many = strings.Join(kinds, ", "), words.Count(len(all), "object")
	}
	if len(all) > 1 && screen.Columns(what+more) > width-4 {
		what = many
	}
	m := mark(first.Sign)
	return screen.Styled(m.style, m.text).Then(screen.Text(" " + what + more)).Indent(2)
}

// factStyle highlights facts that weaken security.
func factStyle(fact content.Line) screen.Style {
	if fact.Weak {
		return screen.Caution
	}
	return screen.Plain
}

// told returns the facts about a new object. Without a terminal, each fact is on its own line.
func (p page) told(facts []content.Line) []screen.Line {
	var out []screen.Line
	width := math.MaxInt
	if p.out.Terminal {
		width = p.width - bodyIndent - 2
	}
	for _, fact := range facts {
		body := strings.TrimLeft(fact.Text, " ")
		depth := len(fact.Text) - len(body)
		for i, part := range wrapWords(body, width-depth) {
			if i == 0 {
				sign := screen.Styled(screen.Added, "+").Then(screen.Text(strings.Repeat(" ", depth+1)))
				out = append(out, sign.Then(screen.Styled(factStyle(fact), part)).Indent(bodyIndent))
				continue
			}
			out = append(out, screen.Styled(factStyle(fact), part).Indent(bodyIndent+2+depth+screen.Further))
		}
	}
	return out
}

// wrapWords breaks a text at blanks into lines of at most width columns. All lines but the
// first are shorter by the additional indent. A word that is longer than a line stays where
// it is.
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

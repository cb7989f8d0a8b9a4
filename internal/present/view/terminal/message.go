package terminal

import (
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/lang/addrs"
)

// Message is a diagnostic. All diagnostics look the same.
type Message struct {
	Warning bool
	Summary string
	Where   []screen.Line // source lines, addresses
	Detail  string
}

// DetailIndent is the indent of details, so that foreign text never starts a line.
const DetailIndent = 2

// Problem returns a message about a plan. A long list of places is shortened.
func Problem(m report.Message) Message {
	out := Message{Warning: m.Warning, Summary: m.Summary, Detail: m.Detail}
	for _, place := range m.Places {
		if place.Address == (addrs.Object{}) {
			out.Where = append(out.Where, screen.Text("  at "+place.Source))
			continue
		}
		l := screen.Text("  with ").Then(screen.Styled(screen.Bold, place.Address.String()))
		if place.Source != "" {
			l = l.Then(screen.Text(", declared at " + place.Source))
		}
		out.Where = append(out.Where, l)
	}
	out.Where = Fewer(out.Where)
	return out
}

// Fewer shortens a list of objects that have something in common.
func Fewer(where []screen.Line) []screen.Line {
	if len(where) <= report.Similar+1 {
		return where
	}
	return append(where[:report.Similar:report.Similar], screen.Textf("  and %d more, %d in all", len(where)-report.Similar, len(where)))
}

// Lines renders the message. Running text takes width columns, without its indent.
func (m Message) Lines(width int) []screen.Line {
	out := []screen.Line{screen.Styled(screen.Danger, "Error: ").Then(screen.Styled(screen.Bold, report.Headline(m.Summary)))}
	if m.Warning {
		out = []screen.Line{screen.Styled(screen.Caution, "Warning: ").Then(screen.Styled(screen.Bold, report.Headline(m.Summary)))}
	}
	if len(m.Where) > 0 {
		out = append(append(out, nil), m.Where...)
	}
	if m.Detail != "" {
		out = append(out, nil)
		for _, l := range screen.Wrap(m.Detail, width) {
			out = append(out, screen.Text(l).Indent(DetailIndent))
		}
	}
	return append(out, nil)
}

package terminal

import (
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// The sections about changes by others.

// drift lists changes that an apply reverts, with their authors.
func drift(p page) []screen.Line {
	if p.doc.Drift == nil {
		return nil
	}
	out := []screen.Line{screen.Styled(screen.Caution, p.doc.Drift.Title)}
	if p.options.Compact {
		return append(append(out, nil), driftInShort(p)...)
	}
	var items []item
	for _, o := range p.doc.Drift.Objects {
		items = append(items, drifted(p, o))
	}
	for _, it := range fold(items, p.options.Full) {
		// The actions list all objects again.
		if n := len(it.heads); n > report.Similar && !p.doc.RefreshOnly {
			it.heads = append(it.heads[:report.Similar-1:report.Similar-1], screen.Styled(screen.Faint, fmt.Sprintf("  # and %d more, all listed below", n-report.Similar+1)))
		}
		out = append(append(out, nil), it.lines()...)
	}
	return out
}

// driftInShort is one line for each object. It names all changed fields, because a short
// plan says nothing else about them.
func driftInShort(p page) []screen.Line {
	var out, deleted []screen.Line
	for _, o := range p.doc.Drift.Objects {
		head := driftHead(o)
		if o.Gone {
			deleted = append(deleted, head.Then(screen.Text(": deleted")))
			continue
		}
		out = append(out, head.Then(screen.Text(": "+cutList(p.paths(o), p.width-head.Width()-2))))
	}
	if n := len(deleted); n > report.Similar && !p.doc.RefreshOnly {
		deleted = append(deleted[:report.Similar-1:report.Similar-1], screen.Styled(screen.Faint, fmt.Sprintf("  # and %d more: deleted, and created again below", n-report.Similar+1)))
	}
	return append(out, deleted...)
}

// drifted renders the changes that other clients made to an object.
func drifted(p page, o *report.Object) item {
	it := item{heads: []screen.Line{driftHead(o)}, gone: o.Gone}
	if o.Gone {
		it.body = []screen.Line{screen.Styled(screen.Removed, "-").Then(screen.Text(" deleted from the cluster")).Indent(bodyIndent)}
	} else {
		it.body = p.fields(o).render(o.Fields())
	}
	return it
}

func driftHead(o *report.Object) screen.Line {
	sign := screen.Styled(screen.Changed, "  ~ ")
	if o.Gone {
		sign = screen.Styled(screen.Removed, "  - ")
	}
	return sign.Then(screen.Styled(screen.Bold, o.Address.String()))
}

// paths returns the changed fields of an object.
func (p page) paths(o *report.Object) []string {
	var out []string
	for _, f := range o.Fields() {
		out = append(out, p.fields(o).path(f))
	}
	return out
}

// replaced lists generated values that other clients replaced and that kolla keeps.
func replaced(p page) []screen.Line {
	return owned(p, p.doc.Replaced, func(report.Field) string { return "" })
}

// yielded lists declared values that are left to controllers.
func yielded(p page) []screen.Line {
	return owned(p, p.doc.Yielded, func(f report.Field) string {
		return fmt.Sprintf(" = %s is not applied (live: %s)", brief(f.After), brief(f.Before))
	})
}

// brief returns a value in at most 40 columns.
func brief(v any) string {
	if v == nil {
		return "none"
	}
	const maxLength = 40
	return shorten(report.Value(v), length(v), maxLength)
}

// owned lists fields with a text about each, their author and the time.
func owned(p page, section *report.Outside, says func(report.Field) string) []screen.Line {
	if section == nil {
		return nil
	}
	out := []screen.Line{screen.Styled(screen.Caution, section.Title)}
	for _, o := range section.Objects {
		head, r := screen.Text("  # ").Then(screen.Styled(screen.Bold, o.Address.String())), p.fields(o)
		if p.options.Compact {
			var paths []string
			for _, f := range o.Fields() {
				paths = append(paths, r.path(f)+says(f))
			}
			out = append(out, head.Then(screen.Text(": "+strings.Join(paths, ", "))))
			continue
		}
		out = append(out, nil, head)
		for _, f := range o.Fields() {
			l := screen.Styled(screen.Changed, "~").Then(screen.Text(" " + r.path(f) + says(f))).Indent(bodyIndent)
			out = append(out, r.append(l, screen.Styled(screen.Faint, f.Note))...)
		}
	}
	return out
}

// added lists fields that others added and that stay.
func added(p page) []screen.Line {
	var out []screen.Line
	for _, section := range p.doc.Foreign {
		if out != nil {
			out = append(out, nil)
		}
		out = append(out, screen.Styled(screen.Caution, section.Title))
		for _, o := range section.Objects {
			head := screen.Text("  # ").Then(screen.Styled(screen.Bold, o.Address.String()))
			if p.options.Compact {
				out = append(out, head.Then(screen.Text(": "+strings.Join(p.paths(o), ", "))))
				continue
			}
			out = append(append(out, nil, head), p.fields(o).render(o.Fields())...)
			if o.Command != "" {
				out = append(out, screen.Text("To replace it: "+o.Command).Indent(bodyIndent))
			}
		}
	}
	return out
}

package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/plans"
)

// bodyIndent is the column at which the fields of an object begin, after the sign.
const bodyIndent = 4

// fields renders changes of fields, one a line where there is room, with the
// values of neighbouring lines below each other.
type fields struct {
	width int
	full  bool
	fresh bool // the whole object is new
	given bool // the changes are no changes: what is Before stays
	kind  string
	// named is a file that needs not be named: the object itself is.
	named string
	// shorten is taken off the front of paths: what they all have in common.
	shorten string
	// note says something about a change, after it; nil: nothing is said.
	note func(plans.Change) string
}

// alignLimit is the longest path that the values of others are put in line with.
const alignLimit = 48

// render gives the lines of all changes.
func (f fields) render(changes []plans.Change) []screen.Line {
	changes = f.elements(changes)
	paths := 0
	for _, c := range changes {
		n := screen.Columns(f.path(c))
		if !isText(c) && n <= alignLimit && f.values(c, f.width-bodyIndent-2-n-3) != nil {
			paths = max(paths, n)
		}
	}
	var out []screen.Line
	for _, c := range changes {
		if isText(c) {
			out = append(out, f.file(c)...)
		} else {
			out = append(out, f.field(c, paths)...)
		}
	}
	return out
}

// field is a change of a single value. The values begin after a path of paths
// columns if they fit there, else after the path itself, else on the next line.
func (f fields) field(c plans.Change, paths int) []screen.Line {
	const inner = bodyIndent + 4
	head := f.sign(c).Then(screen.Text(" " + f.path(c))).Indent(bodyIndent)
	note := f.noteOf(c)
	for _, column := range []int{bodyIndent + 2 + paths + 3, head.Width() + 3} {
		if one := f.values(c, f.width-column); one != nil && column >= head.Width()+3 {
			return f.append(head.Pad(column).Then(one), note)
		}
	}
	heads := brokenPath(head, f.width)
	if one := f.values(c, f.width-inner); one != nil {
		return append(heads, f.append(one.Indent(inner), note)...)
	}
	out := heads
	if note != nil {
		last := len(heads) - 1
		out = slices.Concat(heads[:last], f.append(heads[last], note))
	}
	if c.Before == nil || c.After == nil {
		return append(out, f.oneSided(c, inner)...)
	}
	before, after := f.pair(c, inner)
	out = append(out, hanging(screen.Text(before[0]).Indent(inner), before[1:], inner)...)
	return append(out, hanging(screen.Text("→ "+after[0]).Indent(inner-2), after[1:], inner)...)
}

// hanging puts further lines below the first one.
func hanging(first screen.Line, rest []string, indent int) []screen.Line {
	out := []screen.Line{first}
	for _, r := range rest {
		out = append(out, screen.Text(r).Indent(indent+screen.Further))
	}
	return out
}

// brokenPath breaks a line that ends with a path between two steps of it, where it is
// wider than there is room.
func brokenPath(l screen.Line, width int) []screen.Line {
	const further = bodyIndent + 4
	last := len(l) - 1
	path := l[last].Text
	room := width - l[:last].Width()
	var out []screen.Line
	for screen.Columns(path) > room {
		at := strings.LastIndexAny(path[:min(room, len(path))], ".[")
		if at <= 0 || room <= 0 {
			break
		}
		out = append(out, l[:last:last].Then(screen.Text(path[:at])))
		l, path = screen.Line{}.Pad(further).Then(screen.Text("")), path[at:]
		last, room = len(l)-1, width-further
	}
	return append(out, l[:last:last].Then(screen.Text(path)))
}

// oneSided shows a value that was added or removed, and is long.
func (f fields) oneSided(c plans.Change, indent int) []screen.Line {
	v := c.After
	if v == nil {
		v = c.Before
	}
	if lines := f.whole(v); lines != nil {
		var out []screen.Line
		for _, l := range lines {
			out = append(out, screen.Text(l).Indent(indent))
		}
		return out
	}
	lines := f.long(formatValue(v), length(v), indent)
	return hanging(screen.Text(lines[0]).Indent(indent), lines[1:], indent)
}

// values shows the values of a change on one line, or gives nil if they do not
// fit into width columns.
func (f fields) values(c plans.Change, width int) screen.Line {
	var l screen.Line
	switch {
	case c.Sensitive:
		return screen.Styled(screen.Faint, plans.Masked)
	case c.Before == nil && c.After == nil:
		return screen.Styled(screen.Faint, plans.Unknown)
	case c.Before == nil:
		l = value(c.After)
	case c.After == nil:
		l = value(c.Before)
	default:
		l = value(c.Before).Then(screen.Text(" → "), value(c.After))
	}
	if l.Width() > width {
		return nil
	}
	return l
}

// value shows one value; what only stands for one is not quoted.
func value(v any) screen.Line {
	if v == plans.Unknown || v == plans.Masked {
		return screen.Styled(screen.Faint, fmt.Sprint(v))
	}
	return screen.Text(formatValue(v))
}

// append puts a note at the end of the line, or below it where it does not fit.
func (f fields) append(l, note screen.Line) []screen.Line {
	switch {
	case note == nil:
		return []screen.Line{l}
	case l.Width()+3+note.Width() <= f.width:
		return []screen.Line{l.Then(screen.Text("   "), note)}
	default:
		return []screen.Line{l, note.Indent(bodyIndent + 4)}
	}
}

func (f fields) noteOf(c plans.Change) screen.Line {
	if f.note == nil || f.note(c) == "" {
		return nil
	}
	return screen.Styled(screen.Faint, f.note(c))
}

func (f fields) path(c plans.Change) string {
	if c.Text {
		return fileName(c.Path)
	}
	return strings.TrimPrefix(c.Path, f.shorten)
}

// file is a change of a whole file.
func (f fields) file(c plans.Change) []screen.Line {
	before, _ := c.Before.(string)
	after, _ := c.After.(string)
	diff := limited(textDiff(before, after, f.lineLimit()), f.full)
	var out []screen.Line
	name, note, inner := fileName(c.Path), f.noteOf(c), bodyIndent
	if name != f.named || note != nil {
		out = append(out, f.sign(c).Then(screen.Text(" "+name+"   "), note).Indent(bodyIndent))
		inner += 2
	}
	for _, l := range diff {
		out = append(out, l.Indent(inner))
	}
	return out
}

// lineLimit is how many columns of a line of a file are shown: more than of other
// values, since there is more to see in them.
func (f fields) lineLimit() int {
	if f.full {
		return 1 << 20
	}
	return 4 * max(f.width, 40)
}

// isText reports whether a change is to be shown line by line. A file of one line is
// a value like any other.
func isText(c plans.Change) bool {
	switch {
	case c.Sensitive:
		return false
	case c.Text:
		return severalLines(c.Before) || severalLines(c.After)
	default:
		return severalLines(c.Before) && severalLines(c.After)
	}
}

func severalLines(v any) bool {
	s, ok := v.(string)
	return ok && strings.Contains(strings.TrimSuffix(s, "\n"), "\n")
}

// fileName is the key of a data entry: "keystone.conf" for `data["keystone.conf"]`.
func fileName(path string) string {
	name, ok := strings.CutPrefix(path, `data["`)
	if name, closed := strings.CutSuffix(name, `"]`); ok && closed {
		return name
	}
	return path
}

// sign says with one character what happens to a field.
func (f fields) sign(c plans.Change) screen.Line {
	switch {
	case f.given:
		return screen.Styled(screen.Faint, "·")
	case c.Before != nil && c.After != nil:
		return screen.Styled(screen.Changed, "~")
	case c.Before != nil:
		return screen.Styled(screen.Removed, "-")
	case c.After == nil && !f.fresh: // something sensitive, or not yet known
		return screen.Styled(screen.Changed, "~")
	default:
		return screen.Styled(screen.Added, "+")
	}
}

// culprit says who changed a field outside of kolla, and when, seen from the
// moment now: "scaled by kubectl 50 min ago, 2026-11-21 02:11 UTC".
func (p *Printer) culprit(c plans.Change, now time.Time) string {
	var parts []string
	switch {
	case c.Manager == "" && c.Drift && c.Path == "spec.replicas":
		return "scaled by an unknown client (no field manager recorded)"
	case c.Manager == "" && c.Drift:
		return "by an unknown client (no field manager recorded)"
	case c.Manager != "":
		verb := "by "
		if c.Path == "spec.replicas" {
			verb = "scaled by "
		}
		parts = append(parts, verb+report.Tool(c.Manager))
	}
	if !c.Time.IsZero() {
		if age := now.Sub(c.Time); age >= 0 && !now.IsZero() {
			parts = append(parts, words.Ago(age)+",")
		}
		parts = append(parts, p.moment(c.Time))
	}
	return strings.Join(parts, " ")
}

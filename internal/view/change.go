package view

import (
	"strings"
	"time"

	"kolla.openstack.org/kolla/planner"
)

// bodyIndent is the column at which the fields of an object begin, after the sign.
const bodyIndent = 4

// fields renders changes of fields, one a line where there is room, with the
// values of neighbouring lines below each other.
type fields struct {
	width int
	full  bool
	fresh bool // the whole object is new
	// shorten is taken off the front of paths: what they all have in common.
	shorten string
	// note says something about a change, after it; nil: nothing is said.
	note func(planner.Change) string
}

// render gives the lines of all changes.
func (f fields) render(changes []planner.Change) []line {
	paths := 0
	for _, c := range changes {
		if n := columns(f.path(c)); !isText(c) && n <= f.width/2 {
			paths = max(paths, n)
		}
	}
	var out []line
	for _, c := range changes {
		if isText(c) {
			out = append(out, f.file(c)...)
		} else {
			out = append(out, f.field(c, paths)...)
		}
	}
	return out
}

// field is a change of a single value; the column of values begins after paths.
func (f fields) field(c planner.Change, paths int) []line {
	mark := f.sign(c)
	head := mark.then(text(" " + f.path(c))).indent(bodyIndent)
	note := f.noteOf(c)
	column := max(bodyIndent+2+paths, head.width()) + 3
	if one := f.values(c, f.width-column); one != nil {
		l := head.pad(column).then(one)
		return f.append(l, note, column)
	}
	inner := bodyIndent + 4
	if one := f.values(c, f.width-inner); one != nil {
		return append([]line{head}, f.append(one.indent(inner), note, inner)...)
	}
	before, after := cutPair(formatValue(c.Before), formatValue(c.After), f.room(inner))
	out := []line{head}
	if c.Before != nil {
		out = append(out, text(before).indent(inner))
	}
	if c.After != nil {
		arrow := ""
		if c.Before != nil {
			arrow = "→ "
		}
		out = append(out, text(arrow+after).indent(inner-columns(arrow)))
	}
	if note != nil {
		out = append(out, note.indent(inner))
	}
	return out
}

// room is how many columns a value may take that begins at the given one.
func (f fields) room(column int) int {
	if f.full {
		return 1 << 20
	}
	return max(f.width-column, 40)
}

// values shows the values of a change on one line, or gives nil if they do not
// fit into width columns.
func (f fields) values(c planner.Change, width int) line {
	var l line
	switch {
	case c.Sensitive:
		return styled(faint, sensitiveValue)
	case c.Before == nil && c.After == nil:
		return styled(faint, unknownValue)
	case c.Before == nil:
		l = text(formatValue(c.After))
	case c.After == nil:
		l = text(formatValue(c.Before))
	default:
		l = text(formatValue(c.Before) + " → " + formatValue(c.After))
	}
	if l.width() > width {
		return nil
	}
	return l
}

// append puts a note at the end of the line, or below it where it does not fit.
func (f fields) append(l, note line, column int) []line {
	switch {
	case note == nil:
		return []line{l}
	case l.width()+3+note.width() <= f.width:
		return []line{l.then(text("   "), note)}
	default:
		return []line{l, note.indent(column)}
	}
}

func (f fields) noteOf(c planner.Change) line {
	if f.note == nil || f.note(c) == "" {
		return nil
	}
	return styled(faint, f.note(c))
}

func (f fields) path(c planner.Change) string { return strings.TrimPrefix(c.Path, f.shorten) }

// file is a change of a whole file.
func (f fields) file(c planner.Change) []line {
	head := f.sign(c).then(text(" " + fileName(c.Path))).indent(bodyIndent)
	if note := f.noteOf(c); note != nil {
		head = head.then(text("   "), note)
	}
	return append([]line{head}, f.diff(c)...)
}

// diff is what changes inside of a file.
func (f fields) diff(c planner.Change) []line {
	before, _ := c.Before.(string)
	after, _ := c.After.(string)
	var out []line
	for _, l := range limited(textDiff(before, after), f.full) {
		out = append(out, l.indent(bodyIndent+2))
	}
	return out
}

// isText reports whether a change is to be shown line by line.
func isText(c planner.Change) bool {
	if c.Sensitive {
		return false
	}
	return c.Text || severalLines(c.Before) && severalLines(c.After)
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
func (f fields) sign(c planner.Change) line {
	switch {
	case c.Sensitive && !f.fresh, c.Before != nil && c.After != nil:
		return styled(changed, "~")
	case c.After == nil && c.Before != nil:
		return styled(removed, "-")
	default:
		return styled(added, "+")
	}
}

// culprit says who changed a field outside of kolla, and when, seen from the
// moment now: "scaled by kubectl 50 min ago (2026-11-21 02:11 UTC)".
func (p *Printer) culprit(c planner.Change, now time.Time) string {
	var words []string
	if c.Manager != "" {
		verb := "by "
		if c.Path == "spec.replicas" {
			verb = "scaled by "
		}
		words = append(words, verb+tool(c.Manager))
	}
	if !c.Time.IsZero() {
		if age := now.Sub(c.Time); age >= 0 && !now.IsZero() {
			words = append(words, ago(age), "("+p.moment(c.Time)+")")
		} else {
			words = append(words, p.moment(c.Time))
		}
	}
	return strings.Join(words, " ")
}

// ago is a span of time up to now, as people say it.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return count(int(d.Minutes()), "minute") + " ago"
	default:
		return duration(d) + " ago"
	}
}

// tool is the command behind a field manager's name. kubectl has one manager a
// subcommand.
func tool(manager string) string {
	switch {
	case manager == "kubectl-client-side-apply":
		return "kubectl apply"
	case strings.HasPrefix(manager, "kubectl-"):
		return "kubectl " + strings.TrimPrefix(manager, "kubectl-")
	default:
		return manager
	}
}

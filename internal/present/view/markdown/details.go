package markdown

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/textdiff"
)

// detail is a folded part of the page, in two sizes.
type detail struct {
	name  string
	n     int // actions
	whole string
	short string // without diffs
}

// openActions is the number of actions up to which the diffs are not folded.
const openActions = 5

// details returns the changes by others, and then the actions by block in the order of the plan. If
// objects of several blocks have the same diff, these blocks share a detail with it.
func details(doc *report.Plan, o Options) []detail {
	var out []detail
	for _, section := range []*report.Outside{doc.Drift, doc.Replaced, doc.Yielded} {
		if section != nil {
			out = append(out, outside(section, o))
		}
	}
	for i := range doc.Foreign {
		out = append(out, outside(&doc.Foreign[i], o))
	}
	opened := len(doc.Actions) <= openActions
	for _, part := range divided(doc, o) {
		title := "<b>" + html(part.blocks()) + "</b>: " + html(report.Tally(part.actions))
		out = append(out, detail{
			name: part.blocks(), n: len(part.actions),
			whole: folded(title, opened, part.lines), short: folded(title, opened, heads(part.actions)),
		})
	}
	return out
}

// chapter has the actions of a block, or those of several blocks with the same diff.
type chapter struct {
	actions []*report.Action
	lines   []string
}

// blocks names the blocks.
func (c chapter) blocks() string {
	var names []string
	for _, a := range c.actions {
		if block := a.Object.Address.Block; !slices.Contains(names, block) {
			names = append(names, block)
		}
	}
	return strings.Join(words.First(names, report.Similar, "block"), ", ")
}

// divided returns the actions in chapters. If several objects have the same diff, it is written once,
// below all their headlines.
func divided(doc *report.Plan, o Options) []chapter {
	var actions []*report.Action
	var texts []written
	var items []report.Foldable
	for _, a := range slices.Concat(doc.ByBlock()...) {
		text := body(a, o)
		actions, texts = append(actions, a), append(texts, text)
		items = append(items, report.Foldable{Text: fmt.Sprint(a.Sign, "\n", strings.Join(text.together(), "\n")), Own: a.AnyName, Create: a.Create, Gone: a.Object.Gone})
	}
	var out []chapter
	at := map[string]int{} // the chapter of a block
	for _, f := range report.Folds(items, o.Full) {
		var c chapter
		for _, i := range f.Members {
			c.actions, c.lines = append(c.actions, actions[i]), append(c.lines, head(actions[i]))
		}
		first := f.Members[0]
		switch n := len(f.Members); {
		case f.Alike:
			c.lines = append(c.lines, fmt.Sprintf("# the same in all %d, each with its own name for *", n))
			c.lines = append(c.lines, strings.Split(actions[first].AnyName(strings.Join(texts[first].together(), "\n")), "\n")...)
		case n > 1:
			c.lines = append(c.lines, texts[first].together()...)
		default:
			c.lines = append(c.lines, texts[first].own()...)
		}
		block := actions[first].Object.Address.Block
		shared := slices.ContainsFunc(c.actions, func(a *report.Action) bool { return a.Object.Address.Block != block })
		if i, known := at[block]; known && !shared {
			out[i].actions, out[i].lines = append(out[i].actions, c.actions...), append(out[i].lines, c.lines...)
			continue
		}
		if !shared {
			at[block] = len(out)
		}
		out = append(out, c)
	}
	return out
}

// written is the text about an object. The place of one object and of several ones is worded
// differently; both may be empty.
type written struct {
	comments, changes  []string
	place, placeOfMany string
}

func (w written) own() []string      { return w.with(w.place) }
func (w written) together() []string { return w.with(w.placeOfMany) }

func (w written) with(place string) []string {
	out := slices.Clone(w.comments)
	if place != "" {
		out = append(out, "# "+place)
	}
	return append(out, w.changes...)
}

// folded returns a diff below a title.
func folded(title string, opened bool, lines []string) string {
	tag := "details"
	if opened {
		tag = "details open"
	}
	return fmt.Sprintf("\n<%s><summary>%s</summary>\n\n%s\n</details>\n", tag, title, fenced("diff", lines))
}

// outside lists fields that others changed.
func outside(section *report.Outside, o Options) detail {
	var whole, short []string
	for _, object := range section.Objects {
		head := "@@ " + object.Address.String() + " @@"
		short, whole = append(short, head), append(whole, head)
		if object.Gone {
			whole = append(whole, "- somebody deleted it")
		}
		whole = append(whole, fields(object, o)...)
		if object.Command != "" {
			whole = append(whole, "# "+object.Command)
		}
	}
	name := strings.TrimSuffix(section.Title, ":")
	title := html(name) + " (" + words.Count(len(section.Objects), "object") + ")"
	return detail{name: name, whole: folded(title, false, whole), short: folded(title, false, short)}
}

// fit returns as many whole details as fit, then short ones. If it omits any, it adds a sentence
// that says so.
func fit(details []detail, room int) string {
	const note = 400 // bytes for that sentence
	total := 0
	for _, d := range details {
		total += len(d.whole)
	}
	if total <= room {
		return join(details, len(details), len(details))
	}
	room -= note
	short, used := 0, 0
	for short < len(details) && used+len(details[short].short) <= room {
		used += len(details[short].short)
		short++
	}
	whole := 0
	for whole < short && used+len(details[whole].whole)-len(details[whole].short) <= room {
		used += len(details[whole].whole) - len(details[whole].short)
		whole++
	}
	return join(details, whole, short)
}

// join writes whole details, then short ones.
func join(details []detail, whole, short int) string {
	var b strings.Builder
	actions := 0
	for i, d := range details {
		switch {
		case i < whole:
			b.WriteString(d.whole)
		case i < short:
			b.WriteString(d.short)
		default:
			actions += d.n
		}
	}
	if whole < short || actions > 0 {
		b.WriteString("\n**This page is cut.** ")
		if whole < short {
			fmt.Fprintf(&b, "Diffs are left out, from %s on. ", code(details[whole].name))
		}
		if actions > 0 {
			fmt.Fprintf(&b, "%s of %s %s not listed. ", words.Count(actions, "action"), words.Count(len(details)-short, "block"), words.Plural(actions, "is", "are"))
		}
		b.WriteString("The plan in the terminal or as JSON has everything.\n")
	}
	return b.String()
}

// heads returns the headlines of actions.
func heads(actions []*report.Action) []string {
	var out []string
	for _, a := range actions {
		out = append(out, head(a))
	}
	return out
}

func head(a *report.Action) string {
	return "@@ " + a.Head.Before + a.Object.Address.String() + a.Head.After + a.Head.Danger + " @@"
}

// factWidth is the width of lines about a new object.
const factWidth = 100

// body returns the reasons of an action and the changes of its fields.
func body(a *report.Action, o Options) written {
	out := written{place: a.Place, placeOfMany: a.PlaceOfMany}
	if a.Create && !o.Full {
		for _, line := range a.Facts(factWidth) {
			out.changes = append(out.changes, "+ "+line.Text)
		}
	}
	for _, sentence := range a.Comments {
		if sentence != report.Once || out.changes == nil {
			out.comments = append(out.comments, "# "+sentence)
		}
	}
	if out.changes == nil {
		out.changes = fields(a.Object, o)
	}
	return out
}

// fields returns the changes of an object, with the sign in the first column.
func fields(object *report.Object, o Options) []string {
	var out []string
	prefix := object.Prefix()
	if o.Full {
		prefix = ""
	}
	for _, f := range report.Divide(object.Fields(), factWidth) {
		path := f.Path
		if f.File != "" {
			path = f.File
		}
		path = strings.TrimPrefix(path, prefix)
		if f.Lines {
			out = append(out, suffixed("# "+f.FileName(), f.Note))
			for _, line := range f.Diff() {
				out = append(out, diffLine(line))
			}
			continue
		}
		out = append(out, values(f, path, object.Opaque() && !o.Full, o)...)
	}
	return out
}

// diffLine returns a line of a text diff with its sign in the first column.
func diffLine(l textdiff.Line) string {
	switch l.Kind {
	case textdiff.Added:
		return "+ " + l.Text
	case textdiff.Removed:
		return "- " + l.Text
	case textdiff.Heading:
		return "@@ " + strings.TrimSpace(l.Text) + " @@"
	}
	return "  " + l.Text
}

// values returns the lines of a field that does not have multi-line text on both sides.
func values(f report.Field, path string, opaque bool, o Options) []string {
	before, after := "- ", "+ "
	if f.Sign == report.Given {
		before, after = "  ", "  "
	}
	switch {
	case f.Sensitive && f.Sign == report.Change:
		return []string{suffixed("- "+path+": "+report.Masked, f.Note), "+ " + path + ": " + report.Masked}
	case f.Sensitive && f.Sign == report.Remove:
		return []string{suffixed(before+path+": "+report.Masked, f.Note)}
	case f.Sensitive:
		return []string{suffixed(after+path+": "+report.Masked, f.Note)}
	case f.Before == nil && f.After == nil:
		return []string{suffixed(after+path+": "+report.Unknown, f.Note)}
	}
	var out []string
	if f.Before != nil {
		out = side(before, path, f.Before, opaque, o)
	}
	if f.After != nil {
		out = append(out, side(after, path, f.After, opaque, o)...)
	}
	out[0] = suffixed(out[0], f.Note)
	return out
}

// Without Full, maxValue limits the bytes of a value, and maxLines its lines.
const (
	maxValue = 1000
	maxLines = 60
)

// side returns one value of a field. A short value is on the line of the path.
func side(sign, path string, v any, opaque bool, o Options) []string {
	line := report.Value(v)
	var lines []string
	switch {
	case report.SeveralLines(v):
		lines = strings.Split(strings.TrimSuffix(v.(string), "\n"), "\n")
	case len(line) > factWidth && !opaque:
		lines = report.Structure(v)
	}
	if lines == nil {
		if len(line) > maxValue && !o.Full {
			line = words.Shorter(fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(line[:maxValue], ""), len(line)), line)
		}
		return []string{sign + path + ": " + line}
	}
	if len(lines) > maxLines && !o.Full {
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf("… (%d more lines)", len(lines)-maxLines))
	}
	out := []string{sign + path + ":"}
	for _, l := range lines {
		out = append(out, sign+"  "+l)
	}
	return out
}

// suffixed appends a remark to a line.
func suffixed(line, note string) string {
	if note == "" {
		return line
	}
	return line + "   " + note
}

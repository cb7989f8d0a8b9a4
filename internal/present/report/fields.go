package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/present/content"
	"kolla.openstack.org/kolla/internal/present/listdiff"
	"kolla.openstack.org/kolla/internal/present/textdiff"
	"kolla.openstack.org/kolla/planner/plans"
)

// Texts that replace values.
const (
	Masked  = plans.Masked
	Unknown = plans.Unknown
)

// Literal is a value in words, such as a rule of a role. It is not quoted.
type Literal string

// objectOf returns the object of an action with some of its changes. note may be nil.
func objectOf(a *plans.Action, changes []plans.Change, note func(plans.Change) string) *Object {
	o := &Object{Address: a.Address, changes: changes, note: note, fresh: creates(a)}
	if a.Object != nil {
		o.Family = a.Object.Family.Name
	}
	return o
}

// Prefix returns the common beginning of most paths of a workload. A renderer may leave it out.
func (o *Object) Prefix() string {
	switch o.Address.Kind {
	case "Deployment", "StatefulSet", "DaemonSet", "Job":
		return "spec.template.spec."
	}
	return ""
}

// Opaque reports whether long values of the object, such as a schema, are not readable.
func (o *Object) Opaque() bool { return o.Address.Kind == "CustomResourceDefinition" }

// Fields returns the changes of the object.
func (o *Object) Fields() []Field {
	var out []Field
	for _, c := range o.changes {
		if c.Sensitive || c.Text || o.whole {
			out = append(out, o.field(c))
		} else {
			out = append(out, o.member(c))
		}
	}
	return out
}

// field returns a change without parts.
func (o *Object) field(c plans.Change) Field {
	f := Field{Path: c.Path, Before: c.Before, After: c.After, Sensitive: c.Sensitive, Lines: hasLines(c), Sign: o.signOf(c)}
	if c.Text {
		f.File = fileName(c.Path)
	}
	if o.note != nil {
		f.Note = o.note(c)
	}
	return f
}

// signOf returns the sign of a change.
func (o *Object) signOf(c plans.Change) Sign {
	switch {
	case o.given:
		return Given
	case c.Before != nil && c.After != nil:
		return Change
	case c.Before != nil:
		return Remove
	case c.After == nil && !o.fresh: // sensitive, or not yet known
		return Change
	default:
		return Add
	}
}

// member returns a change of a value with its parts: the fields of a structure, or the elements
// of a list.
func (o *Object) member(c plans.Change) Field {
	if before, after := parsed(c.Before), parsed(c.After); strings.Contains(c.Path, ".env[") &&
		(before != nil || c.Before == nil) && (after != nil || c.After == nil) && !reflect.DeepEqual(before, after) {
		c.Before, c.After = before, after
	}
	b, a := ruleText(c.Before), ruleText(c.After)
	if (c.Before == nil || b != nil) && (c.After == nil || a != nil) && b != a {
		c.Before, c.After = b, a
		return o.field(c)
	}
	before, was := c.Before.(map[string]any)
	after, is := c.After.(map[string]any)
	if !was || !is {
		return o.element(c)
	}
	out := o.field(c)
	out.Parts = []Field{}
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if reflect.DeepEqual(before[key], after[key]) {
			continue
		}
		part := c
		part.Path, part.Before, part.After = c.Path+step(key), before[key], after[key]
		out.Parts = append(out.Parts, o.member(part))
	}
	return out
}

// element returns a change of a list whose elements have no keys, with a part for each element. If
// only the order of the list changes, it has no parts.
func (o *Object) element(c plans.Change) Field {
	before, was := c.Before.([]any)
	after, is := c.After.([]any)
	switch {
	case !was && c.Before != nil || !is && c.After != nil, !was && !is, permuted(before, after):
		return o.field(c)
	case (!was || !is) && !rules(before) && !rules(after):
		return o.field(c) // a renderer shows each element on a line anyway
	}
	out := o.field(c)
	out.Split = true
	for _, p := range listdiff.Of(before, after) {
		if p.Before != listdiff.None && p.After != listdiff.None && reflect.DeepEqual(before[p.Before], after[p.After]) {
			continue
		}
		part := c
		part.Before, part.After = nil, nil
		at := p.Before
		if p.Before != listdiff.None {
			part.Before = orNull(before[p.Before])
		}
		if p.After != listdiff.None {
			part.After, at = orNull(after[p.After]), p.After
		}
		part.Path = fmt.Sprintf("%s[%d]", c.Path, at)
		out.Parts = append(out.Parts, o.member(part))
	}
	return out
}

// orNull distinguishes null from a missing value.
func orNull(v any) any {
	if v == nil {
		return Literal("null")
	}
	return v
}

// plainName matches a name that needs no quotes in a path.
var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

// step returns the part of a path that leads to a field.
func step(key string) string {
	if plainName.MatchString(key) {
		return "." + key
	}
	return "[" + strconv.Quote(key) + "]"
}

// rules reports whether a list contains rules of a role only.
func rules(list []any) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return ruleText(v) == nil })
}

// parsed returns the structure that a text contains as JSON; nil for any other value.
func parsed(v any) any {
	text, ok := v.(string)
	if !ok || !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return nil
	}
	var out any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // large numbers stay as they are
	if err := decoder.Decode(&out); err != nil || decoder.More() {
		return nil
	}
	return out
}

// ruleText returns a rule of a role in words; nil for any other value.
func ruleText(v any) any {
	rule, ok := v.(map[string]any)
	if !ok || !content.IsRule(rule) {
		return nil
	}
	return Literal(content.Rule(rule))
}

// permuted reports whether two lists have the same elements in another order.
func permuted(before, after []any) bool {
	if len(before) != len(after) || len(before) == 0 {
		return false
	}
	sorted := func(list []any) []string {
		var out []string
		for _, v := range list {
			out = append(out, Value(v))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(sorted(before), sorted(after))
}

// Divide replaces fields by their parts: lists always, structures if their values are longer
// than room.
func Divide(all []Field, room int) []Field {
	var out []Field
	for _, f := range all {
		if f.Split || f.Parts != nil && len(Value(f.Before))+len(Value(f.After)) > room {
			out = append(out, Divide(f.Parts, room)...)
		} else {
			out = append(out, f)
		}
	}
	return out
}

// Structure returns a map or a list as lines of YAML; nil for other values.
func Structure(v any) []string {
	switch v.(type) {
	case map[string]any, []any:
	default:
		return nil
	}
	content, err := yaml.Marshal(v)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

// Value returns a value as JSON on one line, or a Literal.
func Value(v any) string {
	if literal, ok := v.(Literal); ok {
		return string(literal)
	}
	return content.Quoted(v)
}

// Diff compares the lines of a field that has Lines.
func (f Field) Diff() []textdiff.Line {
	before, _ := f.Before.(string)
	after, _ := f.After.(string)
	return textdiff.Of(before, after)
}

// hasLines reports whether a change is shown line by line. A one-line file is shown like any other
// value.
func hasLines(c plans.Change) bool {
	switch {
	case c.Sensitive:
		return false
	case c.Text:
		return SeveralLines(c.Before) || SeveralLines(c.After)
	default:
		return SeveralLines(c.Before) && SeveralLines(c.After)
	}
}

// SeveralLines reports whether a value is a text of several lines.
func SeveralLines(v any) bool {
	s, ok := v.(string)
	return ok && strings.Contains(strings.TrimSuffix(s, "\n"), "\n")
}

// fileName returns the key of an entry of data: "keystone.conf" for `data["keystone.conf"]`.
func fileName(path string) string {
	name, ok := strings.CutPrefix(path, `data["`)
	if name, closed := strings.CutSuffix(name, `"]`); ok && closed {
		return name
	}
	return path
}

// FileName returns the name of the file that the field contains.
func (f Field) FileName() string { return fileName(f.Path) }

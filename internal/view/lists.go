package view

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/internal/content"
	"kolla.openstack.org/kolla/internal/listdiff"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/planner/plans"
)

// literal is text that is shown as it is in the place of a value.
type literal string

// elements replaces changes of lists whose elements have no keys by the changes of their
// elements, so that each has a line of its own. Lists of which only the order changes
// stay whole.
func (f fields) elements(changes []plans.Change) []plans.Change {
	var out []plans.Change
	for _, c := range changes {
		if c.Sensitive || c.Text {
			out = append(out, c)
		} else {
			out = append(out, f.member(c)...)
		}
	}
	return out
}

func (f fields) element(c plans.Change) []plans.Change {
	before, was := c.Before.([]any)
	after, is := c.After.([]any)
	switch {
	case !was && c.Before != nil || !is && c.After != nil, !was && !is, permuted(before, after):
		return []plans.Change{c}
	case (!was || !is) && !rules(before) && !rules(after):
		return []plans.Change{c} // its elements are on lines of their own as they are
	}
	var out []plans.Change
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
		out = append(out, f.member(part)...)
	}
	return out
}

// orNull is a value that is there: nil stands for none.
func orNull(v any) any {
	if v == nil {
		return literal("null")
	}
	return v
}

// member is what changes at a path: in a structure that has no room on a line, each
// field.
func (f fields) member(c plans.Change) []plans.Change {
	b, a := ruleText(c.Before), ruleText(c.After)
	if (c.Before == nil || b != nil) && (c.After == nil || a != nil) && b != a {
		c.Before, c.After = b, a
		return []plans.Change{c}
	}
	before, was := c.Before.(map[string]any)
	after, is := c.After.(map[string]any)
	if !was || !is || f.values(c, f.width-bodyIndent-2-screen.Columns(f.path(c))-3) != nil {
		return f.element(c)
	}
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	var out []plans.Change
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if reflect.DeepEqual(before[key], after[key]) {
			continue
		}
		part := c
		part.Path, part.Before, part.After = c.Path+step(key), before[key], after[key]
		out = append(out, f.member(part)...)
	}
	return out
}

// name matches what needs no quotes in a path.
var name = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

// step is the part of a path that leads to a field.
func step(key string) string {
	if name.MatchString(key) {
		return "." + key
	}
	return "[" + strconv.Quote(key) + "]"
}

// rules reports whether a list is of rules of a role.
func rules(list []any) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return ruleText(v) == nil })
}

// ruleText is a rule of a role as people write it; nil for all that is none.
func ruleText(v any) any {
	rule, ok := v.(map[string]any)
	if !ok || !content.IsRule(rule) {
		return nil
	}
	return literal(content.Rule(rule))
}

// permuted reports whether two lists have the same elements in another order.
func permuted(before, after []any) bool {
	if len(before) != len(after) || len(before) == 0 {
		return false
	}
	sorted := func(list []any) []string {
		var out []string
		for _, v := range list {
			out = append(out, formatValue(v))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(sorted(before), sorted(after))
}

// mostValue is how many characters of a value are shown unless all is asked for.
const mostValue = 1000

// unreadable matches what says nothing to people: keys, certificates, checksums.
var unreadable = regexp.MustCompile(`^[A-Za-z0-9+/=_"…-]{200,}$`)

// long breaks a long value into lines that begin at the given column; n is how long the
// value is. What people can read is shown whole, up to what fills the screen.
func (f fields) long(s string, n, column int) []string {
	width := max(f.width-column, 40)
	switch {
	case f.full:
	case unreadable.MatchString(s):
		s = shorten(s, n, width)
	case len([]rune(s)) > mostValue:
		s = middle([]rune(s), mostValue, fmt.Sprintf("…(%d characters; -full shows all)…", n))
	}
	return wrapWords(s, width)
}

// fewLines is how many lines each of two texts may take before kolla shows only the
// differences.
const fewLines = 3

// pair shows two long values, each on separate lines. It shows only the differences of two
// texts, with some text around them, and shows lists whole.
func (f fields) pair(c plans.Change, column int) (before, after []string) {
	b, a := formatValue(c.Before), formatValue(c.After)
	m, n := length(c.Before), length(c.After)
	_, texts := c.Before.(string)
	fit := max(screen.Columns(b), screen.Columns(a)) <= fewLines*(f.width-column)
	if _, both := c.After.(string); !fit && texts && both {
		was, is := windows(b, a)
		if was != b || is != a {
			b, a = was+size(m), is+size(n)
		}
	}
	return f.long(b, m, column), f.long(a, n, column)
}

// windows are two texts without most of what they begin and end with in common.
func windows(before, after string) (string, string) {
	b, a := []rune(before), []rune(after)
	prefix, suffix := common(b, a)
	return window(b, prefix, suffix), window(a, prefix, suffix)
}

// whole shows a structure or a text of several lines as it is, where it was added or
// removed; nil for a value that fits into a line.
func (f fields) whole(v any) []string {
	if severalLines(v) {
		return strings.Split(strings.TrimSuffix(v.(string), "\n"), "\n")
	}
	// A schema says nothing to a reader of a plan.
	return block(v, f.full || f.kind != "CustomResourceDefinition")
}

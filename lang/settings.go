package lang

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// layer is one map of values that is merged with others.
type layer struct {
	name string
	expr hcl.Expression
	eval *evaluator
	// ready are the values of a layer that is no expression.
	ready []leaf
	// only are the first names that count of it; nil: all do.
	only []string
}

// values are the layer's, taken apart.
func (l *layer) values(depth int) []leaf {
	out := l.ready
	if l.expr != nil {
		out = l.eval.memo.leavesOf(l.expr, depth)
	}
	if l.only == nil {
		return out
	}
	return slices.DeleteFunc(slices.Clone(out), func(x leaf) bool { return !l.counts(x.path) })
}

// counts reports whether a value of the layer counts, as far as its path is known.
func (l *layer) counts(path []string) bool {
	return l.only == nil || len(path) == 0 || slices.Contains(l.only, path[0])
}

// leaf is one value in a layer, as far as it can be seen without evaluating
// anything: in { token = { expiration = 1 } } it is token, expiration. Where a map
// is not written out, the path ends there, and expr is the map.
type leaf struct {
	path  []string
	names []hcl.Range // where the path is written
	key   string      // the path, joined
	expr  hcl.Expression
	layer *layer
}

func newLeaf(path []string, names []hcl.Range, expr hcl.Expression) leaf {
	return leaf{path: path, names: names, key: joined(path), expr: expr}
}

// nameRange is where the name of what is set is written; where it is not, the value is.
func (x leaf) nameRange() hcl.Range {
	if len(x.names) == len(x.path) && len(x.names) > 0 {
		return x.names[len(x.names)-1]
	}
	return x.expr.Range()
}

// settings are maps of values, merged key by key. What a stronger layer
// overrides is dropped before anything is evaluated: it is then not needed, nor is
// what it refers to.
type settings struct {
	depth  int // of the maps: 2 where there are sections, anyDepth, or else 1
	leaves []leaf
	// removals are the nulls of the service's layer.
	removals []*removal
	keys     []string // last names of the weaker layers' leaves
	// replaced are the references that values of a definition make, and that
	// stronger layers take the place of, by path.
	replaced map[string]hcl.Traversal
	layers   []*layer
	partial  bool   // some keys are not known
	hidden   []leaf // that stronger layers take the place of, the strongest first
}

// removal is a null that takes a value of a weaker layer away.
type removal struct {
	leaf
	effect bool // there is, or may be, something to take away
}

// merge puts layers over each other, the weakest first.
func merge(depth int, layers []*layer) *settings {
	s := &settings{depth: depth, replaced: map[string]hcl.Traversal{}, layers: layers}
	stronger := map[string]bool{}
	for i, l := range slices.Backward(layers) {
		values := l.values(depth)
		kept := make([]leaf, 0, len(values)+len(s.leaves))
		for _, x := range values {
			x.layer = l
			s.note(x)
			if x.overridden(stronger) {
				s.noteReplaced(x)
				s.hidden = append(s.hidden, x)
				continue
			}
			kept = append(kept, x)
		}
		if i > 0 { // there are weaker ones
			for _, x := range kept {
				if len(x.path) == depth || isNullLiteral(x.expr) {
					stronger[x.key] = true
				}
			}
		}
		s.leaves = append(kept, s.leaves...)
	}
	return s
}

// noteReplaced remembers what the value of a definition referred to.
func (s *settings) noteReplaced(x leaf) {
	for _, t := range x.expr.Variables() {
		if root := t.RootName(); x.layer.name == configs.LayerDefinition && (root == "service" || root == "database" || root == "queue") {
			s.replaced[x.key] = t
		}
	}
}

// note keeps book of what is removed, and of what there is to remove.
func (s *settings) note(x leaf) {
	if x.layer.name == configs.LayerService {
		if isNullLiteral(x.expr) {
			s.removals = append(s.removals, &removal{leaf: x})
		}
		return
	}
	if len(s.removals) == 0 {
		return
	}
	if len(x.path) > 0 {
		s.keys = append(s.keys, x.path[len(x.path)-1])
	}
	for _, r := range s.removals {
		short := min(len(r.path), len(x.path))
		if slices.Equal(r.path[:short], x.path[:short]) && (short == len(r.path) || len(x.path) < s.depth) {
			r.effect = true
		}
	}
}

// joined makes a map key of a path.
func joined(path []string) string { return strings.Join(path, "\x00") }

// overridden reports whether the leaf, or a map that it is in, is set by a stronger
// layer.
func (x leaf) overridden(stronger map[string]bool) bool {
	end := 0
	for i, name := range x.path {
		if i > 0 {
			end++ // what joins them
		}
		end += len(name)
		if stronger[x.key[:end]] {
			return true
		}
	}
	return false
}

// leavesOf takes a map apart that is written out, down to depth.
func (m *memo) leavesOf(expr hcl.Expression, depth int) []leaf {
	key := nested{expr, depth}
	found, ok := m.leaves[key]
	if !ok {
		found = leaves(expr, depth, nil, nil)
		m.leaves[key] = found
	}
	return found
}

func leaves(expr hcl.Expression, depth int, path []string, names []hcl.Range) []leaf {
	items, ok := itemsOf(expr)
	if !ok || len(path) == depth || depth == anyDepth && len(items) == 0 && len(path) > 0 {
		return []leaf{newLeaf(path, names, expr)}
	}
	var out []leaf
	for _, item := range items {
		key, ok := values.StaticKey(item.KeyExpr)
		if !ok {
			return []leaf{newLeaf(path, names, expr)}
		}
		out = append(out, leaves(item.ValueExpr, depth, append(slices.Clip(path), key), append(slices.Clip(names), item.KeyExpr.Range()))...)
	}
	return out
}

// itemsOf are the entries of a map that is written out.
func itemsOf(expr hcl.Expression) ([]hclsyntax.ObjectConsItem, bool) {
	switch expr := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		return itemsOf(expr.Expression)
	case *hclsyntax.ObjectConsExpr:
		return expr.Items, true
	case *iterated:
		items, ok := itemsOf(expr.Expression)
		var out []hclsyntax.ObjectConsItem
		for _, item := range items {
			out = append(out, hclsyntax.ObjectConsItem{KeyExpr: expr.around(item.KeyExpr), ValueExpr: expr.around(item.ValueExpr)})
		}
		return out, ok
	}
	return nil, false
}

// edges are what the values refer to.
func (s *settings) edges() []edge {
	var out []edge
	for _, x := range s.leaves {
		out = append(out, x.layer.eval.reach.edges(x.expr)...)
	}
	return out
}

// entry is one merged value.
type entry struct {
	path   []string
	value  cty.Value
	eval   *evaluator
	origin configs.Origin
	// overrides are the values that were evaluated and then overridden.
	overrides []configs.Override
	key       string // the path, joined
}

// entries evaluates and merges. They are sorted by path.
func (s *settings) entries() []*entry {
	type place struct {
		layer *layer
		key   string
	}
	merged := make(map[string]*entry, len(s.leaves))
	written := make(map[place]leaf, len(s.leaves))
	for _, x := range s.leaves {
		at := place{x.layer, x.key}
		if first, twice := written[at]; twice && len(x.path) == s.depth {
			x.layer.eval.report.Error(x.nameRange(), fmt.Sprintf("Second value for %q", x.path[len(x.path)-1]), "The first is at %s.", diag.Position(first.nameRange()))
			continue
		}
		written[at] = x
		s.set(merged, x, x.path, x.layer.eval.value(x.expr))
	}
	s.checkRemovals()
	out := slices.AppendSeq(make([]*entry, 0, len(merged)), maps.Values(merged))
	slices.SortFunc(out, func(a, b *entry) int { return slices.Compare(a.path, b.path) })
	return out
}

// set puts one evaluated value, or map of values, over what is there.
func (s *settings) set(merged map[string]*entry, x leaf, path []string, value cty.Value) {
	switch {
	case !x.layer.counts(path):
		return
	case value.IsNull():
		maps.DeleteFunc(merged, func(_ string, e *entry) bool {
			return len(path) <= len(e.path) && slices.Equal(path, e.path[:len(path)])
		})
	case len(path) == s.depth:
		if x.layer.name == configs.LayerCloud && s.depth == 1 && values.IsMap(value) {
			return // a section, meant for other files
		}
		key := x.key
		if len(path) != len(x.path) {
			key = joined(path)
		}
		merged[key] = &entry{path, value, x.layer.eval, x.origin(s.depth), merged[key].over(), key}
	case !value.IsKnown():
		s.partial = true
		x.layer.eval.undecided(value, x.expr.Range(), "which keys there are")
	case values.IsMap(value) && value.HasMark(mark.Sensitive{}):
		s.partial = true
		x.layer.eval.report.Error(x.expr.Range(), "A secret would be shown",
			"The map as a whole is sensitive, and its keys would be names in the file. Write the keys out, and let only the values come from the sensitive variable.")
	case s.depth == anyDepth && len(path) > 0 && (!values.IsMap(value) || value.LengthInt() == 0):
		s.place(merged, x, path, value)
	case values.IsMap(value):
		for _, m := range mark.Members(value) {
			s.set(merged, x, append(slices.Clip(path), m.Key), m.Value)
		}
	case x.layer.name == configs.LayerCloud && len(path) == 1:
		return // not in a section, meant for other files
	case len(path) == 0:
		s.partial = true
		x.layer.eval.report.Error(x.expr.Range(), "Unsuitable config values", "They must be a map, and this is %s.", values.KindOf(value))
	default:
		s.partial = true
		x.layer.eval.report.Error(x.expr.Range(), "Section expected", "The file has sections: write { SECTION = { KEY = VALUE } }. %q is %s.", path[0], values.KindOf(value))
	}
}

// checkRemovals warns of nulls that remove nothing: a name is probably misspelled.
func (s *settings) checkRemovals() {
	for _, r := range s.removals {
		if !r.effect && len(r.path) > 0 {
			name := r.path[len(r.path)-1]
			r.layer.eval.report.Warn(r.nameRange(), "Nothing to remove", "%s",
				words.WithHint(words.DidYouMean(name, s.keys), fmt.Sprintf("null takes a value away, but nothing sets %q.", strings.Join(r.path, "."))))
		}
	}
}

// valuesOf gives the values of an option: one, or for a list of lists one for
// each repetition of the key.
func (e *evaluator) valuesOf(v cty.Value, at hcl.Range) []configs.Text {
	if values.IsList(v) && v.IsKnown() && !v.IsNull() {
		if items := mark.Elements(v); repeated(items) {
			var out []configs.Text
			for _, item := range items {
				out = append(out, e.line(item, at))
			}
			return out
		}
	}
	return []configs.Text{e.line(v, at)}
}

// repeated reports whether the elements of a list are lists, as far as they are known.
func repeated(items []cty.Value) bool {
	return slices.ContainsFunc(items, values.IsList) &&
		!slices.ContainsFunc(items, func(v cty.Value) bool { return v.IsKnown() && !values.IsList(v) })
}

// line is the text of one value. The elements of a list are joined by commas.
func (e *evaluator) line(v cty.Value, at hcl.Range) configs.Text {
	if !v.IsWhollyKnown() && !mark.IsDeferred(v) {
		return nil
	}
	if !values.IsList(v) || v.IsNull() || !v.IsKnown() {
		return e.singleLine(v, at)
	}
	var items []configs.Text
	for _, item := range mark.Elements(v) {
		items = append(items, e.singleLine(item, at))
	}
	return configs.Join(items, ",")
}

func (e *evaluator) singleLine(v cty.Value, at hcl.Range) configs.Text {
	text, err := values.TextOf(v)
	if err != nil {
		e.report.Error(at, "Unsuitable config value", "%s. A list of them is joined by commas, and a list of lists repeats the key.", words.Sentence(err))
		return nil
	}
	if severalLines(text) {
		e.report.Error(at, "Unsuitable config value", "A key or a certificate has several lines. Mount the secret (mount \"NAME\"), and name its file here.")
		return nil
	}
	for _, p := range text {
		if strings.ContainsAny(p.Literal, "\r\n") {
			e.report.Error(at, "Unsuitable config value", "It must be one line. chomp() takes the line break at the end of a heredoc away.")
			return nil
		}
	}
	return text
}

// options are the entries of an INI or properties file.
func (s *settings) options() []configs.Option {
	entries := s.entries()
	out := make([]configs.Option, 0, len(entries))
	for _, x := range entries {
		o := configs.Option{Key: x.path[len(x.path)-1], Origin: x.origin, Overrides: s.overridden(x)}
		if s.depth == 2 {
			o.Section = x.path[0]
		}
		if !x.eval.checkOptionName(o, s.depth == 2) {
			s.partial = true
			continue
		}
		if x.origin.Layer == configs.LayerDirectory {
			o.Values = verbatim(x.value)
		} else {
			o.Values = x.eval.valuesOf(x.value, x.origin.Range)
		}
		x.eval.checkPlain(o.Key, o.Values, x.origin.Range)
		if t := s.replaced[x.key]; t != nil {
			x.eval.checkHost(o, t)
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b configs.Option) int {
		return cmp.Or(
			sectionRank(a.Section)-sectionRank(b.Section),
			cmp.Compare(a.Section, b.Section),
			cmp.Compare(a.Key, b.Key),
		)
	})
	return out
}

// checkOptionName reports names that would make another file than was meant.
func (e *evaluator) checkOptionName(o configs.Option, sections bool) bool {
	switch {
	case o.Key == "" || strings.TrimSpace(o.Key) != o.Key || strings.ContainsAny(o.Key, "=\r\n") || strings.ContainsAny(o.Key[:1], "#;["):
		e.report.Error(o.Origin.KeyRange(), "Unsuitable name of a config value", "%q cannot be a key: it may not be empty, hold = or a line break, have spaces round it, or start with #, ; or [.", o.Key)
	case sections && (o.Section == "" || strings.ContainsAny(o.Section, "[]\r\n")):
		e.report.Error(o.Origin.SectionRange(), "Unsuitable name of a section", "%q cannot be a section: it may not be empty, or hold brackets or a line break.", o.Section)
	default:
		return true
	}
	return false
}

func sectionRank(section string) int {
	if section == "DEFAULT" {
		return 0
	}
	return 1
}

// environment are the entries as environment variables.
func (s *settings) environment() []configs.Env {
	var out []configs.Env
	for _, x := range s.entries() {
		name := x.path[0]
		if name == "" || strings.ContainsAny(name, "=\x00 \t\r\n") {
			x.eval.report.Error(x.origin.KeyRange(), "Unsuitable name of an environment variable", "%q cannot be the name of one.", name)
			continue
		}
		if !x.value.IsKnown() && !mark.IsDeferred(x.value) {
			continue
		}
		value := x.eval.textOf(x.value, x.origin.Range)
		x.eval.checkPlain(name, []configs.Text{value}, x.origin.Range)
		if fields := value.Fields(); len(fields) > 0 && value.Secret() {
			x.eval.report.Error(x.origin.Range, "Two sources of one variable", "The value is made of a secret and of %s, and Kubernetes takes a variable from one of the two. Make two variables, and let the command in the pod join them.", fields[0])
			continue
		}
		out = append(out, configs.Env{Name: name, Value: value, Range: x.origin.Range})
	}
	return out
}

package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// Layer is one map of values that is merged with others.
type Layer struct {
	Name string
	Home *source.Module // of an expression in another module than that of the definition
	Expr hcl.Expression
	// Ready are the values of a layer without an expression.
	Ready []Leaf
	// Only limits the layer to paths with these first names. Nil means all.
	Only []string
}

// values returns the leaves of the layer.
func (l *Layer) values(read LeafMemo, depth int) []Leaf {
	out := l.Ready
	if l.Expr != nil {
		out = read.leavesOf(l.Expr, depth)
	}
	if l.Only == nil {
		return out
	}
	return slices.DeleteFunc(slices.Clone(out), func(x Leaf) bool { return !l.counts(x.Path) })
}

// counts reports whether Only allows a value of the layer, as far as its path is known.
func (l *Layer) counts(path []string) bool {
	return l.Only == nil || len(path) == 0 || slices.Contains(l.Only, path[0])
}

// Leaf is one value in a layer, found without evaluation. In { token = { expiration = 1 } }
// its path is token, expiration. If a map is not literal, the path ends there, and expr is the
// map.
type Leaf struct {
	Path  []string
	names []hcl.Range // the places of the path's names
	key   string      // the path, joined
	Expr  hcl.Expression
	Layer *Layer
}

func newLeaf(path []string, names []hcl.Range, expr hcl.Expression) Leaf {
	return Leaf{Path: path, names: names, key: joined(path), Expr: expr}
}

// nameRange returns the place of the name of the value, or of the value if the name is not literal.
func (x Leaf) nameRange() hcl.Range {
	if len(x.names) == len(x.Path) && len(x.names) > 0 {
		return x.names[len(x.names)-1]
	}
	return x.Expr.Range()
}

// Merged are maps of values, merged key by key. Overridden values are dropped before the
// evaluation, so their references are not dependencies. The evaluation leaves them as they are.
type Merged struct {
	depth  int // of the maps: AnyDepth, 2 with sections, or 1
	Leaves []Leaf
	// removals are the nulls of the service's layer.
	removals []*removal
	keys     []string // last names of the weaker layers' leaves
	// replaced maps a path to the references in the definition's value that a stronger layer
	// overrides.
	replaced map[string]hcl.Traversal
	layers   []*Layer
	hidden   []Leaf // overridden by stronger layers, the strongest first
}

// removal is a null that removes a value of a weaker layer.
type removal struct {
	at     Leaf
	effect bool // there is, or may be, a value to remove
}

// Merge merges layers, the weakest first.
func Merge(read LeafMemo, depth int, all []*Layer) *Merged {
	s := &Merged{depth: depth, replaced: map[string]hcl.Traversal{}, layers: all}
	stronger := map[string]bool{}
	for i, l := range slices.Backward(all) {
		values := l.values(read, depth)
		kept := make([]Leaf, 0, len(values)+len(s.Leaves))
		for _, x := range values {
			x.Layer = l
			s.note(x)
			if x.overridden(stronger) {
				s.noteReplaced(x)
				s.hidden = append(s.hidden, x)
				continue
			}
			kept = append(kept, x)
		}
		if i > 0 { // there are weaker layers
			for _, x := range kept {
				if (len(x.Path) == depth || layers.IsNullLiteral(x.Expr)) && !x.isSection(depth) {
					stronger[x.key] = true
				}
			}
		}
		s.Leaves = append(kept, s.Leaves...)
	}
	return s
}

// noteReplaced records the references of a definition's value.
func (s *Merged) noteReplaced(x Leaf) {
	for _, t := range x.Expr.Variables() {
		if root := t.RootName(); x.Layer.Name == configs.LayerDefinition && (root == "service" || root == "database" || root == "queue") {
			s.replaced[x.key] = t
		}
	}
}

// note records the removals, and the values that they can remove.
func (s *Merged) note(x Leaf) {
	if x.Layer.Name == configs.LayerService {
		if layers.IsNullLiteral(x.Expr) {
			s.removals = append(s.removals, &removal{at: x})
		}
		return
	}
	if len(s.removals) == 0 {
		return
	}
	if len(x.Path) > 0 {
		s.keys = append(s.keys, x.Path[len(x.Path)-1])
	}
	for _, r := range s.removals {
		short := min(len(r.at.Path), len(x.Path))
		if slices.Equal(r.at.Path[:short], x.Path[:short]) && (short == len(r.at.Path) || len(x.Path) < s.depth) {
			r.effect = true
		}
	}
}

// joined makes a map key of a path.
func joined(path []string) string { return strings.Join(path, "\x00") }

// isSection reports whether the cloud's defaults have a section where a file without sections
// has a value. The section is meant for other files.
func (x Leaf) isSection(depth int) bool {
	_, section := layers.WrittenItems(x.Expr)
	return section && depth == 1 && x.Layer.Name == configs.LayerCloud
}

// overridden reports whether a stronger layer sets the leaf or a map around it.
func (x Leaf) overridden(stronger map[string]bool) bool {
	end := 0
	for i, name := range x.Path {
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

// leavesOf splits a literal map into its leaves, down to depth.
func (m LeafMemo) leavesOf(expr hcl.Expression, depth int) []Leaf {
	key := nested{expr, depth}
	found, ok := m[key]
	if !ok {
		found = leaves(expr, depth, nil, nil)
		m[key] = found
	}
	return found
}

func leaves(expr hcl.Expression, depth int, path []string, names []hcl.Range) []Leaf {
	items, ok := layers.WrittenItems(expr)
	if !ok || len(path) == depth || depth == AnyDepth && len(items) == 0 && len(path) > 0 {
		return []Leaf{newLeaf(path, names, expr)}
	}
	var out []Leaf
	for _, item := range items {
		key, ok := values.StaticKey(item.KeyExpr)
		if !ok {
			return []Leaf{newLeaf(path, names, expr)}
		}
		out = append(out, leaves(item.ValueExpr, depth, append(slices.Clip(path), key), append(slices.Clip(names), item.KeyExpr.Range()))...)
	}
	return out
}

// Entry is one merged value.
type Entry struct {
	Path   []string
	Value  cty.Value
	eval   *eval.Env
	origin configs.Origin
	// overrides are the values that were evaluated and then overridden.
	overrides []configs.Override
	key       string // the path, joined
}

// evaluation is the evaluation of merged maps.
type evaluation struct {
	depth   int
	env     *eval.Env // of the definition
	entries map[string]*Entry
	partial bool // some keys are not known
}

// Entries evaluates and merges in the environment of the definition. The entries are sorted by
// path. Partial: some keys are not known.
func (s *Merged) Entries(e *eval.Env) (out []*Entry, partial bool) {
	type place struct {
		layer *Layer
		key   string
	}
	v := &evaluation{depth: s.depth, env: e, entries: make(map[string]*Entry, len(s.Leaves))}
	written := make(map[place]Leaf, len(s.Leaves))
	for _, x := range s.Leaves {
		at := place{x.Layer, x.key}
		if first, twice := written[at]; twice && len(x.Path) == s.depth {
			e.Report.Error(x.nameRange(), fmt.Sprintf("Second value for %q", x.Path[len(x.Path)-1]), "The first is at %s.", diag.Position(first.nameRange()))
			continue
		}
		written[at] = x
		v.set(x, x.Path, e.Of(x.Layer.Name, x.Layer.Home).Value(x.Expr))
	}
	s.checkRemovals(e.Report)
	out = slices.AppendSeq(make([]*Entry, 0, len(v.entries)), maps.Values(v.entries))
	slices.SortFunc(out, func(a, b *Entry) int { return slices.Compare(a.Path, b.Path) })
	return out, v.partial
}

// Object evaluates and merges, as Entries does. The result is an object with objects in it.
func (s *Merged) Object(e *eval.Env) (object cty.Value, partial bool) {
	root := map[string]any{}
	entries, partial := s.Entries(e)
	for _, x := range entries {
		within := root
		for _, name := range x.Path[:len(x.Path)-1] {
			inner, ok := within[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				within[name] = inner
			}
			within = inner
		}
		within[x.Path[len(x.Path)-1]] = x.Value
	}
	return objectOf(root), partial
}

// objectOf returns a tree of values as one value.
func objectOf(tree map[string]any) cty.Value {
	values := map[string]cty.Value{}
	for name, v := range tree {
		if inner, ok := v.(map[string]any); ok {
			values[name] = objectOf(inner)
		} else {
			values[name], _ = v.(cty.Value)
		}
	}
	return cty.ObjectVal(values)
}

// set overrides with one evaluated value or map of values.
func (v *evaluation) set(x Leaf, path []string, value cty.Value) {
	e := v.env.Of(x.Layer.Name, x.Layer.Home)
	switch {
	case !x.Layer.counts(path):
		return
	case value.IsNull():
		maps.DeleteFunc(v.entries, func(_ string, weaker *Entry) bool {
			return len(path) <= len(weaker.Path) && slices.Equal(path, weaker.Path[:len(path)])
		})
	case len(path) == v.depth:
		if x.Layer.Name == configs.LayerCloud && v.depth == 1 && values.IsMap(value) {
			return // a section, meant for other files
		}
		key := x.key
		if len(path) != len(x.Path) {
			key = joined(path)
		}
		v.entries[key] = &Entry{path, value, e, x.origin(v.depth), v.entries[key].over(), key}
	case !value.IsKnown():
		v.partial = true
		eval.ReportDeferred(e, value, x.Expr.Range(), "which keys there are")
	case values.IsMap(value) && value.HasMark(mark.Sensitive{}):
		v.partial = true
		e.Report.Error(x.Expr.Range(), "A secret would be shown",
			"The map as a whole is sensitive, and its keys would be names in the file. Write the keys out, and let only the values come from the sensitive variable.")
	case v.depth == AnyDepth && len(path) > 0 && (!values.IsMap(value) || value.LengthInt() == 0):
		v.place(x, path, value)
	case values.IsMap(value):
		for _, m := range mark.Members(value) {
			v.set(x, append(slices.Clip(path), m.Key), m.Value)
		}
	case x.Layer.Name == configs.LayerCloud && len(path) == 1:
		return // not in a section, meant for other files
	case len(path) == 0:
		v.partial = true
		e.Report.Error(x.Expr.Range(), "Unsuitable config values", "They must be a map, and this is %s.", values.KindOf(value))
	default:
		v.partial = true
		e.Report.Error(x.Expr.Range(), "Section expected", "The file has sections: write { SECTION = { KEY = VALUE } }. %q is %s.", path[0], values.KindOf(value))
	}
}

// checkRemovals warns about nulls that remove nothing. Their names are probably misspelled.
func (s *Merged) checkRemovals(report *diag.Reporter) {
	for _, r := range s.removals {
		if !r.effect && len(r.at.Path) > 0 {
			name := r.at.Path[len(r.at.Path)-1]
			report.Warn(r.at.nameRange(), "Nothing to remove", "%s",
				words.WithHint(words.DidYouMean(name, s.keys), fmt.Sprintf("null takes a value away, but nothing sets %q.", strings.Join(r.at.Path, "."))))
		}
	}
}

// optionValues returns the values of an option: one value, or one for each repetition of the
// key if the value is a list of lists.
func optionValues(report *diag.Reporter, v cty.Value, at hcl.Range) []configs.Text {
	if values.IsList(v) && v.IsKnown() && !v.IsNull() {
		if items := mark.Elements(v); repeated(items) {
			var out []configs.Text
			for _, item := range items {
				out = append(out, lineOf(report, item, at))
			}
			return out
		}
	}
	return []configs.Text{lineOf(report, v, at)}
}

// repeated reports whether the elements of a list are lists, as far as they are known.
func repeated(items []cty.Value) bool {
	return slices.ContainsFunc(items, values.IsList) &&
		!slices.ContainsFunc(items, func(v cty.Value) bool { return v.IsKnown() && !values.IsList(v) })
}

// lineOf returns the text of one value. It joins the elements of a list with commas.
func lineOf(report *diag.Reporter, v cty.Value, at hcl.Range) configs.Text {
	if !v.IsWhollyKnown() && !mark.IsDeferred(v) {
		return nil
	}
	if !values.IsList(v) || v.IsNull() || !v.IsKnown() {
		return singleLine(report, v, at)
	}
	var items []configs.Text
	for _, item := range mark.Elements(v) {
		items = append(items, singleLine(report, item, at))
	}
	return configs.Join(items, ",")
}

func singleLine(report *diag.Reporter, v cty.Value, at hcl.Range) configs.Text {
	text, err := values.TextOf(v)
	if err != nil {
		report.Error(at, "Unsuitable config value", "%s. A list of them is joined by commas, and a list of lists repeats the key.", words.Sentence(err))
		return nil
	}
	if values.SeveralLines(text) {
		report.Error(at, "Unsuitable config value", "A key or a certificate has several lines. Mount the secret (mount \"NAME\"), and name its file here.")
		return nil
	}
	for _, p := range text {
		if strings.ContainsAny(p.Literal, "\r\n") {
			report.Error(at, "Unsuitable config value", "It must be one line. chomp() takes the line break at the end of a heredoc away.")
			return nil
		}
	}
	return text
}

// Options returns the entries of an INI or properties file. checkHost receives each option that
// overrides a reference of the definition.
func (s *Merged) Options(e *eval.Env, checkHost func(e *eval.Env, o configs.Option, replaced hcl.Traversal)) (out []configs.Option, partial bool) {
	entries, partial := s.Entries(e)
	out = make([]configs.Option, 0, len(entries))
	for _, x := range entries {
		o := configs.Option{Key: x.Path[len(x.Path)-1], Origin: x.origin, Overrides: s.overridden(x)}
		if s.depth == 2 {
			o.Section = x.Path[0]
		}
		if !checkOptionName(x.eval.Report, o, s.depth == 2) {
			partial = true
			continue
		}
		if x.origin.Layer == configs.LayerDirectory {
			o.Values = verbatim(x.Value)
		} else {
			o.Values = optionValues(x.eval.Report, x.Value, x.origin.Range)
		}
		values.CheckPlain(x.eval.Report, o.Key, o.Values, x.origin.Range)
		if t := s.replaced[x.key]; t != nil {
			checkHost(x.eval, o, t)
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
	return out, partial
}

// checkOptionName reports names that would change the structure of the file.
func checkOptionName(report *diag.Reporter, o configs.Option, sections bool) bool {
	switch {
	case o.Key == "" || strings.TrimSpace(o.Key) != o.Key || strings.ContainsAny(o.Key, "=\r\n") || strings.ContainsAny(o.Key[:1], "#;["):
		report.Error(o.Origin.KeyRange(), "Unsuitable name of a config value", "%q cannot be a key: it may not be empty, hold = or a line break, have spaces round it, or start with #, ; or [.", o.Key)
	case sections && (o.Section == "" || strings.ContainsAny(o.Section, "[]\r\n")):
		report.Error(o.Origin.SectionRange(), "Unsuitable name of a section", "%q cannot be a section: it may not be empty, or hold brackets or a line break.", o.Section)
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

// Environment returns the entries as environment variables.
func (s *Merged) Environment(e *eval.Env) []configs.Env {
	var out []configs.Env
	entries, _ := s.Entries(e)
	for _, x := range entries {
		name := x.Path[0]
		if name == "" || strings.ContainsAny(name, "=\x00 \t\r\n") {
			x.eval.Report.Error(x.origin.KeyRange(), "Unsuitable name of an environment variable", "%q cannot be the name of one.", name)
			continue
		}
		if !x.Value.IsKnown() && !mark.IsDeferred(x.Value) {
			continue
		}
		value := eval.TextOf(x.eval, x.Value, x.origin.Range)
		values.CheckPlain(x.eval.Report, name, []configs.Text{value}, x.origin.Range)
		if fields := value.Fields(); len(fields) > 0 && value.Secret() {
			x.eval.Report.Error(x.origin.Range, "Two sources of one variable", "The value is made of a secret and of %s, and Kubernetes takes a variable from one of the two. Make two variables, and let the command in the pod join them.", fields[0])
			continue
		}
		out = append(out, configs.Env{Name: name, Value: value, Range: x.origin.Range})
	}
	return out
}

// LeafMemo caches the leaves of maps, so that kolla splits a definition of many services once.
type LeafMemo map[nested][]Leaf

// nested is a map and the depth of its leaves.
type nested struct {
	expr  hcl.Expression
	depth int
}

// AnyDepth is the depth of settings in YAML and JSON, which have nested maps.
const AnyDepth = 100

// depthOf returns the depth of the settings of a format.
func depthOf(format string) int {
	switch format {
	case "properties":
		return 1
	case "yaml", "json":
		return AnyDepth
	}
	return 2
}

// place puts a value into a tree. It replaces the values below the path, and a value at a
// parent of the path.
func (v *evaluation) place(x Leaf, path []string, value cty.Value) {
	key := joined(path)
	before := v.entries[key].over()
	for other := range v.entries {
		if other == key || strings.HasPrefix(other, key+"\x00") || strings.HasPrefix(key, other+"\x00") {
			delete(v.entries, other)
		}
	}
	v.entries[key] = &Entry{path, value, v.env.Of(x.Layer.Name, x.Layer.Home), x.origin(v.depth), before, key}
}

// Variables merges environments: the service's variables override the definition's.
func Variables(read LeafMemo, b *source.Block, name string) *Merged {
	var all []*Layer
	for _, x := range layers.Of(b, name) {
		all = append(all, &Layer{Name: x.Layer, Home: x.Home, Expr: x.Expression})
	}
	return Merge(read, 1, all)
}

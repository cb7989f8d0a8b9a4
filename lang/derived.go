package lang

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// anyDepth is the depth of settings that are maps in maps, of YAML and JSON.
const anyDepth = 100

// depthOf is the depth of the settings of a format.
func depthOf(format string) int {
	switch format {
	case "properties":
		return 1
	case "yaml", "json":
		return anyDepth
	}
	return 2
}

// lineage is a config file, the one that it is made from, and so on.
func (in *instance) lineage(config *source.Block) []*source.Block {
	out := []*source.Block{config}
	for b := config; b.Attributes["from"] != nil; {
		name := in.literal(b, "from")
		base := in.whole.One("config", name)
		switch {
		case name == "":
			return out
		case base == nil:
			if in.whole.Complete() {
				in.report.Undeclared(b.AttributeRange("from"), "config file", name, in.whole.Labels("config"))
			}
			return out
		case slices.Contains(out, base):
			in.circularFrom(out, base)
			return out
		}
		out, b = append(out, base), base
	}
	return out
}

// circularFrom reports config files that are made from each other, once: at the first of
// them by name.
func (in *instance) circularFrom(lineage []*source.Block, again *source.Block) {
	circle := lineage[slices.Index(lineage, again):]
	var names []string
	for _, b := range circle {
		names = append(names, b.Label)
	}
	if again.Label != slices.Min(names) {
		return
	}
	chain := fmt.Sprintf("%q", names[0])
	for _, name := range append(names[1:], names[0]) {
		chain += fmt.Sprintf(" from %q", name)
	}
	in.report.Error(again.AttributeRange("from"), "Circular reference", "Config files would be made from themselves: %s. Take one `from` away.", chain)
}

// inherited is the first of a config file and those that it is made from that has an
// argument; else the last.
func (in *instance) inherited(config *source.Block, name string) *source.Block {
	if config.Attributes["from"] == nil {
		return config
	}
	var last *source.Block
	for _, b := range in.lineage(config) {
		if last = b; b.Attributes[name] != nil {
			break
		}
	}
	return last
}

// formatOf is the format that a config file, or one that it is made from, says; else that
// of its name.
func (in *instance) formatOf(config *source.Block) string {
	b := in.inherited(config, "format")
	if b.Attributes["format"] != nil || b.Base != nil && b.Base.Attributes["format"] != nil {
		return in.literal(b, "format")
	}
	return cmp.Or(formatOfName(b), in.literal(b, "format"))
}

// formatOfName is the format that the name of a config file tells; empty: it tells none. A
// file with content is raw.
func formatOfName(b *source.Block) string {
	format := ""
	switch path.Ext(b.Label) {
	case ".yaml", ".yml":
		format = "yaml"
	case ".json":
		format = "json"
	case ".toml":
		return "raw"
	}
	if format != "" && (b.Attributes["content"] != nil || b.Base != nil && b.Base.Attributes["content"] != nil) {
		return "raw"
	}
	return format
}

// mode are the permissions of a config file.
func (in *instance) mode(config *source.Block) int {
	n, _ := strconv.ParseInt(in.inner.string(in.inherited(config, "mode"), "mode"), 8, 32) // 0 where nothing is said
	return int(n)
}

// mergeSettings puts the layers of config values together.
func (in *instance) mergeSettings() {
	for _, config := range in.whole.All("config") {
		depth := depthOf(in.formatOf(config))
		in.configs[config.Label] = merge(depth, in.configLayers(config, depth))
	}
}

// configLayers are the layers of the values of a config file, the weakest first: all of
// the file that it is made from, and then its own.
func (in *instance) configLayers(config *source.Block, depth int) []*layer {
	var out []*layer
	files := in.lineage(config)
	for i, b := range slices.Backward(files) {
		var only []string
		for _, derived := range files[:i+1] {
			only = narrowed(only, in.onlyOf(derived))
		}
		for _, l := range in.ownLayers(b, depth) {
			if b != config || l.name == configs.LayerCloud || l.name == configs.LayerDirectory {
				l.only = only
			}
			out = append(out, l)
		}
	}
	return out
}

// narrowed are the names that both lists have; nil stands for all.
func narrowed(a, b []string) []string {
	if a == nil || b == nil {
		return append(a, b...)
	}
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) })
}

// onlyOf are the sections that a config file takes of another one; nil: all.
func (in *instance) onlyOf(config *source.Block) []string {
	attr := config.Attributes["only"]
	if attr == nil || isNullLiteral(attr.Expr) {
		return nil
	}
	if len(attr.Expr.Variables()) > 0 {
		in.report.Error(attr.Expr.Range(), "Unsuitable value for \"only\"", "It must be a list that is written out, because it is read before anything is evaluated.")
		return nil
	}
	return append([]string{}, in.constant().list(config, "only")...)
}

// ownLayers are the layers that a config file has besides those of the one that it is
// made from.
func (in *instance) ownLayers(config *source.Block, depth int) []*layer {
	var out, above []*layer
	for _, p := range in.inner.parts(config, "values") {
		l := &layer{name: p.layer, expr: p.expr, eval: p.eval}
		if p.layer == configs.LayerService {
			above = append(above, l)
		} else {
			out = append(out, l)
		}
	}
	for _, d := range in.defaults() {
		if matched, _ := path.Match(d.Label, config.Label); matched && d.Attributes["values"] != nil && depth != anyDepth {
			out = append(out, &layer{name: configs.LayerCloud, expr: d.Attributes["values"].Expr, eval: in.cloud})
		}
	}
	out = append(out, in.directoryLayers(config, depth)...)
	return append(out, above...)
}

// hasContent reports whether anything gives an optional config file content.
func (in *instance) hasContent(config *source.Block, format string) bool {
	if format == "raw" {
		return in.inner.given(config, "content") || len(in.overridesOf(config)) > 0
	}
	s := in.configs[config.Label]
	return len(s.entries()) > 0 || s.partial
}

// checkOnly warns of sections that there are not.
func (in *instance) checkOnly(config *source.Block, f configs.ConfigFile) {
	for _, name := range in.onlyOf(config) {
		there := slices.ContainsFunc(f.Options, func(o configs.Option) bool { return o.Section == name || o.Section == "" && o.Key == name })
		if there || f.Partial {
			continue
		}
		var known []string
		for _, base := range in.lineage(config)[1:] {
			for _, x := range in.configs[base.Label].leaves {
				known = append(known, x.path[:min(1, len(x.path))]...)
			}
		}
		in.report.Warn(config.AttributeRange("only"), "Nothing to take", "%s", words.WithHint(words.DidYouMean(name, known),
			fmt.Sprintf("The file that %q is made from has no %q. It has: %s.", config.Label, name, words.Sorted(known))))
	}
}

// checkPaths reports two config files of one pod that would be one file there.
func (in *instance) checkPaths(pod *source.Block, names []string) {
	taken := map[string]*source.Block{}
	for _, f := range in.out.Configs {
		if !slices.Contains(names, f.Name) {
			continue
		}
		b := in.definition.One("config", f.Name)
		for _, at := range []string{f.Path, f.SecretPath} {
			if other := taken[at]; other != nil && at != "" {
				in.report.Error(pod.AttributeRange("config"), "Two files at one path", "%s would have config %q (%s) and config %q (%s) at %s. Take one of the two out of the list, or give it another path.",
					sentenced(pod.Described()), other.Label, diag.Position(other.Header), f.Name, diag.Position(b.Header), at)
				break
			}
			taken[at] = b
		}
	}
}

// place puts a value into a tree: what was below it, or what it is below, goes.
func (s *settings) place(merged map[string]*entry, x leaf, path []string, value cty.Value) {
	key := joined(path)
	before := merged[key].over()
	for other := range merged {
		if other == key || strings.HasPrefix(other, key+"\x00") || strings.HasPrefix(key, other+"\x00") {
			delete(merged, other)
		}
	}
	merged[key] = &entry{path, value, x.layer.eval, x.origin(s.depth), before, key}
}

// tree is the content of a file in YAML or JSON.
func (in *instance) tree(config *source.Block, format string) (configs.Text, configs.Origin) {
	root := map[string]any{}
	for _, x := range in.configs[config.Label].entries() {
		within := root
		for _, name := range x.path[:len(x.path)-1] {
			inner, ok := within[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				within[name] = inner
			}
			within = inner
		}
		within[x.path[len(x.path)-1]] = x.value
	}
	at := rangeOf(config)
	origin := configs.Origin{Layer: configs.LayerDefinition, Range: config.Header}
	value, err := in.functions[format+"encode"].Call([]cty.Value{objectOf(root)})
	if err != nil {
		in.report.Error(config.Header, "Unsuitable config values", "%s.", words.Sentence(err))
		return nil, origin
	}
	if !value.IsWhollyKnown() && len(values.Deferrals(value)) == 0 {
		return nil, origin // it was reported
	}
	return in.inner.textOf(value, diag.FirstRange(at, in.block.Header)), origin
}

// objectOf is a tree of values as one value.
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

// treeOf are the values that a file of the config directory in YAML or JSON has.
func (l *loader) treeOf(f *overrideFile) []leaf {
	value, err := l.functions["yamldecode"].Call([]cty.Value{cty.StringVal(string(f.source))})
	if err != nil || value.IsNull() || !values.IsMap(value) {
		why := "It is no map of values."
		if err != nil {
			why = words.Sentence(err) + "."
		}
		l.report.Error(f.start(), "Unreadable config file", "%s", why)
		return []leaf{}
	}
	return []leaf{newLeaf(nil, nil, &hclsyntax.LiteralValueExpr{Val: value, SrcRange: f.start()})}
}

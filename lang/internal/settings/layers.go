package settings

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/ini"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// Files has the inputs for the config files of one service. The layers of a file with values
// are, the weakest first:
//
//  1. the definition,
//  2. the defaults of the cloud block,
//  3. files of the config directory,
//  4. the service block.
//
// A file with the argument from has all layers of the other file below its own layers.
// Method ownLayers has this order, and Merge puts the layers together key by key.
type Files struct {
	Whole     *source.Block   // the definition with the overrides of the service
	Defaults  []*source.Block // config blocks of the cloud's defaults
	Directory *Directory      // nil: there is no config directory
	Names     []string        // of the service, as folders of the config directory
	Enabled   *source.Block   // the enabled blocks of the definition
	Constant  *eval.Env       // knows no names
	Leaves    LeafMemo
}

// Merge merges the layers of all config files. The result has an entry for each label.
func (f *Files) Merge() map[string]*Merged {
	out := map[string]*Merged{}
	for _, config := range f.Whole.All("config") {
		depth := depthOf(f.Format(config))
		out[config.Label] = Merge(f.Leaves, depth, f.layers(config, depth))
	}
	return out
}

// layers returns the layers of the values of a config file, the weakest first. All layers of the
// file in its argument from are below its own layers.
func (f *Files) layers(config *source.Block, depth int) []*Layer {
	var out []*Layer
	files := f.Lineage(config)
	for i, b := range slices.Backward(files) {
		var only []string
		for _, derived := range files[:i+1] {
			only = intersection(only, f.Only(derived))
		}
		for _, l := range f.ownLayers(b, depth) {
			if b != config || l.Name == configs.LayerCloud || l.Name == configs.LayerDirectory {
				l.Only = only
			}
			out = append(out, l)
		}
	}
	return out
}

// ownLayers returns the layers of a config file without the file in its argument from, the
// weakest first: definition, cloud, config directory, service.
func (f *Files) ownLayers(config *source.Block, depth int) []*Layer {
	var definition, cloud, service []*Layer
	for _, x := range layers.Of(config, "values") {
		l := &Layer{Name: x.Layer, Home: x.Home, Expr: x.Expression}
		if x.Layer == configs.LayerService {
			service = append(service, l)
		} else {
			definition = append(definition, l)
		}
	}
	for _, d := range f.Defaults {
		if matched, _ := path.Match(d.Label, config.Label); matched && d.Attributes["values"] != nil && depth != AnyDepth {
			cloud = append(cloud, &Layer{Name: configs.LayerCloud, Expr: d.Attributes["values"].Expr})
		}
	}
	return slices.Concat(definition, cloud, f.directoryLayers(config, depth), service)
}

// directoryLayers returns the layers that the config directory has for a file with values.
func (f *Files) directoryLayers(config *source.Block, depth int) []*Layer {
	if f.Directory == nil || f.Format(config) == "raw" {
		return nil
	}
	var out []*Layer
	for _, file := range f.Overrides(config) {
		out = append(out, &Layer{Name: configs.LayerDirectory, Ready: f.Directory.LeavesOf(file, depth)})
	}
	return out
}

// Overrides returns the files of the config directory that override a config file, the weakest
// first.
func (f *Files) Overrides(config *source.Block) []*File {
	if f.Directory == nil {
		return nil
	}
	var labels []string
	for _, b := range f.Enabled.All("config") {
		if layers.GateOf(b) != layers.GateClosed {
			labels = append(labels, b.Label)
		}
	}
	return f.Directory.OverridesOf(config.Label, f.Format(config), f.Names, labels)
}

// Replacement returns the content that the config directory has for a raw file, if it has one.
func (f *Files) Replacement(config *source.Block) (content configs.Text, ok bool) {
	files := f.Overrides(config)
	if len(files) == 0 {
		return nil, false
	}
	file := files[len(files)-1]
	if !utf8.Valid(file.Source) {
		f.Constant.Report.Error(file.Start(), "Unreadable config file", "The file is not UTF-8 text.")
		return nil, true
	}
	if at, found := ini.Template(file.Name, file.Source); found {
		f.Constant.Report.Warn(at, "Template in an override",
			"kolla uses the file as it is, and fills in nothing. If this is meant for kolla-ansible, write the value itself; or move the file out of the config directory and write, in the service, config %q { content = templatefile(...) }.", config.Label)
	}
	return configs.Plain(string(file.Source)), true
}

// RangeInDirectory returns the place of a config file in the config directory. The directory must
// have a file for it.
func (f *Files) RangeInDirectory(config *source.Block) hcl.Range {
	files := f.Overrides(config)
	file := files[len(files)-1]
	for _, x := range file.Readings[depthOf(f.Format(config))] {
		return x.Expr.Range()
	}
	return file.Start()
}

// Lineage returns a config file, then the file in its argument from, and so on.
func (f *Files) Lineage(config *source.Block) []*source.Block {
	out := []*source.Block{config}
	for b := config; b.Attributes["from"] != nil; {
		name := eval.Literal(f.Constant, b, "from")
		base := f.Whole.One("config", name)
		switch {
		case name == "":
			return out
		case base == nil:
			if f.Whole.Complete() {
				f.Constant.Report.Undeclared(b.AttributeRange("from"), "config file", name, f.Whole.Labels("config"))
			}
			return out
		case slices.Contains(out, base):
			f.circular(out, base)
			return out
		}
		out, b = append(out, base), base
	}
	return out
}

// circular reports config files whose from arguments form a cycle. It reports each cycle once,
// at the file with the first name.
func (f *Files) circular(lineage []*source.Block, again *source.Block) {
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
	f.Constant.Report.Error(again.AttributeRange("from"), "Circular reference", "Config files would be made from themselves: %s. Take one `from` away.", chain)
}

// Inherited returns the first block in the lineage of a config file that has an argument, or else
// the last block.
func (f *Files) Inherited(config *source.Block, name string) *source.Block {
	if config.Attributes["from"] == nil {
		return config
	}
	var last *source.Block
	for _, b := range f.Lineage(config) {
		if last = b; b.Attributes[name] != nil {
			break
		}
	}
	return last
}

// Format returns the format of a config file: the argument format of the file or of its lineage,
// or else the format of its name.
func (f *Files) Format(config *source.Block) string {
	b := f.Inherited(config, "format")
	if b.Attributes["format"] != nil || b.Base != nil && b.Base.Attributes["format"] != nil {
		return eval.Literal(f.Constant, b, "format")
	}
	return cmp.Or(formatOfName(b), eval.Literal(f.Constant, b, "format"))
}

// formatOfName returns the format of a file by its extension, or empty. A file with content is raw.
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

// Only returns the sections that a config file takes from the file in its argument from. Nil
// means all sections.
func (f *Files) Only(config *source.Block) []string {
	attr := config.Attributes["only"]
	if attr == nil || layers.IsNullLiteral(attr.Expr) {
		return nil
	}
	if len(attr.Expr.Variables()) > 0 {
		f.Constant.Report.Error(attr.Expr.Range(), "Unsuitable value for \"only\"", "It must be a list that is written out, because it is read before anything is evaluated.")
		return nil
	}
	return append([]string{}, eval.List(f.Constant, config, "only")...)
}

// intersection returns the names that are in both lists. A nil list has all names.
func intersection(a, b []string) []string {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) })
}

package settings

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/functions"
	"kolla.openstack.org/kolla/lang/ini"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// GlobalFile is the override for every service.
const GlobalFile = "global.conf"

// Directory is the config directory. It has overrides of config files in the layout of
// kolla-ansible's node_custom_config.
//
//	global.conf           every ini file NAME.conf, of any service
//	FILE                  the file of that name, of any service; not raw files
//	SERVICE.conf          each ini file NAME.conf of the service, if it has no file SERVICE.conf
//	SERVICE/FILE          a file of that service
//
// SERVICE is the name of a service, of its definition, or of the definition's project. A later entry
// of this list overrides the earlier ones. A nil directory has no files.
type Directory struct {
	At    hcl.Range // where the configuration names it
	Given string    // the path in the configuration, with slashes
	Files []*File
	// Folders are the directories in it, and those in them: "keystone", "keystone/domains".
	Folders []string
	byPath  map[string]*File
	report  *diag.Reporter
	reader  *functions.Files
	sources map[string]*hcl.File // receives the files that are used
	yaml    function.Function    // decodes a text
}

// File is one file of the config directory.
type File struct {
	Path     string // within the directory
	Name     string // for ranges
	Used     bool
	Source   []byte         // only of a used file
	Readings map[int][]Leaf // keyed by the depth of the settings
}

// ReadDirectory reads the config directory that the configuration names.
func ReadDirectory(report *diag.Reporter, reader *functions.Files, sources map[string]*hcl.File, yaml function.Function, at hcl.Range, given string) *Directory {
	d := &Directory{
		At: at, Given: path.Clean(filepath.ToSlash(given)), byPath: map[string]*File{},
		report: report, reader: reader, sources: sources, yaml: yaml,
	}
	d.readFolder("")
	return d
}

// readFolder lists a folder of the config directory. kolla uses no files below the folders of
// services, so it only records these.
func (d *Directory) readFolder(folder string) {
	entries, err := d.reader.ReadDir(d.reader.Path(path.Join(d.Given, folder)))
	if err != nil {
		d.report.Error(d.At, "Cannot read the config directory", "The directory %s: %s.", path.Join(d.Given, folder), files.Cause(err))
		return
	}
	for _, entry := range entries {
		within := path.Join(folder, entry.Name())
		name := path.Join(d.Given, within)
		if strings.HasPrefix(entry.Name(), ".") || strings.HasSuffix(entry.Name(), "~") || strings.HasPrefix(entry.Name(), "README") {
			continue
		}
		info, err := d.reader.Stat(d.reader.Path(name)) // of the target of a link
		switch {
		case err == nil && info.IsDir():
			d.Folders = append(d.Folders, within)
			if folder == "" {
				d.readFolder(within)
			}
		default:
			f := &File{Path: within, Name: d.reader.Path(name), Readings: map[int][]Leaf{}}
			d.Files = append(d.Files, f)
			d.byPath[within] = f
		}
	}
}

// use reads a file that overrides a config file. kolla never reads the other files.
func (d *Directory) use(f *File) {
	if f.Used {
		return
	}
	f.Used = true
	source, err := d.reader.Read(path.Join(d.Given, f.Path))
	if err != nil {
		d.report.Error(d.At, "Cannot read the config directory", "%s.", words.Sentence(err))
	}
	f.Source = source
	d.sources[f.Name] = &hcl.File{Body: hcl.EmptyBody(), Bytes: source}
}

// Start returns the beginning of the file.
func (f *File) Start() hcl.Range {
	return hcl.Range{Filename: f.Name, Start: hcl.InitialPos, End: hcl.InitialPos}
}

// general reports whether SERVICE.conf and global.conf apply to a config file: whether
// oslo.config reads the file.
func general(name, format string) bool { return format == "ini" && strings.HasSuffix(name, ".conf") }

// LeavesOf returns the values that a file of the config directory sets.
func (d *Directory) LeavesOf(f *File, depth int) []Leaf {
	if out, done := f.Readings[depth]; done {
		return out
	}
	if depth == AnyDepth {
		out := d.treeOf(f)
		f.Readings[depth] = out
		return out
	}
	out := []Leaf{}
	assignments, diags := ini.Read(f.Name, f.Source, depth == 2)
	d.report.Add(diags...)
	for _, a := range assignments {
		var values []cty.Value
		for _, value := range a.Values {
			values = append(values, cty.StringVal(value))
		}
		place, names := []string{a.Key}, []hcl.Range{a.Name}
		if depth == 2 {
			place, names = []string{a.Section, a.Key}, []hcl.Range{a.Header, a.Name}
		}
		out = append(out, newLeaf(place, names, &hclsyntax.LiteralValueExpr{Val: cty.TupleVal(values), SrcRange: a.Range}))
	}
	f.Readings[depth] = out
	return out
}

// verbatim returns the unchanged values of a key in a file of the config directory, including
// values with several lines.
func verbatim(v cty.Value) []configs.Text {
	var out []configs.Text
	for _, value := range mark.Elements(v) {
		out = append(out, configs.Plain(value.AsString()))
	}
	return out
}

// treeOf returns the values of a YAML or JSON file of the config directory.
func (d *Directory) treeOf(f *File) []Leaf {
	value, err := d.yaml.Call([]cty.Value{cty.StringVal(string(f.Source))})
	if err != nil || value.IsNull() || !values.IsMap(value) {
		why := "It is no map of values."
		if err != nil {
			why = words.Sentence(err) + "."
		}
		d.report.Error(f.Start(), "Unreadable config file", "%s", why)
		return []Leaf{}
	}
	return []Leaf{newLeaf(nil, nil, &hclsyntax.LiteralValueExpr{Val: value, SrcRange: f.Start()})}
}

// OverridesOf returns the files that override a config file, the weakest first. names are those of
// its service, and configs all config files of the service.
func (d *Directory) OverridesOf(config, format string, names, configs []string) []*File {
	var paths []string
	if general(config, format) {
		paths = append(paths, GlobalFile)
		for _, name := range names {
			if file := name + ".conf"; !slices.Contains(configs, file) {
				paths = append(paths, file)
			}
		}
	}
	if format == "ini" || format == "properties" {
		paths = append(paths, config)
	}
	for _, name := range names {
		paths = append(paths, path.Join(name, config))
	}
	var out []*File
	for _, p := range paths {
		if f := d.byPath[p]; f != nil && !slices.Contains(out, f) {
			d.use(f)
			out = append(out, f)
		}
	}
	return out
}

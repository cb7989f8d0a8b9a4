package lang

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/ini"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// globalFile is the override for every service.
const globalFile = "global.conf"

// directory is the config directory: overrides of config files, laid out as
// kolla-ansible's node_custom_config is.
//
//	global.conf           every ini file NAME.conf, of any service
//	FILE                  the file of that name, of any service; not raw files
//	SERVICE.conf          where the service has no such file, each of its ini files NAME.conf
//	SERVICE/FILE          a file of that service
//
// SERVICE is the name of a service or of its definition. What comes later in this
// list is stronger. A nil directory has no files.
type directory struct {
	at    hcl.Range // where it is named
	given string    // as it is named, with slashes
	files []*overrideFile
	// folders are the directories in it, and those in them: "keystone", "keystone/domains".
	folders []string
	byPath  map[string]*overrideFile
}

// overrideFile is one file of the config directory.
type overrideFile struct {
	path     string // within the directory
	name     string // for ranges
	used     bool
	source   []byte         // of one that is used
	readings map[int][]leaf // by the depth of the settings
}

// readDirectory reads the config directory that the cloud names, if it does.
func (l *loader) readDirectory() *directory {
	for _, b := range l.document.All("cloud")[:min(1, len(l.document.All("cloud")))] {
		given := l.literal(b, "config_dir")
		if given == "" {
			continue
		}
		d := &directory{at: b.AttributeRange("config_dir"), given: path.Clean(filepath.ToSlash(given)), byPath: map[string]*overrideFile{}}
		l.readFolder(d, "")
		return d
	}
	return nil
}

// readFolder reads what is in a folder of the config directory. Below those of
// services there is nothing that kolla uses, so that it is only noted.
func (l *loader) readFolder(d *directory, folder string) {
	entries, err := os.ReadDir(l.reader.Path(path.Join(d.given, folder)))
	if err != nil {
		l.report.Error(d.at, "Cannot read the config directory", "The directory %s: %s.", path.Join(d.given, folder), source.Cause(err))
		return
	}
	for _, entry := range entries {
		within := path.Join(folder, entry.Name())
		name := path.Join(d.given, within)
		if strings.HasPrefix(entry.Name(), ".") || strings.HasSuffix(entry.Name(), "~") || strings.HasPrefix(entry.Name(), "README") {
			continue
		}
		info, err := os.Stat(l.reader.Path(name)) // of what a link leads to
		switch {
		case err == nil && info.IsDir():
			d.folders = append(d.folders, within)
			if folder == "" {
				l.readFolder(d, within)
			}
		default:
			f := &overrideFile{path: within, name: l.reader.Path(name), readings: map[int][]leaf{}}
			d.files = append(d.files, f)
			d.byPath[within] = f
		}
	}
}

// use reads a file that overrides something. The others are left alone, whatever they
// are.
func (l *loader) use(f *overrideFile) {
	if f.used {
		return
	}
	f.used = true
	source, err := l.reader.Read(path.Join(l.directory.given, f.path))
	if err != nil {
		l.report.Error(l.directory.at, "Cannot read the config directory", "%s.", words.Sentence(err))
	}
	f.source = source
	l.config.Files[f.name] = &hcl.File{Body: hcl.EmptyBody(), Bytes: source}
}

// start is the beginning of the file.
func (f *overrideFile) start() hcl.Range {
	return hcl.Range{Filename: f.name, Start: hcl.InitialPos, End: hcl.InitialPos}
}

// general reports whether a config file is one that SERVICE.conf and global.conf are
// for: as oslo.config reads them.
func general(name, format string) bool { return format == "ini" && strings.HasSuffix(name, ".conf") }

// overridesOf are the files of the config directory that override a config file of
// the service, the weakest first.
func (in *instance) overridesOf(config *source.Block) []*overrideFile {
	d := in.directory
	if d == nil {
		return nil
	}
	format := in.formatOf(config)
	names := in.overrideNames()
	var paths []string
	if general(config.Label, format) {
		paths = append(paths, globalFile)
		for _, name := range names {
			if file := name + ".conf"; in.definition.One("config", file) == nil {
				paths = append(paths, file)
			}
		}
	}
	if format == "ini" || format == "properties" {
		paths = append(paths, config.Label)
	}
	for _, name := range names {
		paths = append(paths, path.Join(name, config.Label))
	}
	var out []*overrideFile
	for _, p := range paths {
		if f := d.byPath[p]; f != nil && !slices.Contains(out, f) {
			in.use(f)
			out = append(out, f)
		}
	}
	return out
}

// overrideNames are the names that the service has in the config directory. Its name in
// the cluster is known only when it is evaluated.
func (in *instance) overrideNames() []string {
	names := []string{in.definition.Label, in.block.Label, in.out.Name}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// directoryLayers are the layers that the config directory has for a file with values.
func (in *instance) directoryLayers(config *source.Block, depth int) []*layer {
	if in.directory == nil || in.formatOf(config) == "raw" {
		return nil
	}
	var out []*layer
	for _, f := range in.overridesOf(config) {
		out = append(out, &layer{name: configs.LayerDirectory, eval: in.user, ready: in.leavesOf(f, depth)})
	}
	return out
}

// leavesOf are the values that a file of the config directory sets.
func (l *loader) leavesOf(f *overrideFile, depth int) []leaf {
	if out, done := f.readings[depth]; done {
		return out
	}
	if depth == anyDepth {
		out := l.treeOf(f)
		f.readings[depth] = out
		return out
	}
	out := []leaf{}
	assignments, diags := ini.Read(f.name, f.source, depth == 2)
	l.report.Add(diags...)
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
	f.readings[depth] = out
	return out
}

// verbatim are the values of a key as a file of the config directory has them, those
// of several lines included.
func verbatim(v cty.Value) []configs.Text {
	var out []configs.Text
	for _, value := range mark.Elements(v) {
		out = append(out, configs.Plain(value.AsString()))
	}
	return out
}

// replacement is what the config directory has in place of a raw file, if it does.
func (in *instance) replacement(config *source.Block) (content configs.Text, ok bool) {
	files := in.overridesOf(config)
	if len(files) == 0 {
		return nil, false
	}
	f := files[len(files)-1]
	if !utf8.Valid(f.source) {
		in.report.Error(f.start(), "Unreadable config file", "The file is not a text in UTF-8.")
		return nil, true
	}
	if at, found := ini.Template(f.name, f.source); found {
		in.report.Warn(at, "Template in an override",
			"kolla uses the file as it is, and fills in nothing. If this is meant for kolla-ansible, write the value itself; or move the file out of the config directory and write, in the service, config %q { content = templatefile(...) }.", config.Label)
	}
	return configs.Plain(string(f.source)), true
}

// rangeOfFile is where the user says something about a config file, the strongest
// place first.
func (in *instance) rangeOfFile(config *source.Block) hcl.Range {
	if config.Top != nil || len(in.overridesOf(config)) == 0 {
		return rangeOf(config)
	}
	return in.rangeInDirectory(config)
}

// rangeInDirectory is where the config directory says something about a config file.
func (in *instance) rangeInDirectory(config *source.Block) hcl.Range {
	files := in.overridesOf(config)
	f := files[len(files)-1]
	depth := depthOf(in.formatOf(config))
	for _, x := range f.readings[depth] {
		return x.expr.Range()
	}
	return f.start()
}

// unusedOverrides warns of what is in the config directory and overrides nothing.
func (g *graph) unusedOverrides() {
	d := g.directory
	if d == nil || len(g.services) == 0 {
		return
	}
	first := g.firstByName()
	for _, folder := range d.folders {
		top, below, nested := strings.Cut(folder, "/")
		switch in := first[top]; {
		case in == nil && !nested:
			known := keysOf(first)
			g.unusedOverride(folder, "%s", words.WithHint(words.DidYouMean(top, known), fmt.Sprintf("No service of this cloud, and no definition of one, is called %q. There are: %s.", top, words.Sorted(known))))
		case in != nil && nested:
			g.unusedOverride(folder, "For kolla-ansible such a directory mostly holds what is other on one host, here %q. With kolla all pods of a service read the same files: put what is for all into %s/FILE. For nodes that need other values, declare a second service with the same definition and a role of its own.",
				below, path.Join(d.given, top))
		}
	}
	for _, f := range d.files {
		folder, name := path.Split(f.path)
		switch in := first[strings.TrimSuffix(folder, "/")]; {
		case f.used || folder != "" && in == nil:
		case folder != "":
			g.unusedServiceFile(f, in, name)
		default:
			g.unusedRootFile(f)
		}
	}
}

func (g *graph) unusedOverride(within, detail string, args ...any) {
	g.report.Warn(g.directory.at, "Override without effect", "%s is not used. %s", path.Join(g.directory.given, within), fmt.Sprintf(detail, args...))
}

// firstByName finds the services, the first of each name that they have in the config
// directory.
func (g *graph) firstByName() map[string]*instance {
	out := map[string]*instance{}
	for _, in := range g.inOrder() {
		for _, name := range in.overrideNames() {
			if out[name] == nil {
				out[name] = in
			}
		}
	}
	return out
}

// unusedServiceFile warns of a file that the service of its folder does not have.
func (g *graph) unusedServiceFile(f *overrideFile, in *instance, name string) {
	known := in.definition.Labels("config")
	for _, workload := range in.definition.Labels("workload") {
		stem := strings.TrimSuffix(name, ".conf")
		if stem != name && (stem == workload || stem == in.out.Definition+"-"+workload || stem == in.out.Name+"-"+workload) {
			g.unusedOverride(f.path, "For kolla-ansible it is for one container. Here all workloads of a service read the same files. The files of service %q are: %s.", in.out.Name, words.Sorted(known))
			return
		}
	}
	g.unusedOverride(f.path, "%s", words.WithHint(words.DidYouMean(name, known), fmt.Sprintf("Service %q has no file %q. Its files are: %s.", in.out.Name, name, words.Sorted(known))))
}

// unusedRootFile warns of a file that no service has.
func (g *graph) unusedRootFile(f *overrideFile) {
	known := []string{globalFile}
	var raw []string // services that have it as a raw file
	for _, in := range g.inOrder() {
		known = append(known, in.definition.Label+".conf", in.out.Name+".conf")
		for _, config := range in.out.Configs {
			if config.Format != "raw" {
				known = append(known, config.Name)
			} else if config.Name == f.path {
				raw = append(raw, in.out.Name)
			}
		}
	}
	slices.Sort(known)
	switch {
	case len(raw) > 0:
		g.unusedOverride(f.path, "It would replace a whole file, and has to say of which service: put it into %s.", path.Join(g.directory.given, raw[0]))
	case slices.Contains(known, f.path):
		g.unusedOverride(f.path, "No service that it is for has an ini file NAME.conf.")
	default:
		near := cmp.Or(words.DidYouMean(f.path, slices.Compact(known)), " Files of one service stand in SERVICE/FILE.")
		g.unusedOverride(f.path, "%s", words.WithHint(near, "No service of this cloud has a file of that name."))
	}
}

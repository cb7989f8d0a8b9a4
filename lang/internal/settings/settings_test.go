package settings_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/functions"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/langtest"
	"kolla.openstack.org/kolla/lang/internal/settings"
)

// TestMerge checks which layer gives a config value: the service before the cloud's defaults
// before the definition, key by key, as deep as the format has names. A null takes a value away.
func TestMerge(t *testing.T) {
	t.Parallel()
	const ini, properties, yaml = 2, 1, settings.AnyDepth
	for name, c := range map[string]struct {
		depth                      int
		definition, cloud, service string
		only                       []string // of the cloud's layer
		want                       string
		said                       []string
	}{
		"one layer":              {depth: ini, definition: `{ api = { workers = 2 } }`, want: `{"api":{"workers":2}}`},
		"key by key":             {depth: ini, definition: `{ api = { workers = 2, debug = false } }`, service: `{ api = { debug = true } }`, want: `{"api":{"debug":true,"workers":2}}`},
		"all layers":             {depth: ini, definition: `{ a = { x = 1, y = 1, z = 1 } }`, cloud: `{ a = { y = 2, z = 2 } }`, service: `{ a = { z = 3 } }`, want: `{"a":{"x":1,"y":2,"z":3}}`},
		"a computed map":         {depth: ini, definition: `{ a = { x = 1, y = 1 } }`, service: `{ a = merge({ y = 2 }, { z = 2 }) }`, want: `{"a":{"x":1,"y":2,"z":2}}`},
		"null":                   {depth: ini, definition: `{ a = { x = 1, y = 1 } }`, service: `{ a = { x = null } }`, want: `{"a":{"y":1}}`},
		"null section":           {depth: ini, definition: `{ a = { x = 1 }, b = { y = 1 } }`, service: `{ a = null }`, want: `{"b":{"y":1}}`},
		"removed, and set again": {depth: ini, definition: `{ a = { x = 1 } }`, cloud: `{ a = null }`, service: `{ a = { x = 3 } }`, want: `{"a":{"x":3}}`},
		"a computed null":        {depth: ini, definition: `{ a = { x = 1, y = 1 } }`, service: `{ a = { x = length([1]) > 0 ? null : 1 } }`, want: `{"a":{"y":1}}`},
		"computed as a whole":    {depth: ini, definition: `{ a = { x = 1, y = 1 } }`, cloud: `{ a = { x = 2 } }`, service: `length([1]) > 0 ? { a = { x = 3 }, b = null } : null`, want: `{"a":{"x":3,"y":1}}`},
		"computed names":         {depth: ini, definition: `{ a = { x = 1 }, b = { x = 1 } }`, service: `{ "${"a"}" = { ("x") = 3 }, (length([1]) > 0 ? "b" : "c") = { x = 4 } }`, want: `{"a":{"x":3},"b":{"x":4}}`},
		"parentheses":            {depth: ini, definition: `({ a = ({ x = (1), y = 1 }) })`, service: `{ a = { x = (null) } }`, want: `{"a":{"y":1}}`},
		"not evaluated":          {depth: ini, definition: `{ a = { x = service.nowhere.host, y = 1 } }`, service: `{ a = { x = 3 } }`, want: `{"a":{"x":3,"y":1}}`},
		"null of nothing":        {depth: ini, definition: `{ a = { workers = 1 } }`, service: `{ a = { wokers = null } }`, want: `{"a":{"workers":1}}`, said: []string{"Nothing to remove"}},
		"only":                   {depth: ini, definition: `{ a = { x = 1 } }`, cloud: `{ a = { x = 2 }, b = { x = 2 } }`, only: []string{"a"}, want: `{"a":{"x":2}}`},
		"a value, no map":        {depth: ini, definition: `{ a = 1 }`, want: `{}`, said: []string{"Section expected"}},
		"no map at all":          {depth: ini, definition: `[1]`, want: `{}`, said: []string{"Unsuitable config values"}},
		"twice":                  {depth: ini, definition: `{ a = { x = 1, "x" = 2 } }`, want: `{"a":{"x":1}}`, said: []string{`Second value for "x"`}},
		"a list is whole":        {depth: ini, definition: `{ a = { x = [1, 2] } }`, service: `{ a = { x = [3] } }`, want: `{"a":{"x":[3]}}`},
		"without sections":       {depth: properties, definition: `{ x = 1, y = 1 }`, service: `{ y = 2 }`, want: `{"x":1,"y":2}`},
		"cloud, no section":      {depth: ini, definition: `{ a = { x = 1 } }`, cloud: `{ x = 2 }`, want: `{"a":{"x":1}}`},
		"cloud, a section":       {depth: properties, definition: `{ x = 1 }`, cloud: `{ x = { y = 2 } }`, want: `{"x":1}`},
		"nested":                 {depth: yaml, definition: `{ a = { b = { c = 1, d = 1 } } }`, service: `{ a = { b = { d = 2 } } }`, want: `{"a":{"b":{"c":1,"d":2}}}`},
		"a map by a value":       {depth: yaml, definition: `{ a = { b = 1 } }`, service: `{ a = 2 }`, want: `{"a":2}`},
		"a value by a map":       {depth: yaml, definition: `{ a = 1 }`, service: `{ a = { b = 2 } }`, want: `{"a":{"b":2}}`},
	} {
		t.Run(name, func(t *testing.T) {
			report := diag.New()
			var layers []*settings.Layer
			for _, layer := range []struct{ name, text string }{{configs.LayerDefinition, c.definition}, {configs.LayerCloud, c.cloud}, {configs.LayerService, c.service}} {
				if layer.text == "" {
					continue
				}
				l := &settings.Layer{Name: layer.name, Expr: langtest.Expression(t, layer.text)}
				if layer.name == configs.LayerCloud {
					l.Only = c.only
				}
				layers = append(layers, l)
			}
			merged, _ := settings.Merge(settings.LeafMemo{}, c.depth, layers).Object(langtest.Env(report))
			if got := text(t, merged); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if said := langtest.Summaries(report); !slices.Equal(said, append([]string{}, c.said...)) {
				t.Errorf("diagnostics: %q, want %q", said, c.said)
			}
		})
	}
}

// text is a value as JSON.
func text(t *testing.T, v cty.Value) string {
	t.Helper()
	raw, err := ctyjson.SimpleJSONValue{Value: v}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		t.Fatal(err)
	}
	raw, err = json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestMergeDropsReferences checks that a value that a stronger layer overrides is not a
// dependency any more.
func TestMergeDropsReferences(t *testing.T) {
	t.Parallel()
	merged := settings.Merge(settings.LeafMemo{}, 2, []*settings.Layer{
		{Name: configs.LayerDefinition, Expr: langtest.Expression(t, `{ cache = { servers = service.memcached.servers }, database = { connection = service.mariadb.url } }`)},
		{Name: configs.LayerService, Expr: langtest.Expression(t, `{ cache = { servers = "192.0.2.1" } }`)},
	})
	var refs []string
	for _, leaf := range merged.Leaves {
		for _, r := range leaf.Expr.Variables() {
			refs = append(refs, r.RootName()+"."+text(t, cty.StringVal(leaf.Path[0])))
		}
	}
	if !slices.Equal(refs, []string{`service."database"`}) {
		t.Errorf("references: %q", refs)
	}
}

// merge merges one layer of the definition.
func merge(t *testing.T, depth int, text string) *settings.Merged {
	t.Helper()
	return settings.Merge(settings.LeafMemo{}, depth, []*settings.Layer{{Name: configs.LayerDefinition, Expr: langtest.Expression(t, text)}})
}

// TestOptions checks the text of config values in a file: commas join the elements of a list, and a
// list of lists repeats the key. DEFAULT is the first section.
func TestOptions(t *testing.T) {
	t.Parallel()
	const ini, properties = 2, 1
	value, name, section := []string{"Unsuitable config value"}, []string{"Unsuitable name of a config value"}, []string{"Unsuitable name of a section"}
	for title, c := range map[string]struct {
		depth  int
		values string
		want   []string
		said   []string
	}{
		"a text":                           {ini, `{ a = { x = "y" } }`, []string{`a/x "y"`}, nil},
		"a number":                         {ini, `{ a = { x = 1.5 } }`, []string{`a/x "1.5"`}, nil},
		"a boolean":                        {ini, `{ a = { x = true } }`, []string{`a/x "true"`}, nil},
		"an empty text":                    {ini, `{ a = { x = "" } }`, []string{`a/x ""`}, nil},
		"a list":                           {ini, `{ a = { x = [1, "b"] } }`, []string{`a/x "1,b"`}, nil},
		"an empty list":                    {ini, `{ a = { x = [] } }`, []string{`a/x ""`}, nil},
		"a list of lists":                  {ini, `{ a = { x = [["a", "b"], ["c"]] } }`, []string{`a/x "a,b" "c"`}, nil},
		"lists and others":                 {ini, `{ a = { x = [["a"], "b"] } }`, []string{`a/x ",b"`}, value},
		"DEFAULT is first":                 {ini, `{ a = { x = 1 }, DEFAULT = { y = 2, b = 1 }, B = { z = 3 } }`, []string{`DEFAULT/b "1"`, `DEFAULT/y "2"`, `B/z "3"`, `a/x "1"`}, nil},
		"without sections":                 {properties, `{ y = 2, x = 1 }`, []string{`/x "1"`, `/y "2"`}, nil},
		"several lines":                    {ini, `{ a = { x = "1\n2" } }`, []string{`a/x`}, value},
		"a map":                            {ini, `{ a = { x = { y = 1 } } }`, []string{`a/x`}, value},
		"an empty key":                     {ini, `{ a = { "" = 1 } }`, nil, name},
		"a key with =":                     {ini, `{ a = { "x=y" = 1 } }`, nil, name},
		"a key like a comment":             {ini, `{ a = { "#x" = 1 } }`, nil, name},
		"a key like a section":             {ini, `{ a = { "[x" = 1 } }`, nil, name},
		"a key with a space":               {ini, `{ a = { "x y" = 1, " z" = 1 } }`, []string{`a/x y "1"`}, name},
		"a section with ]":                 {ini, `{ "a]" = { x = 1 } }`, nil, section},
		"an empty section":                 {ini, `{ "" = { x = 1 } }`, nil, section},
		"a key that sections may not have": {properties, `{ "a]" = 1 }`, []string{`/a] "1"`}, nil},
	} {
		t.Run(title, func(t *testing.T) {
			report := diag.New()
			options, partial := merge(t, c.depth, c.values).Options(langtest.Env(report), nil)
			var got []string
			for _, o := range options {
				line := o.Section + "/" + o.Key
				for _, v := range o.Values {
					if v != nil || len(c.said) == 0 {
						line += fmt.Sprintf(" %q", v.Masked())
					}
				}
				got = append(got, line)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if said := langtest.Summaries(report); !slices.Equal(said, append([]string{}, c.said...)) {
				t.Errorf("diagnostics: %q, want %q", said, c.said)
			}
			if left := len(c.want) == 0; partial != (left || len(c.said) > 0 && c.said[0] == name[0]) {
				t.Errorf("partial: %v", partial)
			}
		})
	}
}

// TestEnvironment checks which variables a map makes.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	name := []string{"Unsuitable name of an environment variable"}
	for title, c := range map[string]struct {
		values string
		want   []string
		said   []string
	}{
		"texts and numbers": {`{ B = 1, A = "x" }`, []string{"A=x", "B=1"}, nil},
		"an empty text":     {`{ A = "" }`, []string{"A="}, nil},
		"several lines":     {`{ A = "1\n2" }`, []string{"A=1\n2"}, nil},
		"null":              {`{ A = null }`, nil, nil},
		"an empty name":     {`{ "" = 1, B = 2 }`, []string{"B=2"}, name},
		"a name with =":     {`{ "A=B" = 1 }`, nil, name},
		"a name with space": {`{ "A B" = 1 }`, nil, name},
	} {
		t.Run(title, func(t *testing.T) {
			report := diag.New()
			var got []string
			for _, e := range merge(t, 1, c.values).Environment(langtest.Env(report)) {
				got = append(got, e.Name+"="+e.Value.Masked())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if said := langtest.Summaries(report); !slices.Equal(said, append([]string{}, c.said...)) {
				t.Errorf("diagnostics: %q, want %q", said, c.said)
			}
		})
	}
}

// TestDirectoryOverrides checks which files of the config directory override a config file, the
// weakest first.
func TestDirectoryOverrides(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		there  string // the files
		config string // and its format
		names  string // of the service
		own    string // the config files of the service
		want   string
	}{
		"nothing":                     {"other.conf", "nova.conf ini", "nova", "nova.conf", ""},
		"all of them":                 {"nova/nova.conf nova.conf compute.conf global.conf", "nova.conf ini", "compute nova", "nova.conf", "global.conf compute.conf nova.conf nova/nova.conf"},
		"the definition is weaker":    {"compute/nova.conf nova/nova.conf", "nova.conf ini", "nova compute", "nova.conf", "nova/nova.conf compute/nova.conf"},
		"no .conf, so not of oslo":    {"global.conf nova.conf api.ini", "api.ini ini", "nova", "api.ini", "api.ini"},
		"a file of another name":      {"keystone.conf", "api.conf ini", "keystone", "api.conf", "keystone.conf"},
		"a file of its own":           {"keystone.conf", "api.conf ini", "keystone", "api.conf keystone.conf", ""},
		"properties":                  {"global.conf a.conf x.properties a/x.properties", "x.properties properties", "a", "x.properties", "x.properties a/x.properties"},
		"a raw file":                  {"text a/text global.conf", "text raw", "a", "text", "a/text"},
		"YAML":                        {"x.yaml a/x.yaml", "x.yaml yaml", "a", "x.yaml", "a/x.yaml"},
		"a folder of that name":       {"nova.conf/x", "nova.conf ini", "nova", "nova.conf", ""},
		"what editors leave":          {".global.conf nova.conf~ README.conf", "nova.conf ini", "nova", "nova.conf", ""},
		"raw, and of that name":       {"global.conf keystone.conf", "x.conf raw", "keystone", "x.conf", ""},
		"named like its definition":   {"nova.conf nova/nova.conf", "nova.conf ini", "nova nova", "nova.conf", "nova.conf nova/nova.conf"},
		"below a folder of a service": {"nova/deep/nova.conf", "nova.conf ini", "nova", "nova.conf", ""},
	} {
		t.Run(title, func(t *testing.T) {
			files := fstest.MapFS{}
			for _, name := range strings.Fields(c.there) {
				files["config/"+name] = &fstest.MapFile{Data: []byte("[a]\nx = 1\n")}
			}
			files["config/z"] = &fstest.MapFile{} // so that it is there
			reader := functions.NewFiles(".")
			reader.FS = files
			report := diag.New()
			d := settings.ReadDirectory(report, reader, map[string]*hcl.File{}, function.Function{}, hcl.Range{}, "config")
			config, format, _ := strings.Cut(c.config, " ")
			var got []string
			for _, f := range d.OverridesOf(config, format, strings.Fields(c.names), strings.Fields(c.own)) {
				got = append(got, f.Path)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			for _, f := range d.Files {
				if f.Used != slices.Contains(got, f.Path) {
					t.Errorf("%s is used: %v", f.Path, f.Used)
				}
				if strings.HasSuffix(f.Path, "~") || strings.Count(f.Path, "/") > 1 {
					t.Errorf("%s counts as a file", f.Path)
				}
			}
			if said := langtest.Summaries(report); len(said) > 0 {
				t.Errorf("diagnostics: %q", said)
			}
		})
	}
}

// TestFiles checks the format of a config file, the sections that it takes from another one, and
// which layer gives its values.
func TestFiles(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		file, arguments string
		format          string
		want            string // the values
		said            []string
	}{
		"by its name":                 {"x.yaml", ``, "yaml", `{}`, nil},
		"by its name, with content":   {"x.json", `content = ""`, "raw", `{}`, nil},
		"TOML":                        {"x.toml", ``, "raw", `{}`, nil},
		"by another name":             {"x.cfg", `values = { s = { x = 1 } }`, "ini", `{"s":{"x":1}}`, nil},
		"said":                        {"x.yaml", `format = "properties"; values = { x = 1 }`, "properties", `{"x":1}`, nil},
		"of another file":             {"x.cfg", `from = "base.conf"; values = { a = { x = 2 } }`, "ini", `{"a":{"x":2,"y":1},"b":{"z":1}}`, nil},
		"a part of another file":      {"x.cfg", `from = "base.conf"; only = ["b"]; values = { a = { w = 2 } }`, "ini", `{"a":{"w":2},"b":{"z":1}}`, nil},
		"nothing of another file":     {"x.cfg", `from = "base.conf"; only = []`, "ini", `{}`, nil},
		"a part of a part":            {"x.cfg", `from = "part.cfg"; only = ["a", "b"]`, "ini", `{"b":{"z":1}}`, nil},
		"a part of nothing":           {"x.cfg", `from = "none.cfg"; only = ["b"]`, "ini", `{}`, nil},
		"the cloud's defaults":        {"x.conf", `values = { b = { z = 1 } }`, "ini", `{"b":{"z":3}}`, nil},
		"of a file that is not there": {"x.cfg", `from = "bas.conf"`, "ini", `{}`, []string{`There is no config file "bas.conf"`}},
		"of itself":                   {"x.cfg", `from = "x.cfg"`, "ini", `{}`, []string{"Circular reference"}},
		"a part that is computed":     {"x.cfg", `from = "base.conf"; only = [local.x]`, "ini", `{"a":{"x":1,"y":1},"b":{"z":1}}`, []string{`Unsuitable value for "only"`}},
	} {
		t.Run(title, func(t *testing.T) {
			report := diag.New()
			root, _ := langtest.Module(t, report, fmt.Sprintf(`
definition "a" {
  config "base.conf" {
    path   = "/base"
    values = { a = { x = 1, y = 1 }, b = { z = 1 } }
  }
  config "part.cfg" {
    from = "base.conf"
    only = ["b", "c"]
  }
  config "none.cfg" {
    from = "base.conf"
    only = []
  }
  config %q {
    path = "/x"
    %s
  }
}
cloud "c" {
  release = "2025.1"
  defaults {
    config "x.conf" { values = { b = { z = 3 } } }
  }
}
`, c.file, strings.ReplaceAll(c.arguments, "; ", "\n")))
			e := langtest.Env(report)
			definition := root.Document.One("definition", "a")
			files := &settings.Files{
				Whole: definition, Enabled: definition, Defaults: root.Document.One("cloud", "c").One("defaults", "").All("config"),
				Constant: e, Leaves: settings.LeafMemo{},
			}
			merged, _ := files.Merge()[c.file].Object(e)
			if got := text(t, merged); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := files.Format(definition.One("config", c.file)); got != c.format {
				t.Errorf("the format is %q, want %q", got, c.format)
			}
			if said := slices.Compact(langtest.Summaries(report)); !slices.Equal(said, append([]string{}, c.said...)) {
				t.Errorf("diagnostics: %q, want %q", said, c.said)
			}
		})
	}
}

package lang_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// layered is a cloud with a config directory: one service of each definition.
const layered = `
cloud "test" {
  release    = "2025.1"
  config_dir = "./config"
  defaults {
    config "*.conf" {
      values = %s
    }
  }
}

definition "own" {
  config "own.conf" {
    path   = "/etc/own.conf"
    values = { DEFAULT = { a = "definition", b = "definition", c = "definition", d = "definition", e = "definition", f = "definition" } }
  }
  config "extra.ini" {
    path = "/etc/extra.ini"
  }
  config "own.properties" {
    format = "properties"
    path   = "/etc/own.properties"
    values = { "a.b" = "definition", "a.c" = "definition" }
  }
  config "text" {
    format  = "raw"
    path    = "/etc/text"
    content = "definition"
  }
}

service "own" {
  %s
}
`

// options are the values of a config file as "SECTION/KEY: LAYER FILE:LINE,COLUMN-COLUMN VALUES".
func options(t *testing.T, config *configs.Config, service, file string) []string {
	t.Helper()
	dir := filepath.Dir(firstFile(config, "cloud.hcl"))
	for _, s := range config.Services {
		for _, f := range s.Configs {
			if s.Name != service || f.Name != file {
				continue
			}
			var out []string
			for _, o := range f.Options {
				var values []string
				for _, v := range o.Values {
					values = append(values, fmt.Sprintf("%q", show(v)))
				}
				at, err := filepath.Rel(dir, o.Origin.Range.String())
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, fmt.Sprintf("%s/%s: %s %s %s", o.Section, o.Key, o.Origin.Layer, at, strings.Join(values, " ")))
			}
			return out
		}
	}
	t.Fatalf("no file %s of service %s", file, service)
	return nil
}

func firstFile(config *configs.Config, base string) string {
	for name := range config.Files {
		if filepath.Base(name) == base && !strings.HasPrefix(name, configs.CatalogueDir) {
			return name
		}
	}
	return ""
}

// TestProject checks that files of an OpenStack project reach all definitions of the project, below
// the definition's own files.
func TestProject(t *testing.T) {
	config, diags := load(t, lang.Options{},
		"cloud.hcl", fmt.Sprintf(layered, "{}", "")+`
definition "agent" {
  project = "own"
  config "agent.conf" {
    path   = "/etc/agent.conf"
    values = { DEFAULT = { a = "definition", b = "definition", c = "definition" } }
  }
}
service "agent" {}
service "second" { definition = "agent" }
`,
		"config/own.conf", "[DEFAULT]\na = project\nb = project\nc = project\n",
		"config/second.conf", "[DEFAULT]\nb = service\n",
		"config/own/agent.conf", "[DEFAULT]\nc = folder\n",
	)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	for service, b := range map[string]string{"agent": `config/own.conf:3,5-12 "project"`, "second": `config/second.conf:2,5-12 "service"`} {
		want := []string{
			`DEFAULT/a: directory config/own.conf:2,5-12 "project"`,
			"DEFAULT/b: directory " + b,
			`DEFAULT/c: directory config/own/agent.conf:2,5-11 "folder"`,
		}
		if diff := cmp.Diff(want, options(t, config, service, "agent.conf")); diff != "" {
			t.Errorf("%s -want +got:\n%s", service, diff)
		}
	}
}

// TestPrecedence checks which layer a config value is from when several set it.
func TestPrecedence(t *testing.T) {
	config, diags := load(t, lang.Options{},
		"cloud.hcl", fmt.Sprintf(layered, `{ DEFAULT = { b = "cloud", c = "cloud", d = "cloud", e = "cloud", f = "cloud" } }`,
			`config "own.conf" { values = { DEFAULT = { f = "service" } } }`),
		"config/global.conf", "[DEFAULT]\nc = global\nd = global\ne = global\nf = global\n",
		"config/own.conf", "[DEFAULT]\nd=root\ne=root\nf=root\n[new]\nx = 1\n",
		"config/own/own.conf", "[DEFAULT]\n# comment\ne: own\nf: own\n",
	)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	want := []string{
		`DEFAULT/a: definition cloud.hcl:15,32-44 "definition"`,
		`DEFAULT/b: cloud cloud.hcl:7,34-41 "cloud"`,
		`DEFAULT/c: directory config/global.conf:2,5-11 "global"`,
		`DEFAULT/d: directory config/own.conf:2,3-7 "root"`,
		`DEFAULT/e: directory config/own/own.conf:3,4-7 "own"`,
		`DEFAULT/f: service cloud.hcl:33,50-59 "service"`,
		`new/x: directory config/own.conf:6,5-6 "1"`,
	}
	if diff := cmp.Diff(want, options(t, config, "own", "own.conf")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := options(t, config, "own", "extra.ini"); len(got) > 0 {
		t.Errorf("global.conf and own.conf are not for extra.ini: %q", got)
	}
}

// TestRemoval checks that null takes a key or a section of any weaker layer away, and
// that a list takes the place of a list.
func TestRemoval(t *testing.T) {
	const global = "[DEFAULT]\nb = global\n[section]\nx = 1\ny = 2\n[list]\nx = 1\nx = 2\n"
	tests := map[string]struct{ cloud, service, directory, want string }{
		"cloud takes from the definition":      {"{ DEFAULT = { a = null } }", "{}", "", "b c d e f"},
		"cloud takes a section":                {"{ DEFAULT = null }", "{}", "", ""},
		"directory sets what the cloud took":   {"{ DEFAULT = null }", "{}", global, "b list/x=1|2 section/x section/y"},
		"service takes from the directory":     {"{}", "{ DEFAULT = null, section = { x = null } }", global, "list/x=1|2 section/y"},
		"service takes a section":              {"{}", "{ DEFAULT = null, section = null, list = null }", global, ""},
		"service takes from cloud":             {"{ cloud = { x = 1, y = 2 } }", "{ DEFAULT = null, cloud = { y = null } }", "", "cloud/x"},
		"computed null":                        {"{ DEFAULT = local.none }", "{}", "", "b c d e f"},
		"list over list":                       {"{ list = { x = [9, 8] } }", "{ DEFAULT = null }", "", "list/x=9,8"},
		"list of the service":                  {"{}", "{ DEFAULT = null, section = null, list = { x = [3] } }", global, "list/x=3"},
		"list of the directory":                {"{ list = { x = [9, 8] } }", "{ DEFAULT = null, section = null }", global, "list/x=1|2"},
		"repeated key over repeated directory": {"{}", "{ DEFAULT = null, section = null, list = { x = [[5], [6, 7]] } }", global, "list/x=5|6,7"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			config, diags := load(t, lang.Options{},
				"cloud.hcl", fmt.Sprintf(layered, test.cloud, `config "own.conf" { values = `+test.service+` }`),
				"more.hcl", "locals {\n  none = { a = null }\n}\n",
				"config/global.conf", test.directory)
			if len(diags) > 0 {
				t.Fatalf("diagnostics:\n%s", render(diags, ""))
			}
			var got []string
			for _, o := range config.Services[0].Configs[0].Options {
				place := strings.TrimPrefix(o.Section+"/"+o.Key, "DEFAULT/")
				if o.Section == "list" {
					place += "=" + configs.Join(o.Values, "|").Masked()
				}
				got = append(got, place)
			}
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("%q, not %q", got, test.want)
			}
		})
	}
}

// TestDialect checks what the lines of an INI file in the config directory mean.
func TestDialect(t *testing.T) {
	tests := map[string]struct {
		source string
		want   []string
	}{
		"repeated key":        {"[a]\nk = 1\nj = x\nk = 2\n", []string{`a/j: directory config/own.conf:3,5-6 "x"`, `a/k: directory config/own.conf:2,5-4,6 "1" "2"`}},
		"section again":       {"[a]\nk = 1\n[b]\nx = 1\n[a]\nk = 2\n", []string{`a/k: directory config/own.conf:2,5-6,6 "1" "2"`, `b/x: directory config/own.conf:4,5-6 "1"`}},
		"continuation":        {"[a]\nk = 1,\n  2,\n\t3\n", []string{`a/k: directory config/own.conf:2,5-4,3 "1,\n    2,\n    3"`}},
		"continued empty":     {"[a]\nk =\n  x\n", []string{`a/k: directory config/own.conf:2,4-3,4 "\n    x"`}},
		"empty":               {"[a]\nk =\n", []string{`a/k: directory config/own.conf:2,4-4 ""`}},
		"quotes":              {"[a]\nk = \" x \"\n", []string{`a/k: directory config/own.conf:2,5-10 "\" x \""`}},
		"no interpolation":    {"[a]\nk = %(x)s ${y} $z %%\n", []string{`a/k: directory config/own.conf:2,5-21 "%(x)s ${y} $z %%"`}},
		"no comment at end":   {"[a]\nk = 1 # 2 ; 3\n", []string{`a/k: directory config/own.conf:2,5-14 "1 # 2 ; 3"`}},
		"comments":            {"# 1\n[a]\n;k = 1\nk = 2\n", []string{`a/k: directory config/own.conf:4,5-6 "2"`}},
		"colon in the value":  {"[a]\nk = http://x:1/\n", []string{`a/k: directory config/own.conf:2,5-16 "http://x:1/"`}},
		"Windows line breaks": {"[a]\r\nk = 1\r\n", []string{`a/k: directory config/own.conf:2,5-6 "1"`}},
		"byte order mark":     {"\ufeff[a]\nk = 1\n", []string{`a/k: directory config/own.conf:2,5-6 "1"`}},
		"wide characters":     {"[a]\ne\u0301 = \u00e9\U0001f44d\U0001f3fd\n", []string{"a/e\u0301: directory config/own.conf:2,5-7 \"\u00e9\U0001f44d\U0001f3fd\""}},
		"no line break":       {"[a]\nk = 1", []string{`a/k: directory config/own.conf:2,5-6 "1"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			config, diags := load(t, lang.Options{},
				"cloud.hcl", fmt.Sprintf(layered, "{ DEFAULT = null }", ""),
				"config/own.conf", test.source)
			if len(diags) > 0 {
				t.Fatalf("diagnostics:\n%s", render(diags, ""))
			}
			if diff := cmp.Diff(test.want, options(t, config, "own", "own.conf")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestDirectoryFiles is about files that are not INI: properties are merged, raw files
// are replaced.
func TestDirectoryFiles(t *testing.T) {
	files := []string{
		"config/own/own.properties", "# comment\n  a.c = directory\na:b = 1\n",
		"config/own/text", "directory\n",
		"config/own/.hidden", "",
		"config/own/text~", "",
	}
	config, diags := load(t, lang.Options{}, append([]string{"cloud.hcl", fmt.Sprintf(layered, "{}", "")}, files...)...)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	want := []string{
		`/a.b: definition cloud.hcl:23,24-36 "definition"`,
		`/a.c: directory config/own/own.properties:2,9-18 "directory"`,
		`/a:b: directory config/own/own.properties:3,7-8 "1"`,
	}
	if diff := cmp.Diff(want, options(t, config, "own", "own.properties")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := config.Services[0].Configs[3].Content.Masked(); got != "directory\n" {
		t.Errorf("the raw file is %q", got)
	}
	for i, want := range map[int]string{0: "cloud.hcl:13", 2: "config/own/own.properties:2", 3: "config/own/text:1"} {
		at := config.Services[0].Configs[i].Range
		if got := fmt.Sprintf("%s:%d", at.Filename, at.Start.Line); !strings.HasSuffix(got, "/"+want) {
			t.Errorf("file %d is declared at %s, not %s", i, got, want)
		}
	}
	config, diags = load(t, lang.Options{}, append([]string{"cloud.hcl", fmt.Sprintf(layered, "{}", `config "text" { content = "service" }`)}, files...)...)
	if got := config.Services[0].Configs[3].Content.Masked(); got != "service" || len(diags) > 0 {
		t.Errorf("the raw file of the service is %q\n%s", got, render(diags, ""))
	}
}

// TestDirectoryNames is about whom the names in the config directory mean.
func TestDirectoryNames(t *testing.T) {
	config, diags := load(t, lang.Options{}, "cloud.hcl", `
cloud "test" {
  release    = "2025.1"
  config_dir = "config"
}

definition "image" {
  config "image-api.conf" {
    path = "/etc/image-api.conf"
  }
}

service "pictures" {
  for_each   = toset(["a", "b"])
  definition = "image"
}

service "other" {
  definition = "image"
  name       = "renamed"
}
`,
		"config/image.conf", "[x]\na = definition\nb = definition\nc = definition\n",
		"config/pictures.conf", "[x]\nb = label\n",
		"config/pictures-b/image-api.conf", "[x]\nc = instance\n",
		"config/renamed/image-api.conf", "[x]\nc = name\n",
	)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	got := map[string]string{}
	for _, s := range config.Services {
		for _, o := range s.Configs[0].Options {
			got[s.Name] += o.Values[0].Masked() + " "
		}
	}
	want := map[string]string{
		"pictures-a": "definition label definition ",
		"pictures-b": "definition label instance ",
		"renamed":    "definition definition name ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDirectoryDigest checks that what the config directory holds is a part of the
// configuration.
func TestDirectoryDigest(t *testing.T) {
	digest := func(files ...string) string {
		config, diags := load(t, lang.Options{}, append([]string{"cloud.hcl", fmt.Sprintf(layered, "{}", "")}, files...)...)
		if diags.HasErrors() {
			t.Fatalf("diagnostics:\n%s", render(diags, ""))
		}
		return config.Digest
	}
	one := digest("config/own.conf", "[a]\nk = 1\n")
	if digest("config/own.conf", "[a]\nk = 1\n") != one {
		t.Error("the same files have another digest")
	}
	if digest("config/own.conf", "[a]\nk = 2\n") == one {
		t.Error("another value has the same digest")
	}
	if digest("config/own.conf", "[a]\nk = 1\n", "config/global.conf", "") == one {
		t.Error("one more file has the same digest")
	}
}

// FuzzINI checks that no override makes Load panic, that the values it finds lie in the
// file, and that what is written of them is read as the same.
func FuzzINI(f *testing.F) {
	for _, seed := range []string{"[a]\nk = 1\nk: 2\n 3\n", "\ufeff; x\n[DEFAULT]\r\né = '1'\r\n", "k = 1\n[\n[]\n = \n\tx\n", "[a]\n{{ x }} = {% y %}\n"} {
		f.Add(seed)
	}
	dir := f.TempDir()
	write := func(t testing.TB, name, content string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(f, "cloud.hcl", fmt.Sprintf(layered, "{ DEFAULT = null }", ""))
	read := func(t *testing.T, name, source string) (found []configs.Option, ok bool) {
		write(t, filepath.Join("config", "own", name), source)
		config, diags := lang.Load(dir, lang.Options{})
		checkDiagnostics(t, diags, config.Files)
		if diags.HasErrors() {
			return nil, false
		}
		for _, c := range config.Services[0].Configs {
			for _, o := range c.Options {
				if o.Origin.Layer != "directory" {
					continue
				}
				if !o.Origin.Range.CanSliceBytes([]byte(source)) {
					t.Fatalf("%s is not in the file", o.Origin.Range)
				}
				found = append(found, o)
			}
		}
		return found, true
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, name := range []string{"own.conf", "own.properties"} {
			var again, want, got strings.Builder
			first, ok := read(t, name, source)
			for _, o := range first {
				if o.Section != "" {
					fmt.Fprintf(&again, "[%s]\n", o.Section)
				}
				for _, v := range o.Values {
					fmt.Fprintf(&again, "%s = %s\n", o.Key, v.Masked())
				}
				fmt.Fprintf(&want, "%q %q %v\n", o.Section, o.Key, o.Values)
			}
			if !ok {
				write(t, filepath.Join("config", "own", name), "")
				continue
			}
			second, _ := read(t, name, again.String())
			for _, o := range second {
				fmt.Fprintf(&got, "%q %q %v\n", o.Section, o.Key, o.Values)
			}
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("%s read again (-first +second):\n%s", name, diff)
			}
			write(t, filepath.Join("config", "own", name), "")
		}
	})
}

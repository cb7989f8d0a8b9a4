package lang_test

import (
	"testing"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// TestOptionalFiles checks that an optional file is there with the content that the config
// directory or a service gives it, and else nowhere.
func TestOptionalFiles(t *testing.T) {
	const cloud = `
cloud "c" {
  release    = "2025.1"
  config_dir = "config"
}

definition "web" {
  config "policy.yaml" {
    format   = "yaml"
    path     = "/etc/web/policy.yaml"
    optional = true
  }

  config "tree.json" {
    format = "json"
    path   = "/etc/web/tree.json"
    values = { a = { b = 1, c = [1], d = {} }, e = "x" }
  }

  config "extra" {
    format   = "raw"
    path     = "/etc/web/extra"
    optional = true
  }

  workload "w" {
    kind   = "Deployment"
    image  = "web"
    config = ["policy.yaml", "tree.json", "extra"]
  }
}
`
	files := map[string]string{
		"main.hcl":               cloud + "service \"web\" {\n}\n\nservice \"other\" {\n  definition = \"web\"\n}\n",
		"config/web/policy.yaml": "\"a:b\": role:admin\n",
		"config/web/tree.json":   `{"a": {"b": 2, "f": {"g": true}}, "e": null}`,
		"config/other/extra":     "more\n",
	}
	config, diags := lang.Load(writtenFiles(t, files), lang.Options{})
	if len(diags) > 0 {
		// A definition's own name is the directory of all its services.
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	got := map[string]string{}
	for _, s := range config.Services {
		for _, f := range s.Configs {
			got[s.Name+"/"+f.Name] = f.Content.Masked()
		}
		if mounted := s.Workloads[0].Pod.Configs; len(mounted) != len(s.Configs) {
			t.Errorf("%s mounts %q, and has %d files", s.Name, mounted, len(s.Configs))
		}
	}
	want := map[string]string{
		"web/policy.yaml":   "\"a:b\": \"role:admin\"\n",
		"web/tree.json":     `{"a":{"b":2,"c":[1],"d":{},"f":{"g":true}}}`,
		"other/policy.yaml": "\"a:b\": \"role:admin\"\n",
		"other/tree.json":   `{"a":{"b":2,"c":[1],"d":{},"f":{"g":true}}}`,
		"other/extra":       "more\n",
	}
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s is %q, want %q", name, got[name], content)
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d files, want %d", len(got), len(want))
	}
}

// TestSensitiveFiles checks that nothing of a sensitive file is shown, whoever gives it.
func TestSensitiveFiles(t *testing.T) {
	const cloud = `
cloud "c" {
  release    = "2025.1"
  config_dir = "config"
}

definition "web" {
  config "key" {
    format    = "raw"
    path      = "/etc/web/key"
    sensitive = true
    content   = "definition"
  }

  config "login.yaml" {
    format    = "yaml"
    path      = "/etc/web/login.yaml"
    sensitive = true
    values    = { login = "definition" }
  }

  config "web.conf" {
    path      = "/etc/web/web.conf"
    sensitive = true
    values    = { DEFAULT = { login = "definition" } }
  }

  config "part.conf" {
    from = "web.conf"
    path = "/etc/web/part.conf"
  }

  config "open.conf" {
    from      = "web.conf"
    path      = "/etc/web/open.conf"
    sensitive = false
  }

  workload "w" {
    kind   = "Deployment"
    image  = "web"
    config = ["key", "login.yaml", "web.conf", "part.conf", "open.conf"]
  }
}

service "web" {}

service "said" {
  definition = "web"

  config "key" {
    content = "service"
  }

  config "web.conf" {
    values = { DEFAULT = { login = "service" } }
  }
}

service "found" {
  definition = "web"
}
`
	config, diags := lang.Load(writtenFiles(t, map[string]string{
		"main.hcl":              cloud,
		"config/found/key":      "directory",
		"config/found/web.conf": "[DEFAULT]\nlogin = directory\n",
	}), lang.Options{})
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	if len(config.Services) != 3 {
		t.Fatalf("%d services", len(config.Services))
	}
	for _, s := range config.Services {
		for _, f := range s.Configs {
			texts := []configs.Text{f.Content}
			for _, o := range f.Options {
				texts = append(texts, o.Values...)
				for _, under := range o.Overrides {
					if under.Known && f.Name != "open.conf" {
						t.Errorf("%s, %s: what is overridden is shown: %v", s.Name, f.Name, under)
					}
				}
			}
			for _, text := range texts {
				if len(text) > 0 && text.Secret() == (f.Name == "open.conf") {
					t.Errorf("%s, %s: %v", s.Name, f.Name, text)
				}
			}
		}
	}
}

// TestFormatOfName checks that the name of a config file tells its format, where neither the
// definition nor the service says it.
func TestFormatOfName(t *testing.T) {
	const cloud = `
cloud "c" {
  release = "2025.1"
}

definition "web" {
  config "tree.yaml" {
    path   = "/etc/web/tree.yaml"
    values = { a = { b = 1 } }
  }

  config "tree.json" {
    path   = "/etc/web/tree.json"
    values = { a = { b = 1 } }
  }

  config "text.yml" {
    path    = "/etc/web/text.yml"
    content = "a: 2\n"
  }

  config "web.toml" {
    path    = "/etc/web/web.toml"
    content = "a = 3\n"
  }

  config "odd.yaml" {
    path   = "/etc/web/odd.yaml"
    format = "ini"
    values = { a = { b = 4 } }
  }

  workload "w" {
    kind   = "Deployment"
    image  = "web"
    config = ["tree.yaml", "tree.json", "text.yml", "web.toml", "odd.yaml"]
  }
}

service "web" {
  config "tree.yaml" {
    values = { a = { c = 2 } }
  }

  config "odd.yaml" {
    values = { a = { c = 5 } }
  }

  config "text.yml" {
    content = "a: 3\n"
  }
}
`
	config, diags := lang.Load(writtenFiles(t, map[string]string{"main.hcl": cloud}), lang.Options{})
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	want := map[string]string{"tree.yaml": "\"a\":\n  \"b\": 1\n  \"c\": 2\n", "text.yml": "a: 3\n", "web.toml": "a = 3\n", "odd.yaml": ""}
	for _, f := range config.Services[0].Configs {
		if text, given := want[f.Name]; given && f.Content.Masked() != text || (f.Name == "odd.yaml") != (f.Format == "ini") {
			t.Errorf("%s is %s: %q", f.Name, f.Format, f.Content.Masked())
		}
	}
}

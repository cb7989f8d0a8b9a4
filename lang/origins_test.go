package lang_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
)

// TestOverrides checks that every option knows what it took the place of, as far as
// that may be said.
func TestOverrides(t *testing.T) {
	tests := []struct {
		name                       string
		definition, cloud, service string
		want                       []string
	}{
		{
			"every layer", `{ a = { x = 1 } }`, `{ a = { x = 2 } }`, `{ a = { x = 3 } }`,
			[]string{"x = 3 (service): 2 (cloud) 1 (definition)"},
		},
		{
			"nothing", `{ a = { x = 1 } }`, "", "",
			[]string{"x = 1 (definition):"},
		},
		{
			"not evaluated", `{ a = { x = upper("a") } }`, "", `{ a = { x = "b" } }`,
			[]string{"x = b (service): ? (definition)"},
		},
		{
			"lists and empty texts", `{ a = { x = [1, 2], y = "" } }`, "", `{ a = { x = [3], y = "b" } }`,
			[]string{"x = 3 (service): 1,2 (definition)", "y = b (service):  (definition)"},
		},
		{
			"maps that are not written out", `{ a = merge({ x = 1, y = 1 }, {}) }`, `{ a = { x = 2 } }`, `{ a = { x = 3 } }`,
			[]string{"x = 3 (service): 2 (cloud) 1 (definition)", "y = 1 (definition):"},
		},
		{
			"evaluated over written out", `{ a = { x = 1 } }`, "", `var.yes ? { a = { x = 3 } } : {}`,
			[]string{"x = 3 (service): 1 (definition)"},
		},
		{
			"a secret over a literal", `{ a = { x = "hunter2" } }`, "", `{ a = { x = sensitive("b") } }`,
			[]string{"x = (sensitive) (service): ? (definition)"},
		},
		{
			"a literal over a secret", `{ a = merge({ x = sensitive("hunter2") }) }`, "", `{ a = { x = "b" } }`,
			[]string{"x = b (service): ? (definition)"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config, diags := load(t, lang.Options{}, mergeConfig(tt.definition, tt.cloud, tt.service))
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			var got []string
			for _, o := range config.Services[0].Configs[0].Options {
				row := fmt.Sprintf("%s = %s (%s):", o.Key, o.Values[0].Masked(), o.Origin.Layer)
				for _, weaker := range o.Overrides {
					text := weaker.Text
					if !weaker.Known {
						text += "?"
					}
					row += fmt.Sprintf(" %s (%s)", text, weaker.Layer)
				}
				got = append(got, row)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("overrides (-want +got):\n%s", diff)
			}
		})
	}
}

// TestContentOrigin checks that a raw file knows who wrote it.
func TestContentOrigin(t *testing.T) {
	const others = "cloud \"test\" {\n  release = \"2025.1\"\n}\nservice \"mariadb\" {}\nservice \"memcached\" {}\n"
	for service, want := range map[string]string{
		"service \"keystone\" {}\n": "definition <catalogue>/keystone.hcl:33",
		"service \"keystone\" {\n  config \"policy.json\" {\n    content = \"{}\"\n  }\n}\n": "service cloud.hcl:8",
	} {
		config, diags := load(t, lang.Options{}, others+service)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for _, s := range config.Services {
			for _, file := range s.Configs {
				if file.Name != "policy.json" {
					continue
				}
				at := file.Origin.Range
				if got := fmt.Sprintf("%s %s:%d", file.Origin.Layer, trimDir(at.Filename), at.Start.Line); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		}
	}
}

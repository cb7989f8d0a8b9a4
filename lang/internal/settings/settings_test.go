package settings_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/langtest"
	"kolla.openstack.org/kolla/lang/internal/settings"
)

// TestMerge holds which layer gives a config value: the service before the cloud's defaults
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
		"one layer":         {depth: ini, definition: `{ api = { workers = 2 } }`, want: `{"api":{"workers":2}}`},
		"key by key":        {depth: ini, definition: `{ api = { workers = 2, debug = false } }`, service: `{ api = { debug = true } }`, want: `{"api":{"debug":true,"workers":2}}`},
		"all layers":        {depth: ini, definition: `{ a = { x = 1, y = 1, z = 1 } }`, cloud: `{ a = { y = 2, z = 2 } }`, service: `{ a = { z = 3 } }`, want: `{"a":{"x":1,"y":2,"z":3}}`},
		"a computed map":    {depth: ini, definition: `{ a = { x = 1, y = 1 } }`, service: `{ a = merge({ y = 2 }, { z = 2 }) }`, want: `{"a":{"x":1,"y":2,"z":2}}`},
		"null":              {depth: ini, definition: `{ a = { x = 1, y = 1 } }`, service: `{ a = { x = null } }`, want: `{"a":{"y":1}}`},
		"null section":      {depth: ini, definition: `{ a = { x = 1 }, b = { y = 1 } }`, service: `{ a = null }`, want: `{"b":{"y":1}}`},
		"null of nothing":   {depth: ini, definition: `{ a = { workers = 1 } }`, service: `{ a = { wokers = null } }`, want: `{"a":{"workers":1}}`, said: []string{"Nothing to remove"}},
		"only":              {depth: ini, definition: `{ a = { x = 1 } }`, cloud: `{ a = { x = 2 }, b = { x = 2 } }`, only: []string{"a"}, want: `{"a":{"x":2}}`},
		"a value, no map":   {depth: ini, definition: `{ a = 1 }`, want: `{}`, said: []string{"Section expected"}},
		"no map at all":     {depth: ini, definition: `[1]`, want: `{}`, said: []string{"Unsuitable config values"}},
		"twice":             {depth: ini, definition: `{ a = { x = 1, "x" = 2 } }`, want: `{"a":{"x":1}}`, said: []string{`Second value for "x"`}},
		"a list is whole":   {depth: ini, definition: `{ a = { x = [1, 2] } }`, service: `{ a = { x = [3] } }`, want: `{"a":{"x":[3]}}`},
		"without sections":  {depth: properties, definition: `{ x = 1, y = 1 }`, service: `{ y = 2 }`, want: `{"x":1,"y":2}`},
		"cloud, no section": {depth: ini, definition: `{ a = { x = 1 } }`, cloud: `{ x = 2 }`, want: `{"a":{"x":1}}`},
		"cloud, a section":  {depth: properties, definition: `{ x = 1 }`, cloud: `{ x = { y = 2 } }`, want: `{"x":1}`},
		"nested":            {depth: yaml, definition: `{ a = { b = { c = 1, d = 1 } } }`, service: `{ a = { b = { d = 2 } } }`, want: `{"a":{"b":{"c":1,"d":2}}}`},
		"a map by a value":  {depth: yaml, definition: `{ a = { b = 1 } }`, service: `{ a = 2 }`, want: `{"a":2}`},
		"a value by a map":  {depth: yaml, definition: `{ a = 1 }`, service: `{ a = { b = 2 } }`, want: `{"a":{"b":2}}`},
	} {
		t.Run(name, func(t *testing.T) {
			report := diag.New()
			e := langtest.Env(report)
			var layers []*settings.Layer
			for _, layer := range []struct{ name, text string }{{configs.LayerDefinition, c.definition}, {configs.LayerCloud, c.cloud}, {configs.LayerService, c.service}} {
				if layer.text == "" {
					continue
				}
				l := &settings.Layer{Name: layer.name, Expr: langtest.Expression(t, layer.text), Eval: e}
				if layer.name == configs.LayerCloud {
					l.Only = c.only
				}
				layers = append(layers, l)
			}
			if got := text(t, settings.Merge(settings.LeafMemo{}, c.depth, layers).Object()); got != c.want {
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

// TestMergeDropsReferences holds that a value that a stronger layer overrides is not a
// dependency any more.
func TestMergeDropsReferences(t *testing.T) {
	t.Parallel()
	e := langtest.Env(diag.New())
	merged := settings.Merge(settings.LeafMemo{}, 2, []*settings.Layer{
		{Name: configs.LayerDefinition, Expr: langtest.Expression(t, `{ cache = { servers = service.memcached.servers }, database = { connection = service.mariadb.url } }`), Eval: e},
		{Name: configs.LayerService, Expr: langtest.Expression(t, `{ cache = { servers = "192.0.2.1" } }`), Eval: e},
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

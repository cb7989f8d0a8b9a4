package jsonview_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// written returns the output of a function as compact JSON.
func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var out, compact bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&compact, out.Bytes()); err != nil {
		t.Fatal(err)
	}
	return compact.String()
}

// TestOutputChanges checks how a plan describes an output, and that it never contains the value of
// a sensitive output.
func TestOutputChanges(t *testing.T) {
	number := func(value string) *state.Output {
		return &state.Output{Name: "x", Type: json.RawMessage(`"number"`), Value: json.RawMessage(value)}
	}
	unknown := &state.Output{Name: "x"}
	secret := &state.Output{Name: "x", Sensitive: true, Value: json.RawMessage(`"hunter2"`)}
	tests := map[string]struct {
		change output.Change
		want   string // in the plan
		event  string
	}{
		"new":               {output.Change{After: number("3")}, `{"actions":["create"],"after":3,"after_sensitive":false,"after_unknown":false,"before":null,"before_sensitive":false}`, "create"},
		"changed":           {output.Change{Before: number("2"), After: number("3")}, `{"actions":["update"],"after":3,"after_sensitive":false,"after_unknown":false,"before":2,"before_sensitive":false}`, "update"},
		"gone":              {output.Change{Before: number("2")}, `{"actions":["delete"],"after":null,"after_sensitive":false,"after_unknown":false,"before":2,"before_sensitive":false}`, "delete"},
		"unchanged":         {output.Change{Before: number("2"), After: number("2")}, `{"actions":["no-op"],"after":2,"after_sensitive":false,"after_unknown":false,"before":2,"before_sensitive":false}`, ""},
		"not known yet":     {output.Change{Before: number("2"), After: unknown, Unknown: true}, `{"actions":["update"],"after":null,"after_sensitive":false,"after_unknown":true,"before":2,"before_sensitive":false}`, "update"},
		"secret":            {output.Change{After: secret}, `{"actions":["create"],"after":"(sensitive value)","after_sensitive":true,"after_unknown":false,"before":null,"before_sensitive":false}`, "create"},
		"was secret":        {output.Change{Before: secret}, `{"actions":["delete"],"after":null,"after_sensitive":false,"after_unknown":false,"before":"(sensitive value)","before_sensitive":true}`, "delete"},
		"secret, not known": {output.Change{Before: number("2"), After: secret, Unknown: true}, `{"actions":["update"],"after":null,"after_sensitive":true,"after_unknown":true,"before":2,"before_sensitive":false}`, "update"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.change.Name = "x"
			plan := &plans.Plan{Values: true, Outputs: []output.Change{test.change}}
			read := document(t, plan)
			got, err := json.Marshal(within(read, "output_changes", "x"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
			said := events(t, func(e *jsonview.Events) { e.Plan(plan) })
			action := words(within(said[1], "outputs", "x", "action"))
			if action != test.event {
				t.Errorf("the event says %q, want %q", action, test.event)
			}
			if all, _ := json.Marshal([]any{read, said}); strings.Contains(string(all), "hunter2") {
				t.Errorf("the value is in %s", all)
			}
		})
	}
}

// TestOutputValues checks how `kolla output -json` prints a value.
func TestOutputValues(t *testing.T) {
	tests := map[string]struct {
		output configs.Output
		want   string
	}{
		"a value":       {configs.Output{Value: cty.NumberIntVal(3)}, `{"x":{"sensitive":false,"type":"number","value":3}}`},
		"null":          {configs.Output{Value: cty.NullVal(cty.String)}, `{"x":{"sensitive":false,"type":"string","value":null}}`},
		"not known yet": {configs.Output{Value: cty.UnknownVal(cty.String)}, `{"x":{"sensitive":false,"type":"string","value":null}}`},
		"a part is not": {configs.Output{Value: cty.TupleVal([]cty.Value{cty.True, cty.UnknownVal(cty.Bool)})}, `{"x":{"sensitive":false,"type":["tuple",["bool","bool"]],"value":null}}`},
		"sensitive":     {configs.Output{Value: cty.StringVal("hunter2"), Sensitive: true}, `{"x":{"sensitive":true,"type":"string","value":null}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.output.Name = "x"
			if diff := cmp.Diff(test.want, written(t, func(w io.Writer) error { return jsonview.OutputValues(w, []configs.Output{test.output}) })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := written(t, func(w io.Writer) error {
		return jsonview.OutputValue(w, configs.Output{Value: cty.ListVal([]cty.Value{cty.StringVal("a")})})
	}); got != `["a"]` {
		t.Errorf("one value is %s", got)
	}
}

// TestConfigFiles checks how the JSON of a config file describes values and their origins.
func TestConfigFiles(t *testing.T) {
	origin := func(layer string, line int) configs.Origin {
		return configs.Origin{Layer: layer, Range: hcl.Range{Filename: "cloud.hcl", Start: hcl.Pos{Line: line}}}
	}
	option := func(values ...configs.Text) []configs.Option {
		return []configs.Option{{Section: "api", Key: "x", Values: values, Origin: origin(configs.LayerService, 3)}}
	}
	overrides := option(configs.Plain("3"))
	overrides[0].Overrides = []configs.Override{{Origin: origin(configs.LayerCloud, 2), Text: "2", Known: true}, {Origin: origin(configs.LayerDefinition, 1)}}
	tests := map[string]struct {
		file configs.ConfigFile
		want string // in the file
	}{
		"a value":     {configs.ConfigFile{Format: "ini", Options: option(configs.Plain("1"))}, `"values":[{"section":"api","key":"x","values":["1"],"sensitive":false,"origin":{"layer":"service","filename":"cloud.hcl","line":3}}]`},
		"a list":      {configs.ConfigFile{Format: "ini", Options: option(configs.Plain("1"), configs.Plain("2"))}, `"values":[{"section":"api","key":"x","values":["1","2"],"sensitive":false,"origin":{"layer":"service","filename":"cloud.hcl","line":3}}]`},
		"a secret":    {configs.ConfigFile{Format: "ini", Options: option(configs.Plain("1"), configs.Text{{Literal: "u:"}, {Literal: "hunter2", Sensitive: true}})}, `"values":[{"section":"api","key":"x","values":["1","u:(sensitive)"],"sensitive":true,"origin":{"layer":"service","filename":"cloud.hcl","line":3}}]`},
		"overrides":   {configs.ConfigFile{Format: "ini", Options: overrides}, `"values":[{"section":"api","key":"x","values":["3"],"sensitive":false,"origin":{"layer":"service","filename":"cloud.hcl","line":3},"overrides":[{"layer":"cloud","filename":"cloud.hcl","line":2,"value":"2"},{"layer":"definition","filename":"cloud.hcl","line":1}]}]`},
		"a raw file":  {configs.ConfigFile{Format: "raw", Origin: origin(configs.LayerDirectory, 7)}, `"origin":{"layer":"directory","filename":"cloud.hcl","line":7}`},
		"without any": {configs.ConfigFile{Format: "ini"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.file.Name = "a.conf"
			got := written(t, func(w io.Writer) error {
				return jsonview.ConfigFiles(w, "a", []jsonview.ConfigFile{{File: test.file, Mounted: []jsonview.Mounted{{Path: "/etc/a", Content: "c"}}}})
			})
			want := `{"format_version":"1.0","service":"a","files":[{"name":"a.conf","format":"` + test.file.Format + `","mounted":[{"path":"/etc/a","secret":false,"content":"c"}]`
			if test.want != "" {
				want += "," + test.want
			}
			if diff := cmp.Diff(want+"}]}", got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestState checks that a state without a lineage has no values, and where the values of other
// states are.
func TestState(t *testing.T) {
	object := state.Object{Address: `module.m.service.a["k"]/Service/a`, APIVersion: "v1", Kind: "Service", Namespace: "openstack", Name: "a", UID: "u", Ready: true, Holds: "data"}
	secret := state.Output{Name: "s", Sensitive: true, Value: json.RawMessage(`"hunter2"`)}
	tests := map[string]struct {
		state state.State
		want  string
	}{
		"never applied": {state.State{}, `{"format_version":"1.0","kolla_version":"v1"}`},
		"empty":         {state.State{Lineage: "l"}, `{"format_version":"1.0","kolla_version":"v1","values":{"outputs":{},"root_module":{}},"kolla":{"cloud":"","cluster":{"uid":"","server":""},"lineage":"l","serial":0}}`},
		"a secret":      {state.State{Lineage: "l", Outputs: []state.Output{secret}}, `{"format_version":"1.0","kolla_version":"v1","values":{"outputs":{"s":{"sensitive":true,"value":null}},"root_module":{}},"kolla":{"cloud":"","cluster":{"uid":"","server":""},"lineage":"l","serial":0}}`},
		"an object": {
			state.State{Lineage: "l", Objects: []state.Object{object}},
			`{"format_version":"1.0","kolla_version":"v1","values":{"outputs":{},"root_module":{"child_modules":[{"address":"module.m","resources":[{"address":"module.m.service.a[\"k\"]/Service/a","mode":"managed","type":"Service","name":"a","index":"k","provider_name":"kolla.openstack.org/kolla/kubernetes","schema_version":0,"values":{"apiVersion":"v1","kind":"Service","metadata":{"name":"a","namespace":"openstack","uid":"u"}},"sensitive_values":{},"kolla":{"ready":true,"applied":"0001-01-01T00:00:00Z","holds":"data"}}]}]}},"kolla":{"cloud":"","cluster":{"uid":"","server":""},"lineage":"l","serial":0}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, written(t, func(w io.Writer) error { return jsonview.State(w, &test.state, "v1") })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if err := jsonview.State(io.Discard, &state.State{Lineage: "l", Objects: []state.Object{{Address: "x"}}}, "v1"); err == nil {
		t.Error("a wrong address is written")
	}
}

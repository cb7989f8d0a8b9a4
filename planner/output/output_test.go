package output_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/state"
)

func TestCompare(t *testing.T) {
	text := func(name, typ, value string) *state.Output {
		return &state.Output{Name: name, Type: json.RawMessage(typ), Value: json.RawMessage(value)}
	}
	known := cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("<x>"), "n": cty.NumberIntVal(7)})
	const typ, value = `["object",{"a":"string","n":"number"}]`, `{"a":"<x>","n":7}`
	tests := map[string]struct {
		recorded *state.Output
		declared *configs.Output
		action   output.Action
		unknown  bool
		left     *state.Output // what an apply records
	}{
		"new":              {nil, &configs.Output{Value: known}, output.Create, false, text("o", typ, value)},
		"the same":         {text("o", typ, ` { "n": 7, "a":"\u003cx\u003e"} `), &configs.Output{Value: known}, output.NoOp, false, text("o", typ, value)},
		"another value":    {text("o", typ, `{"a":"y","n":7}`), &configs.Output{Value: known}, output.Update, false, text("o", typ, value)},
		"another type":     {text("o", `"string"`, `"7"`), &configs.Output{Value: cty.NumberIntVal(7)}, output.Update, false, text("o", `"number"`, `7`)},
		"gone":             {text("o", typ, value), nil, output.Delete, false, nil},
		"sensitive":        {nil, &configs.Output{Value: known, Sensitive: true}, output.Create, false, &state.Output{Name: "o", Sensitive: true}},
		"still sensitive":  {&state.Output{Name: "o", Sensitive: true}, &configs.Output{Value: known, Sensitive: true}, output.NoOp, false, &state.Output{Name: "o", Sensitive: true}},
		"sensitive by now": {text("o", typ, value), &configs.Output{Value: known, Sensitive: true}, output.Update, false, &state.Output{Name: "o", Sensitive: true}},
		"not known yet":    {nil, &configs.Output{Value: cty.DynamicVal}, output.Create, true, nil},
		"no longer known":  {text("o", typ, value), &configs.Output{Value: cty.UnknownVal(cty.String)}, output.Update, true, text("o", typ, value)},
		"known in part": {
			text("o", `"string"`, `"x"`), &configs.Output{Value: cty.TupleVal([]cty.Value{cty.True, cty.ObjectVal(map[string]cty.Value{"a": cty.DynamicVal, "b": cty.True})})},
			output.Update,
			true,
			text("o", `"string"`, `"x"`),
		},
		"null": {nil, &configs.Output{Value: cty.NullVal(cty.String)}, output.Create, false, text("o", `"string"`, "null")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var recorded []state.Output
			if test.recorded != nil {
				recorded = append(recorded, *test.recorded)
			}
			var declared []configs.Output
			if test.declared != nil {
				test.declared.Name = "o"
				declared = append(declared, *test.declared)
			}
			changes, err := output.Compare(recorded, declared)
			if err != nil {
				t.Fatal(err)
			}
			if len(changes) != 1 || changes[0].Action() != test.action || changes[0].Unknown != test.unknown {
				t.Errorf("changes are %+v, want %s, unknown %v", changes, test.action, test.unknown)
			}
			if test.unknown && (changes[0].After.Value != nil || changes[0].After.Type != nil) {
				t.Errorf("an output of which a part is unknown has the value %s", changes[0].After.Value)
			}
			var left []state.Output
			if test.left != nil {
				left = append(left, *test.left)
			}
			got := output.Recorded(changes)
			if len(got) != len(left) || len(got) == 1 && !got[0].Equal(left[0]) {
				t.Errorf("it leaves %+v, want %+v", got, left)
			}
			if output.Changes(changes) != (test.action != output.NoOp) {
				t.Errorf("whether it changes is told otherwise")
			}
		})
	}
}

// TestCompareByName has outputs in one order.
func TestCompareByName(t *testing.T) {
	changes, err := output.Compare([]state.Output{{Name: "b"}}, []configs.Output{{Name: "c", Value: cty.True}, {Name: "a", Value: cty.True}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range changes {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

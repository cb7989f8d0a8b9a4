package view_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/present/view"
)

func TestValue(t *testing.T) {
	tests := []struct {
		name  string
		value cty.Value
		want  string
	}{
		{"string", cty.StringVal("a \"b\" ${c} \x01"), `"a \"b\" $${c} \u0001"`},
		{"lines", cty.StringVal("a\nb"), `"a\nb"`},
		{"whole lines", cty.StringVal("a ${x}\n%{b}\n"), "<<-EOT\n  a $${x}\n  %%{b}\nEOT"},
		{"lines with the end of a heredoc", cty.StringVal("EOT\n"), "<<-EOT_\n  EOT\nEOT_"},
		{"whole lines in a list", cty.TupleVal([]cty.Value{cty.StringVal("a\n")}), "[\n  \"a\\n\",\n]"},
		{"numbers", cty.TupleVal([]cty.Value{cty.NumberIntVal(5000), cty.NumberFloatVal(1.5), cty.MustParseNumberVal("100000000000000000000")}), "[\n  5000,\n  1.5,\n  100000000000000000000,\n]"},
		{"bool", cty.True, "true"},
		{"null", cty.NullVal(cty.DynamicPseudoType), "null"},
		{"null of a type", cty.NullVal(cty.String), "tostring(null)"},
		{"list", cty.ListVal([]cty.Value{cty.StringVal("a")}), "tolist([\n  \"a\",\n])"},
		{"set", cty.SetVal([]cty.Value{cty.NumberIntVal(3), cty.NumberIntVal(1)}), "toset([\n  1,\n  3,\n])"},
		{"map", cty.MapVal(map[string]cty.Value{"b c": cty.True, "a": cty.False}), "tomap({\n  \"a\" = false\n  \"b c\" = true\n})"},
		{"object", cty.ObjectVal(map[string]cty.Value{"a": cty.ObjectVal(map[string]cty.Value{"b": cty.Zero})}), "{\n  \"a\" = {\n    \"b\" = 0\n  }\n}"},
		{"empty", cty.TupleVal([]cty.Value{cty.EmptyTupleVal, cty.EmptyObjectVal, cty.ListValEmpty(cty.String)}), "[\n  [],\n  {},\n  tolist([]),\n]"},
		{"unknown", cty.ObjectVal(map[string]cty.Value{"a": cty.UnknownVal(cty.String), "b": cty.DynamicVal}), "{\n  \"a\" = (known after apply)\n  \"b\" = (known after apply)\n}"},
		{"marked", cty.StringVal("hunter2\n").Mark("any"), "(sensitive value)"},
		{"marked in it", cty.ObjectVal(map[string]cty.Value{"a": cty.TupleVal([]cty.Value{cty.StringVal("hunter2").Mark("any"), cty.True})}), "{\n  \"a\" = [\n    (sensitive value),\n    true,\n  ]\n}"},
		{"marked map", cty.MapVal(map[string]cty.Value{"hunter2": cty.True}).Mark("any"), "(sensitive value)"},
		{"marked and unknown", cty.UnknownVal(cty.String).Mark("any"), "(sensitive value)"},
		{"capsule", cty.CapsuleVal(cty.Capsule("thing", reflect.TypeFor[int]()), new(int)), "(a value of type thing)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := view.Value(tt.value)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestValueReadsBack checks that HCL reads the original string from the printed one.
func TestValueReadsBack(t *testing.T) {
	for _, s := range []string{"", "a", "a\nb", "a\n", "\n", "EOT\n", "EOT\nEOT_\n", "${a}\n", "%{a}", "\\", "\"", "\t\x7f\u202e", "a\r\n", " x\n  y\n", "x\n\n  y\n", "x\n \ny\n", "\n\nx\n", "x\t\n"} {
		written := view.Value(cty.StringVal(s)) + "\n"
		expr, diags := hclsyntax.ParseExpression([]byte(written), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Errorf("%q is written as %s: %v", s, written, diags)
			continue
		}
		if v, diags := expr.Value(nil); diags.HasErrors() || v.AsString() != s {
			t.Errorf("%q is read back as %#v from %s; %v", s, v, written, diags)
		}
	}
}

package values_test

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/langtest"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// TestTypeErrors checks that each part of a value with another type is named with its place, and
// that an attribute without effect is no error.
func TestTypeErrors(t *testing.T) {
	t.Parallel()
	want := cty.Map(cty.Object(map[string]cty.Type{"size": cty.Number, "disks": cty.List(cty.String)}))
	expr := langtest.Expression(t, `{
  good = { size = 1, disks = ["a"] }
  bad = {
    size  = "big"
    disks = ["a", []]
    shape = "round"
  }
}`)
	report := diag.New()
	v := langtest.Env(report).Value(expr)
	var got []string
	for _, e := range values.TypeErrors(v, want, values.Place{Name: "var.nodes", Expr: expr, Key: expr.Range(), Literal: true}) {
		text := diag.Position(e.At) + ": " + e.Why
		if e.Surplus {
			text = "without effect: " + text
		}
		got = append(got, text)
	}
	slices.Sort(got)
	if len(got) != 3 {
		t.Fatalf("got %q", got)
	}
	for i, start := range []string{"main.hcl:4: var.nodes[\"bad\"].size", "main.hcl:5: var.nodes[\"bad\"].disks[1]", "without effect: main.hcl:6"} {
		if len(got[i]) < len(start) || got[i][:len(start)] != start {
			t.Errorf("%d: %q does not start with %q", i, got[i], start)
		}
	}
}

// TestKindOf names the types of values as messages do.
func TestKindOf(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]cty.Value{
		"null":        cty.NullVal(cty.String),
		"a string":    cty.StringVal(""),
		"a number":    cty.Zero,
		"a bool":      cty.True,
		"a map":       cty.EmptyObjectVal,
		"a list":      cty.EmptyTupleVal,
		"a role":      cty.UnknownVal(values.RoleType),
		"an exposure": cty.UnknownVal(values.ExposureType),
	} {
		if got := values.KindOf(v); got != want {
			t.Errorf("%#v is %q, want %q", v, got, want)
		}
	}
}

// TestPlain checks that a value with anything unknown or secret in it is not plain.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value cty.Value
		want  bool
	}{
		{cty.StringVal("a"), true},
		{cty.NullVal(cty.String), true},
		{cty.ListVal([]cty.Value{cty.StringVal("a")}), true},
		{cty.ListVal([]cty.Value{cty.UnknownVal(cty.String)}), false},
		{cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("b").Mark(mark.Sensitive{})}), false},
		{cty.DynamicVal, false},
	} {
		if got := values.Plain(c.value); got != c.want {
			t.Errorf("%#v: %v", c.value, got)
		}
	}
}

package budget_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/lang/internal/budget"
)

func texts(n int) cty.Value {
	list := make([]cty.Value, n)
	for i := range list {
		list[i] = cty.StringVal(fmt.Sprint(i))
	}
	return cty.TupleVal(list)
}

// doubled is a value of 2ⁿ elements that needs little memory.
func doubled(n int) cty.Value {
	v := cty.True
	for range n {
		v = cty.TupleVal([]cty.Value{v, v})
	}
	return v
}

func TestSizeOf(t *testing.T) {
	marked := cty.ObjectVal(map[string]cty.Value{"ab": cty.StringVal("cde").Mark("secret")}).Mark("secret")
	for name, test := range map[string]struct {
		value cty.Value
		want  budget.Size
	}{
		"text":    {cty.StringVal("äb"), budget.Size{Text: 3, Parts: 1}},
		"null":    {cty.NullVal(cty.String), budget.Size{Parts: 1}},
		"unknown": {cty.UnknownVal(cty.List(cty.String)), budget.Size{Parts: 1}},
		"number":  {cty.MustParseNumberVal("1e300"), budget.Size{Text: 332, Parts: 1}},
		"list":    {texts(10), budget.Size{Text: 10, Parts: 11}},
		"marked":  {marked, budget.Size{Text: 5, Parts: 2}},
		"set":     {cty.SetVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}), budget.Size{Text: 2, Parts: 3, Sorts: 4}},
	} {
		if got, err := budget.SizeOf(test.value); err != nil || got != test.want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, test.want)
		}
	}
	for want, value := range map[string]cty.Value{
		"at most 16 MiB of text":  cty.StringVal(strings.Repeat("x", 16<<20+1)),
		"at most 100000 elements": doubled(60),
		"at most 20000 elements":  cty.SetVal(texts(20_001).AsValueSlice()),
		"at most 500 deep":        nested(501),
		"at most 10000 digits":    cty.StringVal("-" + strings.Repeat("1", 10_001)),
		"out of range":            cty.MustParseNumberVal("1e3000"),
		"infinite":                cty.PositiveInfinity,
	} {
		if _, err := budget.SizeOf(value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func nested(n int) cty.Value {
	v := cty.True
	for range n {
		v = cty.TupleVal([]cty.Value{v})
	}
	return v
}

// TestConvert checks that values are converted as the library does.
func TestConvert(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	primitive := func() cty.Value {
		return []cty.Value{cty.StringVal("a"), cty.StringVal("1"), cty.NumberIntVal(2), cty.True, cty.NullVal(cty.String), cty.NullVal(cty.DynamicPseudoType), cty.StringVal("b").Mark("m"), cty.UnknownVal(cty.String)}[random.IntN(8)]
	}
	kinds := []func() cty.Value{
		primitive,
		func() cty.Value { return cty.StringVal("same") },
		func() cty.Value { return cty.NumberIntVal(int64(random.IntN(9))) },
		func() cty.Value { return cty.TupleVal([]cty.Value{primitive(), cty.True}) },
		func() cty.Value { return cty.ListVal([]cty.Value{cty.StringVal("a")}) },
		func() cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": primitive()}) },
		func() cty.Value {
			return cty.ObjectVal(map[string]cty.Value{fmt.Sprint("k", random.IntN(2)): cty.StringVal("a")})
		},
	}
	wants := []cty.Type{
		cty.List(cty.DynamicPseudoType), cty.Set(cty.DynamicPseudoType), cty.Map(cty.DynamicPseudoType),
		cty.List(cty.String), cty.Set(cty.String), cty.Map(cty.String), cty.List(cty.Number), cty.List(cty.List(cty.String)),
		cty.List(cty.Object(map[string]cty.Type{"a": cty.String})), cty.Map(cty.Map(cty.String)), cty.String,
	}
	converted := 0
	for range 3000 {
		kind, second := kinds[random.IntN(len(kinds))], kinds[random.IntN(len(kinds))]
		list, entries := []cty.Value{}, map[string]cty.Value{}
		for i := range 60 + random.IntN(20) {
			v := kind()
			if random.IntN(100) == 0 {
				v = second()
			}
			list = append(list, v)
			entries[fmt.Sprint(i)] = v
		}
		for _, value := range []cty.Value{cty.TupleVal(list), cty.ObjectVal(entries).Mark("all")} {
			want := wants[random.IntN(len(wants))]
			expected, problem := convert.Convert(value, want)
			got, err := budget.Convert(value, want)
			if (err == nil) != (problem == nil) || err == nil && !got.RawEquals(expected) {
				t.Fatalf("%#v\nto %#v:\ngot  %#v, %v\nwant %#v, %v", value, want, got, err, expected, problem)
			}
			if err == nil {
				converted++
			}
		}
	}
	if converted < 500 {
		t.Errorf("only %d conversions succeed", converted)
	}
}

// TestConvertMany checks that long lists are converted one element after the other.
func TestConvertMany(t *testing.T) {
	many := texts(90_000)
	if v, err := budget.Convert(many, cty.List(cty.DynamicPseudoType)); err != nil || v.LengthInt() != 90_000 {
		t.Error(err)
	}
	if err := budget.Uniform(texts(4_000)); err != nil {
		t.Error(err)
	}
	if err := budget.Uniform(many); err == nil {
		t.Error("the library would compare 90,000 types with each other")
	}
	var objects []cty.Value
	for i := range 300 {
		attributes := map[string]cty.Value{}
		for j := range 30 {
			attributes[fmt.Sprintf("k%d_%d", i, j)] = cty.True
		}
		objects = append(objects, cty.ObjectVal(attributes))
	}
	if _, err := budget.Convert(cty.TupleVal(objects), cty.List(cty.DynamicPseudoType)); err == nil {
		t.Error("the library would compare 9,000 types with each other")
	}
}

// TestLargeClouds checks that values which need no common type are taken as they are, and that the
// nodes of a large cloud may be unlike each other.
func TestLargeClouds(t *testing.T) {
	nodes := map[string]cty.Value{}
	for i := range 1000 {
		node := map[string]cty.Value{"name": cty.StringVal("n"), "ip": cty.StringVal("i"), "zone": cty.StringVal("z"), "role": cty.StringVal("r"), "mtu": cty.NumberIntVal(9000)}
		if i > 0 {
			node["rack"] = cty.StringVal("k")
		}
		nodes[fmt.Sprint(i)] = cty.ObjectVal(node)
	}
	uneven := cty.ObjectVal(nodes)
	if err := budget.Uniform(uneven); err != nil {
		t.Errorf("as a branch of a condition: %v", err)
	}
	texts := make([]cty.Value, 20_000)
	for i := range texts {
		texts[i] = cty.StringVal("a")
	}
	for name, v := range map[string]cty.Value{"uneven nodes": uneven, "texts": cty.TupleVal(texts)} {
		for _, want := range []cty.Type{cty.DynamicPseudoType, v.Type()} {
			if got, err := budget.Convert(v, want); err != nil || !got.RawEquals(v) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestBudget checks that a budget that is exceeded stays so, at the place that was first.
func TestBudget(t *testing.T) {
	many := texts(500_000)
	for name, exceed := range map[string]func(*budget.Budget) error{
		"steps":  func(b *budget.Budget) error { return b.Spend(1_000_000) },
		"memory": func(b *budget.Budget) error { return b.Take(cty.StringVal(strings.Repeat("x", 10<<20)), 0) },
		"length": func(b *budget.Budget) error { return b.Pass(many, 0) },
		"reads":  func(b *budget.Budget) error { return b.Read(many) },
		"errors": func(b *budget.Budget) error { return b.Take(cty.True, 10_000) },
	} {
		b := budget.New()
		ctx := &hcl.EvalContext{}
		b.Into(ctx)
		if budget.Of(ctx.NewChild()) != b {
			t.Fatal("the context lacks its budget")
		}
		for range 100 {
			if exceed(b) != nil {
				break
			}
		}
		first, second := hcl.Range{Filename: "first"}, hcl.Range{Filename: "second"}
		b.Place(first)
		if at, err := b.Failure(second); err == nil || at != first || b.Spend(1) == nil {
			t.Errorf("%s: the budget is exceeded: %v, at %v", name, err, at)
		}
		b.Renew()
		if _, err := b.Failure(second); err != nil || b.Spend(1) != nil {
			t.Errorf("%s: the budget is not renewed: %v", name, err)
		}
	}
	if budget.Of(nil) != nil || budget.Of(&hcl.EvalContext{}) != nil {
		t.Error("there is a budget from nowhere")
	}
}

// TestBudgetOfAbsentValues gives values that are null or unknown, of every kind of type, to all
// that measures a value.
func TestBudgetOfAbsentValues(t *testing.T) {
	for _, typ := range []cty.Type{
		cty.String, cty.Number, cty.Bool, cty.DynamicPseudoType,
		cty.List(cty.String), cty.Set(cty.String), cty.Map(cty.String), cty.EmptyTuple, cty.EmptyObject,
		cty.Tuple([]cty.Type{cty.String, cty.Number}), cty.Object(map[string]cty.Type{"a": cty.List(cty.String)}),
	} {
		for _, v := range []cty.Value{cty.NullVal(typ), cty.UnknownVal(typ), cty.UnknownVal(typ).Mark("secret"), cty.TupleVal([]cty.Value{cty.UnknownVal(typ)})} {
			b := budget.New()
			for name, measured := range map[string]error{"Pass": b.Pass(v, 0), "Read": b.Read(v), "Take": b.Take(v, 0), "Unify": b.Unify(v)} {
				if measured != nil {
					t.Errorf("%s of %#v: %v", name, v, measured)
				}
			}
			for _, want := range []cty.Type{typ, cty.String, cty.List(cty.String), cty.Map(cty.String)} {
				_, err := budget.Convert(v, want)
				if _, library := convert.Convert(v, want); (err == nil) != (library == nil) {
					t.Errorf("%#v as %s: got %v, want %v", v, want.FriendlyName(), err, library)
				}
			}
		}
	}
}

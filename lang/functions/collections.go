package functions

import (
	"errors"
	"slices"

	"github.com/hashicorp/go-cty-funcs/collection"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"kolla.openstack.org/kolla/lang/mark"
)

func collectionFunctions() []entry {
	return []entry{
		computes("alltrue", alltrueFunc, "Whether all elements are true; of no elements, they are.", `alltrue([true, false])`, `false`),
		computes("anytrue", anytrueFunc, "Whether any element is true.", `anytrue([true, false])`, `true`),
		carries("chunklist", stdlib.ChunklistFunc, "The list in pieces of so many elements.", `chunklist(["a", "b", "c"], 2)`, `[["a", "b"], ["c"]]`),
		carries("coalesce", collection.CoalesceFunc, "The first of the values that is neither null nor an empty text.", `coalesce(null, "", "b")`, `"b"`),
		carries("coalescelist", stdlib.CoalesceListFunc, "The first of the lists that is not empty.", `coalescelist([], ["c", "d"])`, `["c", "d"]`),
		carries("compact", stdlib.CompactFunc, "The texts of a list without those that are null or empty.", `compact(["a", "", null, "c"])`, `["a", "c"]`),
		carries("concat", stdlib.ConcatFunc, "The lists, one after another, as one.", `concat(["a"], ["b", "c"])`, `["a", "b", "c"]`),
		computes("contains", stdlib.ContainsFunc, "Whether a list or set has a value.", `contains(["a", "b"], "a")`, `true`),
		carries("distinct", distinctFunc, "The list without what was in it before.", `distinct(["a", "b", "a"])`, `["a", "b"]`),
		carries("element", stdlib.ElementFunc, "The element at a position; after the last comes the first again.", `element(["a", "b", "c"], 4)`, `"b"`),
		carries("flatten", stdlib.FlattenFunc, "The elements of lists in lists, in one list.", `flatten([["a", ["b"]], [], ["c"]])`, `["a", "b", "c"]`),
		computes("index", indexFunc, "The position of a value in a list, counted from 0.", `index(["a", "b", "c"], "b")`, `1`),
		carries("keys", stdlib.KeysFunc, "The keys of a map, sorted.", `keys({ c = 2, a = 1 })`, `["a", "c"]`),
		carries("length", lengthFunc, "How many elements a list, set or map has, or characters a text.", `length(["a", "b"])`, `2`),
		carries("lookup", lookupFunc, "The value of a key in a map, or a default if the map does not have it.", `lookup({ a = "x" }, "b", "none")`, `"none"`),
		computes("matchkeys", matchkeysFunc, "The values at those positions at which the key is one of a set of keys.", `matchkeys(["node1", "node2", "node3"], ["a", "b", "a"], ["a"])`, `["node1", "node3"]`),
		carries("merge", stdlib.MergeFunc, "The entries of all maps; the last map that has a key gives its value.", `merge({ a = 1, b = 1 }, { b = 2 })`, `{ a = 1, b = 2 }`),
		carries("one", oneFunc, "The only element of a list or set, null if it is empty, an error if there are more.", `one(["a"])`, `"a"`),
		computes("range", stdlib.RangeFunc, "The numbers from a start (0) up to and without a limit, by a step (1); the limit alone, start and limit, or all three are given.", `range(1, 8, 3)`, `[1, 4, 7]`),
		carries("reverse", stdlib.ReverseListFunc, "The list with its elements in reverse order.", `reverse([1, 2, 3])`, `[3, 2, 1]`),
		computes("setintersection", stdlib.SetIntersectionFunc, "What is in all of the sets.", `setintersection(["a", "b"], ["b", "c"])`, `["b"]`),
		carries("setproduct", stdlib.SetProductFunc, "All combinations of an element of each of the lists or sets.", `setproduct(["a", "b"], [1, 2])`, `[["a", 1], ["a", 2], ["b", 1], ["b", 2]]`),
		computes("setsubtract", stdlib.SetSubtractFunc, "What is in the first set and not in the second.", `setsubtract(["a", "b", "c"], ["a", "c"])`, `["b"]`),
		carries("setunion", stdlib.SetUnionFunc, "What is in any of the sets.", `setunion(["a", "b"], ["b", "c"])`, `["a", "b", "c"]`),
		carries("slice", stdlib.SliceFunc, "The elements from a position up to and without another.", `slice(["a", "b", "c", "d"], 1, 3)`, `["b", "c"]`),
		computes("sort", stdlib.SortFunc, "The texts of a list in order of their characters.", `sort(["e", "d", "a"])`, `["a", "d", "e"]`),
		computes("sum", sumFunc, "The sum of the numbers of a list or set.", `sum([10, 13, 6, 4.5])`, `33.5`),
		computes("transpose", transposeFunc, "A map of lists of texts, with the texts as keys and the keys in lists.", `transpose({ a = ["1", "2"], b = ["2"] })`, `{ "1" = ["a"], "2" = ["a", "b"] }`),
		carries("values", stdlib.ValuesFunc, "The values of a map, in order of the keys.", `values({ b = 2, a = 1 })`, `[1, 2]`),
		carries("zipmap", stdlib.ZipmapFunc, "A map of keys from one list and values from another.", `zipmap(["a", "b"], [1, 2])`, `{ a = 1, b = 2 }`),
	}
}

var (
	alltrueFunc = boolsFunc(cty.Value.And, cty.True)
	anytrueFunc = boolsFunc(cty.Value.Or, cty.False)
)

// boolsFunc returns a function that joins the elements of a list; null counts as false.
func boolsFunc(join func(a, b cty.Value) cty.Value, none cty.Value) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			result := none
			for _, v := range mark.Elements(args[0]) {
				if v.IsNull() {
					v = cty.False
				}
				result = join(result, v)
			}
			return result, nil
		},
	})
}

// distinctFunc is stdlib's, which compares all elements with each other, but for texts.
var distinctFunc = function.New(&function.Spec{
	Params: stdlib.DistinctFunc.Params(),
	Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
	Impl: func(args []cty.Value, typ cty.Type) (cty.Value, error) {
		if typ != cty.List(cty.String) || !args[0].IsWhollyKnown() {
			return stdlib.Distinct(args[0])
		}
		seen := map[cty.Value]bool{}
		all := slices.DeleteFunc(mark.Elements(args[0]), func(v cty.Value) bool {
			again := seen[v]
			seen[v] = true
			return again
		})
		if len(all) == 0 {
			return cty.ListValEmpty(cty.String), nil
		}
		return cty.ListVal(all), nil
	},
})

var indexFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "list", Type: cty.DynamicPseudoType},
		{Name: "value", Type: cty.DynamicPseudoType},
	},
	Type: function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if !ordered(args[0].Type()) {
			return cty.NilVal, function.NewArgErrorf(0, "a list is needed")
		}
		for i, v := range mark.Elements(args[0]) {
			same := v.Equals(args[1])
			if !same.IsKnown() {
				return cty.UnknownVal(cty.Number), nil
			}
			if same.True() {
				return cty.NumberIntVal(int64(i)), nil
			}
		}
		return cty.NilVal, errors.New("the list does not have the value")
	},
})

// lengthFunc does not look at the elements of a collection, so they may be secret.
var lengthFunc = function.New(&function.Spec{
	Params: []function.Parameter{anyParam("value")},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		value, marks := args[0].Unmark()
		for m := range marks {
			if _, ok := m.(mark.Generated); ok {
				return cty.UnknownVal(cty.Number), function.NewArgError(0, mark.ErrComputed)
			}
		}
		n, err := length(value)
		return n.WithMarks(marks), err
	},
})

func length(value cty.Value) (cty.Value, error) {
	t := value.Type()
	switch {
	case value.IsNull():
		return cty.UnknownVal(cty.Number), function.NewArgErrorf(0, "argument must not be null")
	case t == cty.DynamicPseudoType:
		return cty.UnknownVal(cty.Number), nil
	case t == cty.String:
		return stdlib.Strlen(value)
	case t.IsObjectType():
		return cty.NumberIntVal(int64(len(t.AttributeTypes()))), nil
	case t.IsTupleType(), t.IsCollectionType():
		return value.Length(), nil
	}
	return cty.UnknownVal(cty.Number), function.NewArgError(0, errors.New("a list, set, map or string is needed"))
}

var lookupDefault = anyParam("default")

var lookupFunc = function.New(&function.Spec{
	Params:   []function.Parameter{anyParam("map"), passed(function.Parameter{Name: "key", Type: cty.String})},
	VarParam: &lookupDefault,
	Type: func(args []cty.Value) (cty.Type, error) {
		v, err := lookup(args)
		return v.Type(), err
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return lookup(args) },
})

func lookup(args []cty.Value) (cty.Value, error) {
	if len(args) > 3 {
		return cty.DynamicVal, errors.New("at most three arguments: the map, the key and a default")
	}
	m, mapMarks := args[0].Unmark()
	key, keyMarks := args[1].Unmark()
	switch {
	case mark.IsGenerated(args[1]):
		return cty.DynamicVal, function.NewArgError(1, mark.ErrComputed)
	case key.IsNull():
		return cty.DynamicVal, function.NewArgErrorf(1, "argument must not be null")
	case m.Type() == cty.DynamicPseudoType && !m.IsKnown():
		return cty.DynamicVal.WithMarks(mapMarks, keyMarks), nil
	case !hasKeys(m.Type()) || m.IsNull():
		return cty.DynamicVal, function.NewArgErrorf(0, "a map is needed")
	case !key.IsKnown() || !m.IsKnown():
		return cty.DynamicVal.WithMarks(mapMarks, keyMarks), nil
	}
	for _, entry := range mark.Members(m) {
		if entry.Key == key.AsString() {
			return entry.Value.WithMarks(mapMarks, keyMarks), nil
		}
	}
	if len(args) < 3 {
		return cty.DynamicVal, errors.New("the map does not have the key, and there is no default")
	}
	fallback := args[2]
	if m.Type().IsMapType() {
		converted, err := convert.Convert(fallback, m.Type().ElementType())
		if err != nil {
			return cty.DynamicVal, function.NewArgErrorf(2, "the default must be of the type of the map's values: %s", err)
		}
		fallback = converted
	}
	return fallback.WithMarks(mapMarks, keyMarks), nil
}

var matchkeysFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "values", Type: cty.List(cty.DynamicPseudoType)},
		{Name: "keys", Type: cty.List(cty.DynamicPseudoType)},
		{Name: "searchset", Type: cty.List(cty.DynamicPseudoType)},
	},
	Type: func(args []cty.Value) (cty.Type, error) {
		if !args[0].Type().IsListType() {
			return cty.DynamicPseudoType, nil
		}
		return args[0].Type(), nil
	},
	Impl: func(args []cty.Value, typ cty.Type) (cty.Value, error) {
		values, keys, wanted := mark.Elements(args[0]), mark.Elements(args[1]), mark.Elements(args[2])
		if len(values) != len(keys) {
			return cty.UnknownVal(typ), function.NewArgErrorf(1, "there are %d keys for %d values", len(keys), len(values))
		}
		var out []cty.Value
		for i, key := range keys {
			for _, w := range wanted {
				same := key.Equals(w)
				if !same.IsKnown() {
					return cty.UnknownVal(typ), nil
				}
				if same.True() {
					out = append(out, values[i])
					break
				}
			}
		}
		if len(out) == 0 {
			return cty.ListValEmpty(typ.ElementType()), nil
		}
		return cty.ListVal(out), nil
	},
})

var oneFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
	Type: func(args []cty.Value) (cty.Type, error) {
		t := args[0].Type()
		switch {
		case t.IsListType() || t.IsSetType():
			return t.ElementType(), nil
		case t.IsTupleType() && t.Length() > 0:
			return t.TupleElementType(0), tooMany(t.Length())
		case t.IsTupleType():
			return cty.DynamicPseudoType, nil
		}
		return cty.NilType, function.NewArgErrorf(0, "a list or set is needed")
	},
	Impl: func(args []cty.Value, typ cty.Type) (cty.Value, error) {
		if n := args[0].Length(); !n.IsKnown() { // a set with unknown elements
			return cty.UnknownVal(typ), nil
		}
		all := mark.Elements(args[0])
		if len(all) == 0 {
			return cty.NullVal(typ), nil
		}
		return all[0], tooMany(len(all))
	},
})

func tooMany(n int) error {
	if n < 2 {
		return nil
	}
	return function.NewArgErrorf(0, "there are %d elements, and there may be one or none", n)
}

var sumFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Number)}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		all := mark.Elements(args[0])
		if len(all) == 0 {
			return cty.UnknownVal(cty.Number), function.NewArgErrorf(0, "of no numbers there is no sum")
		}
		total := cty.Zero
		for i, v := range all {
			if v.IsNull() {
				return cty.UnknownVal(cty.Number), function.NewArgErrorf(0, "element %d is null", i)
			}
			var err error
			if total, err = stdlib.Add(total, v); err != nil {
				return cty.UnknownVal(cty.Number), err
			}
		}
		return total, nil
	},
})

var transposeFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "values", Type: cty.Map(cty.List(cty.String))}},
	Type:   function.StaticReturnType(cty.Map(cty.List(cty.String))),
	Impl: func(args []cty.Value, typ cty.Type) (cty.Value, error) {
		if !args[0].IsWhollyKnown() {
			return cty.UnknownVal(typ), nil
		}
		found := map[string][]cty.Value{}
		for _, m := range mark.Members(args[0]) {
			if m.Value.IsNull() {
				return cty.UnknownVal(typ), function.NewArgErrorf(0, "the value of %q is null", m.Key)
			}
			for _, v := range mark.Elements(m.Value) {
				if v.IsNull() {
					return cty.UnknownVal(typ), function.NewArgErrorf(0, "an element of %q is null", m.Key)
				}
				key, name := v.AsString(), cty.StringVal(m.Key)
				if names := found[key]; len(names) == 0 || !names[len(names)-1].RawEquals(name) {
					found[key] = append(names, name)
				}
			}
		}
		if len(found) == 0 {
			return cty.MapValEmpty(typ.ElementType()), nil
		}
		out := map[string]cty.Value{}
		for key, names := range found {
			out[key] = cty.ListVal(names)
		}
		return cty.MapVal(out), nil
	},
})

// hasKeys reports whether users regard values of a type as maps.
func hasKeys(t cty.Type) bool { return t.IsObjectType() || t.IsMapType() }

// ordered reports whether users regard values of a type as lists.
func ordered(t cty.Type) bool { return t.IsTupleType() || t.IsListType() || t.IsSetType() }

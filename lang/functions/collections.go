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
		computes("alltrue", alltrueFunc, "Returns true if every element is true or the list is empty. A null element counts as false.", `alltrue([true, false])`, `false`),
		computes("anytrue", anytrueFunc, "Returns true if at least one element is true. Returns false if the list is empty.", `anytrue([true, false])`, `true`),
		carries("chunklist", stdlib.ChunklistFunc, "Splits a list into chunks of the given size. The last chunk may be shorter.", `chunklist(["a", "b", "c"], 2)`, `[["a", "b"], ["c"]]`),
		carries("coalesce", collection.CoalesceFunc, "Returns the first argument that is neither null nor an empty string.", `coalesce(null, "", "b")`, `"b"`),
		carries("coalescelist", stdlib.CoalesceListFunc, "Returns the first argument that is not an empty list.", `coalescelist([], ["c", "d"])`, `["c", "d"]`),
		carries("compact", stdlib.CompactFunc, "Removes null and empty strings from a list of strings.", `compact(["a", "", null, "c"])`, `["a", "c"]`),
		carries("concat", stdlib.ConcatFunc, "Combines the given lists into one list.", `concat(["a"], ["b", "c"])`, `["a", "b", "c"]`),
		computes("contains", stdlib.ContainsFunc, "Returns true if a list or set contains the given value.", `contains(["a", "b"], "a")`, `true`),
		carries("distinct", distinctFunc, "Removes duplicate elements from a list and keeps the first of each.", `distinct(["a", "b", "a"])`, `["a", "b"]`),
		carries("element", stdlib.ElementFunc, "Returns the list element at the given index, counted from 0. An index after the last element starts again at the first.", `element(["a", "b", "c"], 4)`, `"b"`),
		carries("flatten", stdlib.FlattenFunc, "Replaces each element that is a list with the elements of that list, at any depth.", `flatten([["a", ["b"]], [], ["c"]])`, `["a", "b", "c"]`),
		computes("index", indexFunc, "Returns the index of the first element that equals the given value, counted from 0. It is an error if there is none.", `index(["a", "b", "c"], "b")`, `1`),
		carries("keys", stdlib.KeysFunc, "Returns the sorted keys of a map.", `keys({ c = 2, a = 1 })`, `["a", "c"]`),
		carries("length", lengthFunc, "Returns the number of elements in a list, set or map, or of characters in a string.", `length(["a", "b"])`, `2`),
		carries("lookup", lookupFunc, "Returns the value of a key in a map, or the given default if the map does not have the key. Without a default, a missing key is an error.", `lookup({ a = "x" }, "b", "none")`, `"none"`),
		computes("matchkeys", matchkeysFunc, "Returns the elements of values at the positions where the element of keys is in searchset.", `matchkeys(["node1", "node2", "node3"], ["a", "b", "a"], ["a"])`, `["node1", "node3"]`),
		carries("merge", stdlib.MergeFunc, "Combines the given maps into one map. If several maps have the same key, the value from the last of them is used.", `merge({ a = 1, b = 1 }, { b = 2 })`, `{ a = 1, b = 2 }`),
		carries("one", oneFunc, "Returns the only element of a list or set, or null if it is empty. More than one element is an error.", `one(["a"])`, `"a"`),
		computes("range", stdlib.RangeFunc, "Returns a list of numbers. It takes a limit, or a start and a limit, or a start, a limit and a step. The start is included (default 0), the limit is not. The default step is 1, or -1 if the limit is less than the start.", `range(1, 8, 3)`, `[1, 4, 7]`),
		carries("reverse", stdlib.ReverseListFunc, "Reverses the elements of a list.", `reverse([1, 2, 3])`, `[3, 2, 1]`),
		computes("setintersection", stdlib.SetIntersectionFunc, "Returns the elements that are in all of the given sets.", `setintersection(["a", "b"], ["b", "c"])`, `["b"]`),
		carries("setproduct", stdlib.SetProductFunc, "Returns all combinations of one element from each of the given lists or sets.", `setproduct(["a", "b"], [1, 2])`, `[["a", 1], ["a", 2], ["b", 1], ["b", 2]]`),
		computes("setsubtract", stdlib.SetSubtractFunc, "Returns the elements of the first set that are not in the second set.", `setsubtract(["a", "b", "c"], ["a", "c"])`, `["b"]`),
		carries("setunion", stdlib.SetUnionFunc, "Returns the elements that are in at least one of the given sets.", `setunion(["a", "b"], ["b", "c"])`, `["a", "b", "c"]`),
		carries("slice", stdlib.SliceFunc, "Returns the elements of a list from the start index up to, but not including, the end index.", `slice(["a", "b", "c", "d"], 1, 3)`, `["b", "c"]`),
		computes("sort", stdlib.SortFunc, "Sorts a list of strings by Unicode characters.", `sort(["e", "d", "a"])`, `["a", "d", "e"]`),
		computes("sum", sumFunc, "Returns the sum of a list or set of numbers. It is an error if there are none.", `sum([10, 13, 6, 4.5])`, `33.5`),
		computes("transpose", transposeFunc, "Swaps the keys and values of a map of lists of strings.", `transpose({ a = ["1", "2"], b = ["2"] })`, `{ "1" = ["a"], "2" = ["a", "b"] }`),
		carries("values", stdlib.ValuesFunc, "Returns the values of a map in the order of its sorted keys.", `values({ b = 2, a = 1 })`, `[1, 2]`),
		carries("zipmap", stdlib.ZipmapFunc, "Returns a map with the keys from one list and the values from another list of the same length.", `zipmap(["a", "b"], [1, 2])`, `{ a = 1, b = 2 }`),
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
			return cty.NilVal, function.NewArgErrorf(0, "a list is required")
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
	return cty.UnknownVal(cty.Number), function.NewArgError(0, errors.New("a list, set, map or string is required"))
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
		return cty.DynamicVal, function.NewArgErrorf(0, "a map is required")
	case !key.IsKnown() || !m.IsKnown():
		return cty.DynamicVal.WithMarks(mapMarks, keyMarks), nil
	}
	for _, entry := range mark.Members(m) {
		if entry.Key == key.AsString() {
			return entry.Value.WithMarks(mapMarks, keyMarks), nil
		}
	}
	if len(args) < 3 {
		return cty.DynamicVal, errors.New("the map does not have this key, and no default is given")
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
			return cty.UnknownVal(typ), function.NewArgErrorf(1, "the number of keys (%d) differs from the number of values (%d)", len(keys), len(values))
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
		return cty.NilType, function.NewArgErrorf(0, "a list or set is required")
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
	return function.NewArgErrorf(0, "there are %d elements, but at most one is allowed", n)
}

var sumFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Number)}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		all := mark.Elements(args[0])
		if len(all) == 0 {
			return cty.UnknownVal(cty.Number), function.NewArgErrorf(0, "the list must contain at least one number")
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

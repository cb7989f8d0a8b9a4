package budget

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// The library converts a list of expressions to a list of one type by comparing all its elements
// with each other, in time and memory. So do conditions, whose branches get the same type.
const (
	fewElements    = 64         // that are converted as the library does
	maxKinds       = 64         // distinct types of elements that are converted one by one
	maxComparisons = 50_000_000 // of types
)

var errComparisons = fmt.Errorf("its elements are too many to find a type for all of them. Convert a list with tolist or toset, and a map with tomap, or give it fewer elements")

// Uniform returns an error if the library would compare too many types to make all elements of a
// value the same type.
func Uniform(v cty.Value) error {
	if v, _ = v.Unmark(); !structural(v.Type()) {
		return nil
	}
	return UniformTypes(parts(v.Type()))
}

// UniformTypes is Uniform for values of the types.
func UniformTypes(types []cty.Type) error {
	n := comparisons(types)
	for _, t := range types {
		n += comparisons(parts(t)) + nested(t)
	}
	if n > maxComparisons {
		return errComparisons
	}
	return nil
}

// Convert converts a value to a type. It looks at each distinct type of the elements once.
func Convert(v cty.Value, want cty.Type) (cty.Value, error) {
	bare, marks := v.Unmark()
	if want == cty.DynamicPseudoType || bare.Type().Equals(want) {
		return v, nil
	}
	if want == cty.Number && bare.Type() == cty.String && bare.IsKnown() && !bare.IsNull() {
		if err := CheckDigits(bare.AsString()); err != nil {
			return cty.DynamicVal, err
		}
	}
	if !bare.IsKnown() || bare.IsNull() || !structural(bare.Type()) || bare.LengthInt() <= fewElements || !collects(bare.Type(), want) {
		if err := Uniform(bare); err != nil {
			return cty.DynamicVal, err
		}
		return convert.Convert(v, want)
	}
	element, err := elementType(bare, want)
	if err != nil {
		return cty.DynamicVal, err
	}
	keys, elements := map[int]string{}, make([]cty.Value, 0, bare.LengthInt())
	for it := bare.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if value, err = Convert(value, element); err != nil {
			return cty.DynamicVal, err
		}
		if key.Type() == cty.String {
			keys[len(elements)] = key.AsString()
		}
		elements = append(elements, value)
	}
	out := collected(want, keys, elements).WithMarks(marks)
	if bare, _ := out.Unmark(); want.IsSetType() && bare.LengthInt() > maxSet {
		return cty.DynamicVal, errSet
	}
	return out, nil
}

// collects reports whether a conversion makes all elements of a value the same type.
func collects(from, want cty.Type) bool {
	return from.IsTupleType() && (want.IsListType() || want.IsSetType()) || from.IsObjectType() && want.IsMapType()
}

// elementType returns the type of the elements after a conversion.
func elementType(v cty.Value, want cty.Type) (cty.Type, error) {
	var distinct []cty.Type
	examples := map[string]cty.Value{}
	var list []cty.Value
	for it := v.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if known(distinct, value.Type()) {
			continue
		}
		if distinct = append(distinct, value.Type()); len(distinct) > maxKinds {
			return cty.NilType, fmt.Errorf("its elements have more than %d types, and none for all of them can be found", maxKinds)
		}
		list = append(list, value)
		if key.Type() == cty.String {
			examples[key.AsString()] = value
		}
	}
	few := cty.TupleVal(list)
	if v.Type().IsObjectType() {
		few = cty.ObjectVal(examples)
	}
	if err := Uniform(few); err != nil {
		return cty.NilType, err
	}
	few, err := convert.Convert(few, want)
	if err != nil {
		return cty.NilType, err
	}
	return few.Type().ElementType(), nil
}

func known(types []cty.Type, t cty.Type) bool {
	return slices.ContainsFunc(types, func(other cty.Type) bool { return other.Equals(t) })
}

// collected returns the list, set or map of elements, which are all of one type.
func collected(want cty.Type, keys map[int]string, elements []cty.Value) cty.Value {
	switch {
	case want.IsListType():
		return cty.ListVal(elements)
	case want.IsSetType():
		return cty.SetVal(elements)
	}
	entries := make(map[string]cty.Value, len(elements))
	for i, key := range keys {
		entries[key] = elements[i]
	}
	return cty.MapVal(entries)
}

func structural(t cty.Type) bool { return t.IsTupleType() || t.IsObjectType() }

// types returns the number of types in a type, at any depth.
func types(t cty.Type) int {
	n := 1
	for _, part := range parts(t) {
		n += types(part)
	}
	return n
}

// parts returns the types of the elements.
func parts(t cty.Type) []cty.Type {
	switch {
	case t.IsTupleType():
		return t.TupleElementTypes()
	case t.IsObjectType():
		return slices.Collect(maps.Values(t.AttributeTypes()))
	}
	return nil
}

// nested returns the comparisons for the parts of all elements of a type, at any depth.
func nested(t cty.Type) int {
	n := 0
	for _, part := range parts(t) {
		n += comparisons(parts(part)) + nested(part)
	}
	return n
}

// comparisons returns the number of comparisons with which the library finds a type for all of
// the types. If all of them have the same parts, it goes over the types of each part.
func comparisons(types []cty.Type) int {
	if len(types) == 0 {
		return 0
	}
	first, alike := types[0], true
	if first.IsCollectionType() {
		elements := make([]cty.Type, len(types))
		for i, t := range types {
			if !t.IsCollectionType() {
				return len(types) * len(types)
			}
			elements[i] = t.ElementType()
		}
		return len(types)*len(types) + comparisons(elements)
	}
	for _, t := range types {
		switch {
		case !structural(t) || t.IsTupleType() != first.IsTupleType():
			return len(types) * len(types)
		case t.IsTupleType():
			alike = alike && t.Length() == first.Length()
		case alike:
			alike = sameNames(t, first)
		}
	}
	var all []cty.Type
	if !alike {
		for _, t := range types {
			all = append(all, parts(t)...)
		}
		return comparisons(all)
	}
	n := 0
	across := make([]cty.Type, len(types))
	sum := func(part func(cty.Type) cty.Type) {
		for i, t := range types {
			across[i] = part(t)
		}
		n += comparisons(across)
	}
	if first.IsTupleType() {
		for i := range first.Length() {
			sum(func(t cty.Type) cty.Type { return t.TupleElementType(i) })
		}
		return n
	}
	for name := range first.AttributeTypes() {
		sum(func(t cty.Type) cty.Type { return t.AttributeType(name) })
	}
	return n
}

func sameNames(a, b cty.Type) bool {
	if len(a.AttributeTypes()) != len(b.AttributeTypes()) {
		return false
	}
	for name := range a.AttributeTypes() {
		if !b.HasAttribute(name) {
			return false
		}
	}
	return true
}

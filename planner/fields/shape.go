package fields

import (
	"bytes"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// shapeOf deduces a type for objects whose schema is not available, such as custom
// resources. The paths in their managedFields show which lists have merge keys, and which
// keys, and which maps only have an owner as a whole: these are atomic. The rest of the type is
// that of typed.DeducedParseableType. Objects may be nil.
func shapeOf(objects ...*unstructured.Unstructured) typed.ParseableType {
	owned := fieldpath.NewSet()
	var values []any
	for _, u := range objects {
		if u == nil {
			continue
		}
		values = append(values, u.Object)
		for _, entry := range u.GetManagedFields() {
			fields := fieldpath.NewSet()
			if entry.FieldsV1 != nil && fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) == nil {
				owned = owned.Union(fields)
			}
		}
	}
	if len(values) < 2 {
		values = nil // fields that the definition fills into an empty map of a new object have no owner
	}
	s := &shape{types: slices.Clone(typed.DeducedParseableType.Schema.Types)}
	ref := s.typeOf(owned, values)
	return typed.ParseableType{TypeRef: ref, Schema: &schema.Schema{Types: s.types}}
}

// shape collects the definitions of a deduced schema.
type shape struct{ types []schema.TypeDef }

// typeOf returns the type of the values, which have these fields below them.
func (s *shape) typeOf(below *fieldpath.Set, values []any) schema.TypeRef {
	var (
		fields   []schema.StructField
		keys     []string
		set      bool // the value is a list of unique values
		elements = fieldpath.NewSet()
		members  []any
	)
	below.Members.Iterate(func(element fieldpath.PathElement) {
		set = set || element.Value != nil
		keys = keyNames(element, keys)
		if _, parts := below.Children.Get(element); !parts && element.FieldName != nil && anyFilled(at(values, element)) {
			atomic := schema.Atom{Map: &schema.Map{ElementType: typed.DeducedParseableType.TypeRef, ElementRelationship: schema.Atomic}}
			fields = append(fields, schema.StructField{Name: *element.FieldName, Type: s.named(atomic)})
		}
	})
	for element := range below.Children.All() {
		children, _ := below.Children.Get(element)
		keys = keyNames(element, keys)
		switch {
		case element.FieldName != nil:
			if ref := s.typeOf(children, at(values, element)); ref != typed.DeducedParseableType.TypeRef {
				fields = append(fields, schema.StructField{Name: *element.FieldName, Type: ref})
			}
		case element.Key != nil:
			elements = elements.Union(children)
			members = append(members, at(values, element)...)
		}
	}
	deduced := typed.DeducedParseableType.TypeRef
	switch {
	case keys != nil:
		return s.named(schema.Atom{List: &schema.List{ElementType: s.typeOf(elements, members), ElementRelationship: schema.Associative, Keys: keys}})
	case set:
		return s.named(schema.Atom{List: &schema.List{ElementType: deduced, ElementRelationship: schema.Associative}})
	case fields != nil:
		return s.named(schema.Atom{Map: &schema.Map{Fields: fields, ElementType: deduced}})
	}
	return deduced
}

// at returns the values at an element of each value.
func at(values []any, element fieldpath.PathElement) []any {
	var found []any
	for _, value := range values {
		if part, there := Lookup(value, fieldpath.Path{element}); there {
			found = append(found, part)
		}
	}
	return found
}

// anyFilled reports whether one of the values is a map with fields. An empty map may have an
// owner although its fields would have owners of their own.
func anyFilled(values []any) bool {
	return slices.ContainsFunc(values, func(value any) bool {
		fields, isMap := value.(map[string]any)
		return isMap && len(fields) > 0
	})
}

// keyNames returns the names of the fields of the merge key of an element. Without a merge
// key, it returns otherwise.
func keyNames(element fieldpath.PathElement, otherwise []string) []string {
	if element.Key == nil {
		return otherwise
	}
	var names []string
	for _, field := range *element.Key {
		names = append(names, field.Name)
	}
	return names
}

func (s *shape) named(atom schema.Atom) schema.TypeRef {
	name := "shape-" + strconv.Itoa(len(s.types))
	s.types = append(s.types, schema.TypeDef{Name: name, Atom: atom})
	return schema.TypeRef{NamedType: &name}
}

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

// shapeOf deduces the type of objects of a kind whose schema is not at hand, such as
// a custom resource, from what the server says of the fields of such objects: the
// paths of managedFields show which lists have merge keys, and which. Everything else
// is as typed.DeducedParseableType has it. Some of the objects may be nil.
func shapeOf(objects ...*unstructured.Unstructured) typed.ParseableType {
	owned := fieldpath.NewSet()
	for _, u := range objects {
		if u == nil {
			continue
		}
		for _, entry := range u.GetManagedFields() {
			fields := fieldpath.NewSet()
			if entry.FieldsV1 != nil && fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) == nil {
				owned = owned.Union(fields)
			}
		}
	}
	s := &shape{types: slices.Clone(typed.DeducedParseableType.Schema.Types)}
	ref := s.typeOf(owned)
	return typed.ParseableType{TypeRef: ref, Schema: &schema.Schema{Types: s.types}}
}

// shape is a schema in the making.
type shape struct{ types []schema.TypeDef }

// typeOf makes the type of what has these fields below it.
func (s *shape) typeOf(below *fieldpath.Set) schema.TypeRef {
	var (
		fields   []schema.StructField
		keys     []string
		set      bool // a list of values that are there once each
		elements = fieldpath.NewSet()
	)
	below.Members.Iterate(func(element fieldpath.PathElement) {
		set = set || element.Value != nil
		keys = keyNames(element, keys)
	})
	for element := range below.Children.All() {
		children, _ := below.Children.Get(element)
		keys = keyNames(element, keys)
		switch {
		case element.FieldName != nil:
			if ref := s.typeOf(children); ref != typed.DeducedParseableType.TypeRef {
				fields = append(fields, schema.StructField{Name: *element.FieldName, Type: ref})
			}
		case element.Key != nil:
			elements = elements.Union(children)
		}
	}
	deduced := typed.DeducedParseableType.TypeRef
	switch {
	case keys != nil:
		return s.named(schema.Atom{List: &schema.List{ElementType: s.typeOf(elements), ElementRelationship: schema.Associative, Keys: keys}})
	case set:
		return s.named(schema.Atom{List: &schema.List{ElementType: deduced, ElementRelationship: schema.Associative}})
	case fields != nil:
		return s.named(schema.Atom{Map: &schema.Map{Fields: fields, ElementType: deduced}})
	}
	return deduced
}

// keyNames are the names of the merge key, if the element has one.
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

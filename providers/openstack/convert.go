package openstack

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// applyConfiguration is a whole object of client-go's, which holds only what was set.
type applyConfiguration interface {
	GetAPIVersion() *string
	GetKind() *string
	GetName() *string
}

// manifest converts an apply configuration.
//
// runtime.DefaultUnstructuredConverter gives the same, in maps that have room for every
// field that a kind has: most of the memory of a large cloud.
func manifest(c applyConfiguration) *unstructured.Unstructured {
	v := reflect.ValueOf(c).Elem()
	return &unstructured.Unstructured{Object: plainStruct(v, value.TypeReflectEntryOf(v.Type()))}
}

// nameOnly is of a manifest only what names the object.
func nameOnly(c applyConfiguration) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": *c.GetAPIVersion(),
		"kind":       *c.GetKind(),
		"metadata":   map[string]any{"name": *c.GetName()},
	}}
}

// plain is a value of an apply configuration as it would be read from JSON.
func plain(v reflect.Value, typ *value.TypeReflectCacheEntry) any {
	if v.Kind() == reflect.Pointer {
		return plain(v.Elem(), value.TypeReflectEntryOf(v.Type().Elem()))
	}
	if v.Type() == reflect.TypeFor[intstr.IntOrString]() {
		return plainPort(v.Interface().(intstr.IntOrString))
	}
	if typ.CanConvertToUnstructured() { // a quantity
		out, err := typ.ToUnstructured(v)
		if err != nil {
			panic(fmt.Sprintf("apply configuration: %s: %v", v.Type(), err)) // our own values always convert
		}
		return out
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return v.Bool()
	case reflect.Int, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Struct:
		return plainStruct(v, typ)
	case reflect.Map:
		return plainMap(v)
	case reflect.Slice:
		return plainSlice(v)
	}
	panic(fmt.Sprintf("apply configuration: %s", v.Type())) // there are no others in what kolla makes
}

// plainPort is a port, or a number of pods: the converter would go through JSON.
func plainPort(v intstr.IntOrString) any {
	if v.Type == intstr.Int {
		return int64(v.IntVal)
	}
	return v.StrVal
}

func plainStruct(v reflect.Value, typ *value.TypeReflectCacheEntry) map[string]any {
	out := map[string]any{}
	for _, field := range typ.OrderedFields() {
		if f := field.GetFrom(v); !field.CanOmit(f) {
			out[field.JsonName] = plain(f, field.TypeEntry)
		}
	}
	return out
}

func plainMap(v reflect.Value) map[string]any {
	if texts, ok := v.Interface().(map[string]string); ok {
		return anyMap(texts)
	}
	typ := value.TypeReflectEntryOf(v.Type().Elem())
	out := make(map[string]any, v.Len())
	for key, element := range v.Seq2() {
		out[key.String()] = plain(element, typ)
	}
	return out
}

func plainSlice(v reflect.Value) []any {
	typ := value.TypeReflectEntryOf(v.Type().Elem())
	out := make([]any, v.Len())
	for i := range out {
		out[i] = plain(v.Index(i), typ)
	}
	return out
}

func anyMap(texts map[string]string) map[string]any {
	out := make(map[string]any, len(texts))
	for key, text := range texts {
		out[key] = text
	}
	return out
}

// mark puts labels or annotations on a manifest, beside those that it has.
func mark(u *unstructured.Unstructured, field string, marks map[string]string) {
	metadata := u.Object["metadata"].(map[string]any)
	given, ok := metadata[field].(map[string]any)
	if !ok {
		metadata[field] = anyMap(marks)
		return
	}
	for key, text := range marks {
		given[key] = text
	}
}

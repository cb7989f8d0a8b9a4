package lifecycle

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
)

// identity returns the reason why kolla cannot leave a field to other programs. It is empty if
// kolla can.
func identity(path addrs.FieldPath) string {
	switch path.String() {
	case "apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace":
		return "says which object it is"
	}
	if path[0] == "status" {
		return "is never kolla's: it is what the cluster says of the object"
	}
	return ""
}

// wrongPath is the position where a path leaves the fields of a kind.
type wrongPath struct {
	kind  string
	depth int      // number of correct elements
	known []string // existing fields at the position of the next element
}

// detail describes the mistake.
func (w wrongPath) detail(path addrs.FieldPath) string {
	where := "A " + w.kind
	if w.depth > 0 {
		where = fmt.Sprintf("%s of a %s", path[:w.depth], w.kind)
	}
	if len(w.known) == 0 {
		return fmt.Sprintf("%s is a single value, and has no field %q.", where, path[w.depth])
	}
	return strings.TrimSpace(fmt.Sprintf("%s has no field %q.%s", where, path[w.depth], words.DidYouMean(path[w.depth], w.known)))
}

// checkPath returns nil if objects of a kind can have a field. The fields of custom kinds are
// unknown: for them it returns nil too.
func checkPath(kind schema.GroupVersionKind, path addrs.FieldPath) *wrongPath {
	object, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil
	}
	at := reflect.TypeOf(object)
	for i, element := range path {
		at = pointed(at)
		switch {
		case leaf(at):
			return &wrongPath{kind: kind.Kind, depth: i}
		case at.Kind() == reflect.Map, at.Kind() == reflect.Slice:
			at = at.Elem()
			continue
		}
		fields := fieldsOf(at)
		if element == "*" {
			return nil
		}
		next, ok := fields[element]
		if !ok {
			return &wrongPath{kind: kind.Kind, depth: i, known: slices.Sorted(maps.Keys(fields))}
		}
		at = next
	}
	return nil
}

// pointed returns the type that pointers lead to.
func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// leaf reports whether a type is a single value in JSON.
func leaf(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		return reflect.PointerTo(t).Implements(unmarshaler)
	case reflect.Slice:
		return t.Elem().Kind() == reflect.Uint8
	}
	return t.Kind() != reflect.Map
}

// fieldsOf returns the fields of a struct by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name != "" && name != "-":
			out[name] = field.Type
		case field.Anonymous:
			maps.Copy(out, fieldsOf(pointed(field.Type)))
		}
	}
	return out
}

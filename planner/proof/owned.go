package proof

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// owned is a set of fields as the server writes it into managedFields (FieldsV1),
// decoded from JSON. Its keys are
//
//	f:NAME   a field of a map
//	k:KEYS   the element of a list that has these keys, a JSON object
//	v:VALUE  an element of a list of scalars, a JSON value
//	i:INDEX  an element of a list, by its position
//	.        the map or element itself is in the set
//
// A set without keys is a leaf: the field with all its contents. The schema of the kind decides
// which lists have keys and which maps are leaves. The set shows this, so walking it together with
// the object needs no schema.
type owned map[string]any

// appliedBy returns the fields of a live object that the manager owns by server-side
// apply. ok is false in cases of doubt: there are several such entries, or the entry is
// for another version than the object's.
func appliedBy(live *unstructured.Unstructured, manager string) (fields owned, ok bool) {
	entries, _, _ := unstructured.NestedFieldNoCopy(live.Object, "metadata", "managedFields")
	list, _ := entries.([]any)
	for _, element := range list {
		entry, _ := element.(map[string]any)
		subresource, _ := entry["subresource"].(string)
		if entry["manager"] != manager || entry["operation"] != string(metav1.ManagedFieldsOperationApply) || subresource != "" {
			continue
		}
		decoded, readable := entry["fieldsV1"].(map[string]any)
		if ok || !readable || entry["fieldsType"] != "FieldsV1" || entry["apiVersion"] != live.GetAPIVersion() {
			return nil, false
		}
		fields, ok = decoded, true
	}
	return fields, ok
}

// child returns the set below a key; ok is false if there is none.
func (o owned) child(key string) (owned, bool) {
	fields, ok := o[key].(map[string]any)
	return fields, ok
}

// keys lists the keys of the set except ".", in a fixed order.
func (o owned) keys() []string {
	keys := make([]string, 0, len(o))
	for key := range o {
		if key != "." {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// form returns the prefix that all keys of a set share. ok is false for an empty set, for
// mixed prefixes, and for positions.
func form(keys []string) (prefix string, ok bool) {
	for _, key := range keys {
		switch {
		case len(key) < 2, prefix != "" && !strings.HasPrefix(key, prefix):
			return "", false
		}
		prefix = key[:2]
	}
	return prefix, prefix == "f:" || prefix == "k:" || prefix == "v:"
}

// element finds the only element of a list that matches a key "k:..." or "v:...". found is
// false if there is none. certain is false if there are several or the key cannot be read.
func element(list []any, key string) (index int, found, certain bool) {
	means, ok := meaning(key)
	if !ok {
		return 0, false, false
	}
	for i, member := range list {
		if !means(member) {
			continue
		}
		if found {
			return 0, false, false
		}
		index, found = i, true
	}
	return index, found, true
}

// meaning returns a function that reports whether an element matches the key.
func meaning(key string) (means func(any) bool, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(key[2:]))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil, false
	}
	if strings.HasPrefix(key, "v:") {
		return func(member any) bool { return alike(value, member) }, true
	}
	keys, _ := value.(map[string]any)
	if len(keys) == 0 {
		return nil, false
	}
	return func(member any) bool {
		fields, _ := member.(map[string]any)
		for name, value := range keys {
			if has, ok := fields[name]; !ok || !alike(value, has) {
				return false
			}
		}
		return true
	}, true
}

// alike reports whether two values are the same JSON. The Go type of numbers does not
// count. A null equals nothing, not even a null: a server reads it as an order to remove a
// value.
func alike(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, value := range a {
			if other, ok := b[key]; !ok || !alike(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, alike)
	case string, bool:
		return a == b
	}
	x, isNumber := numeral(a)
	y, otherToo := numeral(b)
	return isNumber && otherToo && x == y
}

// Withheld reports whether the values of a field must not be stored, not even as a hash:
// a reader of the state could try out passwords against it. A salt would not prevent
// that, and a key that the reader does not have can be in the cluster only. The checksum
// annotation is computed from such values, so it is withheld too.
//
// path has the names of the fields above and of the field itself. secret says whether the
// object is a Secret.
func Withheld(secret bool, path []string) bool {
	if secret && len(path) > 0 && (path[0] == "data" || path[0] == "stringData") {
		return true
	}
	return slices.Equal(path, []string{"metadata", "annotations", providers.AnnotationChecksum})
}

func isSecret(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().GroupKind() == kinds.Secret
}

package proof

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// Holds reports whether the manager owns exactly the fields of the manifest in the live
// object, with the values of the manifest and with lists in the same order. An apply of
// the manifest then adds nothing and removes nothing, whatever the schema of the kind is.
//
// It is false in all cases of doubt: nulls, fields that the server left out or
// normalized, list elements whose declared keys do not distinguish them.
func Holds(live, manifest *unstructured.Unstructured, manager string) bool {
	fields, ok := appliedBy(live, manager)
	if !ok || live.GetAPIVersion() != manifest.GetAPIVersion() {
		return false
	}
	return holdsFields(fields, nameless(manifest), live.Object)
}

// nameless returns the manifest without the fields that identify it, which have no owner.
// The values are shared with the original.
func nameless(manifest *unstructured.Unstructured) map[string]any {
	object := maps.Clone(manifest.Object)
	delete(object, "apiVersion")
	delete(object, "kind")
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	delete(metadata, "name")
	delete(metadata, "namespace")
	object["metadata"] = metadata
	if len(metadata) == 0 {
		delete(object, "metadata")
	}
	return object
}

// holdsFields compares one value. fields is the owned set below it.
func holdsFields(fields owned, want, live any) bool {
	keys := fields.keys()
	if len(keys) == 0 {
		// The server merges a leaf as a whole or field by field. The result is the
		// same if both values are equal.
		return len(fields) == 0 && alike(want, live)
	}
	switch prefix, ok := form(keys); {
	case !ok:
		return false
	case prefix == "f:":
		return holdsMembers(fields, keys, want, live)
	default:
		return holdsElements(fields, keys, want, live)
	}
}

func holdsMembers(fields owned, keys []string, want, live any) bool {
	wanted, ok := want.(map[string]any)
	present, isMap := live.(map[string]any)
	if !ok || !isMap || len(wanted) != len(keys) {
		return false
	}
	for _, key := range keys {
		inner, readable := fields.child(key)
		value, declared := wanted[key[2:]]
		has, there := present[key[2:]]
		if !readable || !declared || !there || !holdsFields(inner, value, has) {
			return false
		}
	}
	return true
}

func holdsElements(fields owned, keys []string, want, live any) bool {
	wanted, ok := want.([]any)
	present, isList := live.([]any)
	if !ok || !isList || len(wanted) != len(keys) {
		return false
	}
	// places maps an index in the manifest to the index in the live list.
	places := make([]int, len(wanted))
	taken := make([]bool, len(wanted))
	for _, key := range keys {
		inner, readable := fields.child(key)
		at, declared, certain := element(wanted, key)
		place, there, certainToo := element(present, key)
		if !readable || !declared || !there || !certain || !certainToo || taken[at] {
			return false
		}
		if !holdsElement(key, inner, wanted[at], present[place]) {
			return false
		}
		places[at], taken[at] = place, true
	}
	return slices.IsSorted(places)
}

// holdsElement compares one element of a list. Scalars were matched by their value.
func holdsElement(key string, fields owned, want, live any) bool {
	if key[:2] == "v:" {
		return len(fields.keys()) == 0
	}
	return holdsFields(fields, want, live)
}

// SameValues reports whether the live object has the values of the manifest that are not
// part of a fingerprint; see Withheld.
func SameValues(live, manifest *unstructured.Unstructured) bool {
	checksum := providers.AnnotationChecksum
	if live.GetAnnotations()[checksum] != manifest.GetAnnotations()[checksum] {
		return false
	}
	if !isSecret(manifest) {
		return true
	}
	wanted, _ := manifest.Object["data"].(map[string]any)
	present, _ := live.Object["data"].(map[string]any)
	for key, value := range wanted {
		if !alike(value, present[key]) {
			return false
		}
	}
	// The server never returns stringData, so it cannot be compared.
	_, plain := manifest.Object["stringData"]
	return !plain
}

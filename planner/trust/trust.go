// Package trust decides whether an object in the cluster is kolla's.
//
// Labels, annotations and the names of field managers prove nothing: a client that may
// write the object can set them. There are two proofs, and both are in the state: the UID,
// which only the server assigns, and a random token, which an apply records before it
// creates the object.
//
// If the state was lost, Examine collects the claims of an object and the doubts about
// them, for a person to judge.
package trust

import (
	"bytes"
	"crypto/rand"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// NewToken makes a token that nobody can guess.
func NewToken() string { return rand.Text() }

// Same reports whether the live object is the recorded one: it has the recorded UID, or it
// carries the recorded token and kolla's own apply put the token there. A record has a
// token while the result of a creation is not recorded yet. Either argument may be nil.
func Same(record *state.Object, live *unstructured.Unstructured) bool {
	switch {
	case record == nil || live == nil:
		return false
	case record.UID != "" && record.UID == string(live.GetUID()):
		return true
	}
	return record.Token != "" && record.Token == Token(live) &&
		Applied(live, providers.FieldManager).Has(intentPath)
}

var intentPath = fieldpath.MakePathOrDie("metadata", "annotations", providers.AnnotationIntent)

// Token returns the token that an object of kolla's has carried since its creation; empty:
// it has none. Every later apply must send the token again, because the server would
// remove it otherwise.
func Token(live *unstructured.Unstructured) string {
	token, _, _ := unstructured.NestedString(live.Object, "metadata", "annotations", providers.AnnotationIntent)
	return token
}

// WithToken returns the manifest with a token. The original does not change; the result
// shares everything with it except metadata and annotations. An empty token adds nothing.
func WithToken(manifest *unstructured.Unstructured, token string) *unstructured.Unstructured {
	if token == "" {
		return manifest
	}
	original, _, _ := unstructured.NestedFieldNoCopy(manifest.Object, "metadata")
	metadata := extended(original)
	annotations := extended(metadata["annotations"])
	annotations[providers.AnnotationIntent] = token
	metadata["annotations"] = annotations
	object := extended(manifest.Object)
	object["metadata"] = metadata
	return &unstructured.Unstructured{Object: object}
}

// extended returns a copy of a map with room for one more entry. Any other value gives an
// empty map.
func extended(value any) map[string]any {
	original, _ := value.(map[string]any)
	copied := make(map[string]any, len(original)+1)
	maps.Copy(copied, original)
	return copied
}

// Applied returns the set of fields that the manager owns by server-side apply.
func Applied(live *unstructured.Unstructured, manager string) *fieldpath.Set {
	owned := fieldpath.NewSet()
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			owned = owned.Union(fieldsOf(entry))
		}
	}
	return owned
}

// fieldsOf returns the fields of an entry. Unreadable fields give an empty set.
func fieldsOf(entry metav1.ManagedFieldsEntry) *fieldpath.Set {
	fields := fieldpath.NewSet()
	if entry.FieldsV1 == nil || fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
		return fieldpath.NewSet()
	}
	return fields
}

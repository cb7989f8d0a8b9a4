// Package trust decides whether an object in the cluster is kolla's.
//
// Labels, annotations and the names of field managers prove nothing: whoever may write
// an object writes into them what he likes. What proves something is what only the
// server gives, the UID, and what nobody could know before the object existed, the token
// that an apply took down before it created the object. Both are in the state.
//
// Where the state was lost, Examine says what an object tells about itself, for a person
// to judge.
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

// Same reports whether the live object is the one that the record is about. A record
// with a token is of a creation that was announced: the object that carries the token,
// put there by kolla's own apply, is the one that was created. Either may be nil.
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

// Token is the token that an object of kolla's has carried since its creation; empty:
// it has none. Whoever applies the object sends it again: otherwise the server would
// take it off.
func Token(live *unstructured.Unstructured) string {
	token, _, _ := unstructured.NestedString(live.Object, "metadata", "annotations", providers.AnnotationIntent)
	return token
}

// WithToken is the manifest with a token. It shares all but metadata and annotations
// with the original, which stays as it is. An empty token adds nothing.
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

// extended is a copy of a map, with room for one more; of anything else, an empty one.
func extended(value any) map[string]any {
	original, _ := value.(map[string]any)
	copied := make(map[string]any, len(original)+1)
	maps.Copy(copied, original)
	return copied
}

// Applied is the set of fields that server-side applies of the manager own.
func Applied(live *unstructured.Unstructured, manager string) *fieldpath.Set {
	owned := fieldpath.NewSet()
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			owned = owned.Union(fieldsOf(entry))
		}
	}
	return owned
}

// fieldsOf are the fields of an entry; none where they cannot be read.
func fieldsOf(entry metav1.ManagedFieldsEntry) *fieldpath.Set {
	fields := fieldpath.NewSet()
	if entry.FieldsV1 == nil || fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
		return fieldpath.NewSet()
	}
	return fields
}

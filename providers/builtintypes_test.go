package providers_test

import (
	"bytes"
	"encoding/gob"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/providers"
)

// TestBuiltinTypes compares the types with those in the client library.
func TestBuiltinTypes(t *testing.T) {
	want := typesOf(t, applyconfigurations.NewTypeConverter(scheme.Scheme))
	if golden.Update() {
		var file bytes.Buffer
		if err := gob.NewEncoder(&file).Encode(want); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("builtintypes.gob", file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return // the program embeds the former file
	}
	got := typesOf(t, providers.BuiltinTypes())
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(schema.Map{})); diff != "" {
		t.Errorf("builtintypes.gob differs from the client library, see make golden (-want +got):\n%s", diff)
	}
}

// typesOf returns all types that the converter knows.
func typesOf(t *testing.T, converter managedfields.TypeConverter) []schema.TypeDef {
	t.Helper()
	object := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
	value, err := converter.ObjectToTyped(object)
	if err != nil {
		t.Fatal(err)
	}
	return value.Schema().Types
}

package secrets_test

import (
	"encoding/base64"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/secrets"
)

// TestBase64 checks that 32 random bytes make a Fernet key, a new one each time.
func TestBase64(t *testing.T) {
	seen := map[string]bool{}
	for range 10 {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
		o := providers.Object{Manifest: u, Data: map[string]providers.SecretData{
			"value": {Generate: &providers.Generator{Kind: "base64", Length: 32}},
		}}
		manifest, _, err := secrets.Resolve(&o, world{}.values, true)
		if err != nil {
			t.Fatal(err)
		}
		value := providers.ValuesOf(manifest)["value"]
		if raw, err := base64.URLEncoding.DecodeString(string(value)); err != nil || len(raw) != 32 {
			t.Errorf("%d bytes: %v", len(raw), err)
		}
		if seen[string(value)] {
			t.Error("twice the same key")
		}
		seen[string(value)] = true
	}
}

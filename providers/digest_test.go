package providers_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

func secret(parts ...providers.DataPart) *providers.Object {
	return &providers.Object{
		Address: addrs.Object{Block: "service.keystone", Kind: "Secret", Name: "s"},
		Manifest: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1",
			"kind":       "Secret",
			"metadata":   map[string]any{"name": "s", "generation": int64(3)},
		}},
		Data: map[string]providers.SecretData{"key": {Parts: parts}},
	}
}

func TestDigest(t *testing.T) {
	plain := secret(providers.DataPart{Literal: "a"})
	sensitive := secret(providers.DataPart{Sensitive: "hunter2"})
	tests := map[string]struct {
		a, b *providers.Object
		same bool
	}{
		"same":                       {plain, secret(providers.DataPart{Literal: "a"}), true},
		"another literal":            {plain, secret(providers.DataPart{Literal: "b"}), false},
		"another sensitive value":    {sensitive, secret(providers.DataPart{Sensitive: "hunter3"}), true},
		"sensitive is not literal":   {sensitive, secret(providers.DataPart{Literal: "hunter2"}), false},
		"sensitive in a plan file":   {sensitive, secret(providers.DataPart{Omitted: true}), true},
		"through JSON":               {plain, throughJSON(t, plain), true},
		"sensitive, through JSON":    {secret(providers.DataPart{Omitted: true}), throughJSON(t, secret(providers.DataPart{Omitted: true})), true},
		"another part of the recipe": {plain, secret(providers.DataPart{From: &providers.SecretKey{Name: "a"}}), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.a.Digest() == test.b.Digest(); got != test.same {
				t.Errorf("same digest: %v, want %v", got, test.same)
			}
		})
	}
}

func throughJSON(t *testing.T, o *providers.Object) *providers.Object {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var back providers.Object
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	return &back
}

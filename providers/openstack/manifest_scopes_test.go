package openstack_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestScopesInManifests checks that the scope of its kind decides whether an object has a
// namespace, and therefore decides its address.
func TestScopesInManifests(t *testing.T) {
	const blocks = `
manifest "role" {
  object = { apiVersion = "rbac.authorization.k8s.io/v1", kind = "ClusterRole", metadata = { name = "a", namespace = "kube-system" } }
}
manifest "definition" {
  object = {
    apiVersion = "apiextensions.k8s.io/v1"
    kind       = "CustomResourceDefinition"
    metadata   = { name = "gauges.example.org", namespace = "openstack" }
    spec       = { group = "example.org", names = { kind = "Gauge" }, scope = "Cluster" }
  }
}
manifest "gauge" {
  object = { apiVersion = "example.org/v1", kind = "Gauge", metadata = { name = "a", namespace = "kube-system" } }
}
manifest "served" {
  object = { apiVersion = "example.com/v1", kind = "Served", metadata = { name = "a", namespace = "kube-system" } }
}
manifest "unknown" {
  object = { apiVersion = "example.net/v1", kind = "Unknown", metadata = { name = "a", namespace = "kube-system" } }
}
manifest "none" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "a" } }
}`
	f := facts()
	f.Namespaced = func(kind schema.GroupVersionKind) (namespaced, known bool) { return false, kind.Kind == "Served" }
	objects, diags := rendered(written(t, blocks), f)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	got := map[string]string{}
	for _, o := range objects {
		if o.Manifest.GetName() == "a" || o.Manifest.GetKind() == "CustomResourceDefinition" {
			got[o.Address.String()] = o.Manifest.GetNamespace()
		}
	}
	want := map[string]string{
		"manifest.role/ClusterRole/a":                                     "",
		"manifest.definition/CustomResourceDefinition/gauges.example.org": "",
		"manifest.gauge/Gauge/a":                                          "",
		"manifest.served/Served/a":                                        "",
		"manifest.unknown/Unknown/kube-system/a":                          "kube-system",
		"manifest.none/ConfigMap/a":                                       "openstack",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("namespaces by address (-want +got):\n%s", diff)
	}
}

package kubernetes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/clustertest"
)

// What needs no discovery is what discovery says.
func TestBuiltinIsWhatTheServerHas(t *testing.T) {
	client, err := Connect(Options{Kubeconfig: clustertest.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	served, err := client.discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range builtin {
		if got, ok := served.resources[kind]; !ok || got != want {
			t.Errorf("%s is %+v, %t, want %+v", kind, got, ok, want)
		}
	}
}

func TestPaths(t *testing.T) {
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	got := []string{
		resource{deployments, true}.path("openstack"),
		resource{deployments, true}.path(""),
		resource{schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, false}.path("openstack"),
	}
	want := []string{"/apis/apps/v1/namespaces/openstack/deployments", "/apis/apps/v1/deployments", "/api/v1/nodes"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

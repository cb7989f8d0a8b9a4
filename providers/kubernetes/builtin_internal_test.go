package kubernetes

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/clustertest"
)

// What needs no discovery is what discovery says, and all of the core needs none.
func TestBuiltinIsWhatTheServerHas(t *testing.T) {
	client, err := Connect(Options{Kubeconfig: clustertest.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.access.connection.discovery.ServerGroupsAndResourcesWithContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			served := resource{version.WithResource(r.Name), r.Namespaced}
			known, ok := builtin[version.WithKind(r.Kind)]
			writable := slices.Contains(r.Verbs, "patch") && !strings.Contains(r.Name, "/")
			if ok && writable && known != served || !ok && writable && version.Group == "" {
				t.Errorf("%s of %s is %+v, and known as %+v", r.Kind, version, served, known)
			}
		}
	}
}

func TestPaths(t *testing.T) {
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	got := []string{
		place{resource{deployments, true}, "openstack", ""}.path(),
		place{resource{deployments, true}, "", ""}.path(),
		place{resource{schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, false}, "openstack", ""}.path(),
	}
	want := []string{"/apis/apps/v1/namespaces/openstack/deployments", "/apis/apps/v1/deployments", "/api/v1/nodes"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

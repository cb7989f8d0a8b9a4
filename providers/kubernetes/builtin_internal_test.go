package kubernetes

import (
	"slices"
	"strings"
	"testing"

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

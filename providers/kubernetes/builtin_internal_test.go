package kubernetes

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/dev/clustertest"

	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// TestBuiltinIsWhatTheServerHas checks that the built-in kinds match the server's discovery, and
// that they contain all kinds of the core group.
func TestBuiltinIsWhatTheServerHas(t *testing.T) {
	client, err := Connect(connect.Options{Kubeconfig: clustertest.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.access.Connection.Discovery.ServerGroupsAndResourcesWithContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			served := resources.Resource{GVR: version.WithResource(r.Name), Namespaced: r.Namespaced}
			known, ok := resources.Builtin[version.WithKind(r.Kind)]
			writable := slices.Contains(r.Verbs, "patch") && !strings.Contains(r.Name, "/")
			if ok && writable && known != served || !ok && writable && version.Group == "" {
				t.Errorf("%s of %s is %+v, and known as %+v", r.Kind, version, served, known)
			}
		}
	}
}

package resources

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestPaths(t *testing.T) {
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	got := []string{
		Place{Resource{deployments, true}, "openstack", ""}.Path(),
		Place{Resource{deployments, true}, "", ""}.Path(),
		Place{Resource{schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, false}, "openstack", ""}.Path(),
	}
	want := []string{"/apis/apps/v1/namespaces/openstack/deployments", "/apis/apps/v1/deployments", "/api/v1/nodes"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

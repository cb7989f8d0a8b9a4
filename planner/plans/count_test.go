package plans_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestUnlisted checks that kinds that could not be listed count, except kinds whose APIService the
// plan deletes.
func TestUnlisted(t *testing.T) {
	contents := providers.Contents{Unread: []providers.Unread{
		{Version: schema.GroupVersion{Group: "a.example.org", Version: "v1"}, What: "perhaps a Widget"},
		{Version: schema.GroupVersion{Group: "b.example.org", Version: "v1"}, What: "perhaps a Disk"},
	}}
	service := func(verb plans.Verb, name string) plans.Action {
		return plans.Action{Verb: verb, Ref: providers.Ref{GVK: schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}, Name: name}}
	}
	actions := []plans.Action{service(plans.Delete, "v1.a.example.org"), service(plans.Update, "v1.b.example.org")}
	if diff := cmp.Diff([]string{"perhaps a Disk"}, plans.Unlisted(contents, actions)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

package rights_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/run/rights"
	"kolla.openstack.org/kolla/providers"
)

// TestAccesses checks that roles become single requests, each once.
func TestAccesses(t *testing.T) {
	got := rights.Accesses([]rights.Role{
		{Rules: []rights.Rule{
			{Groups: []string{""}, Resources: []string{"nodes"}, Names: []string{"b", "a", "a"}, Verbs: []string{"get"}},
			{URLs: []string{"/metrics"}, Verbs: []string{"get"}},
		}},
		{Namespace: "openstack", Rules: []rights.Rule{
			{Groups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get", "list"}},
			{Groups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"list"}},
		}},
	})
	want := []providers.Access{
		{Verb: "get", Resource: "nodes", Name: "a"},
		{Verb: "get", Resource: "nodes", Name: "b"},
		{Verb: "get", URL: "/metrics"},
		{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "openstack"},
		{Verb: "list", Group: "apps", Resource: "deployments", Namespace: "openstack"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("accesses (-want +got):\n%s", diff)
	}
}

package lang_test

import (
	"testing"

	"kolla.openstack.org/kolla/lang"
)

// TestInstancesOfRoles checks that a definition takes an instance of a role for its workloads and its
// jobs, as nova-compute does.
func TestInstancesOfRoles(t *testing.T) {
	config, diags := load(t, lang.Options{}, "cloud.hcl", `
cloud "x" {
  release = "2025.1"
}
role "rack" {
  for_each = toset(["a", "b"])
  nodes    = ["node-${each.key}"]
}
definition "agent" {
  workload "agent" {
    kind  = "DaemonSet"
    image = "own"
    user  = 1000
    role  = self.role
  }
  job "discover" {
    image = "own"
    user  = 1000
    nodes = self.role
  }
}
service "agent" {
  for_each = role.rack
  role     = each.value
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for i, want := range []string{"rack-a", "rack-b"} {
		if s := config.Services[i]; s.Workloads[0].Role != want || s.Jobs[0].Nodes == nil || *s.Jobs[0].Nodes != want {
			t.Errorf("%s has the role %q and %v, want %q", s.Name, s.Workloads[0].Role, s.Jobs[0].Nodes, want)
		}
	}
}

package lang_test

import (
	"slices"
	"testing"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// TestUnion checks that a role of other roles has the nodes of all of them, and that a
// service puts another role in the place of the one that its definition names.
func TestUnion(t *testing.T) {
	source := `
role "all" {
  roles = [role.network, role.hyper]
}
role "hyper" {
  roles = [role.std, role.gpu]
}
role "network" {
  nodes = ["net-2", "net-1"]
}
role "std" {
  nodes = ["cmp-1", "net-1"]
}
role "gpu" {
  match = { gpu = "yes" }
}
definition "d" {
  workload "w" {
    kind  = "DaemonSet"
    role  = "nowhere"
    image = "d"
    env   = { NODES = join(",", role.all.nodes) }
  }
}
service "d" {
  workload "w" {
    role = role.all
  }
}
`
	w := serviceIn(t, "d", source).Workloads[0]
	if got := w.Pod.Env[0].Value.Masked(); w.Role != "all" || got != "cmp-1,net-1,net-2" {
		t.Errorf("runs on role %q, whose nodes are %s", w.Role, got)
	}
	config, _ := load(t, lang.Options{Catalogue: smallCatalogue()}, "main.hcl", "cloud \"c\" {\n  release = \"2025.2\"\n}\n"+source)
	roles := config.Roles
	all := &roles[slices.IndexFunc(roles, func(r configs.Role) bool { return r.Name == "all" })]
	for node, want := range map[string]bool{"net-1": true, "cmp-1": true, "gpu-1": true, "other": false} {
		labels := map[string]string{}
		if node == "gpu-1" {
			labels["gpu"] = "yes"
		}
		if got := all.Selects(node, labels); got != want {
			t.Errorf("%s is one of the nodes: %v", node, got)
		}
	}
}

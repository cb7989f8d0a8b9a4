package graph_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/present/graph"
	"kolla.openstack.org/kolla/lang/configs"
)

// hostileGraph has names with special characters of the graph languages.
func hostileGraph() *configs.Config {
	at := func(line int) hcl.Range {
		return hcl.Range{Filename: `dir\cloud.hcl`, Start: hcl.Pos{Line: line}}
	}
	return &configs.Config{
		Roles:     []configs.Role{{Block: "role.control", Name: "control"}, {Block: "module.x.role.end", Name: "end"}},
		Exposures: []configs.Exposure{{Block: "exposure.public", Name: "public", Role: "control"}},
		Services: []configs.Service{
			{Block: `service.redis["a b"]`, Name: "redis-a-b", Role: "control", Workloads: []configs.Workload{{}, {Role: "control"}, {Role: "end"}, {Role: "end"}}},
			{Block: `service.redis["a-b"]`, Name: "redis-ab", External: true},
			{
				Block: "service.a#<b>", Name: "a", Exposure: "public",
				Needs: []string{"manifest.crds", `service.redis["a b"]`, `service.redis["a-b"]`},
				Reasons: []configs.Reason{
					{Needs: "manifest.crds", DependsOn: true, Range: at(3)},
					{Needs: `service.redis["a b"]`, Range: at(4)},
					{Needs: `service.redis["a-b"]`, Through: "local.x", Range: at(5)},
				},
			},
		},
		Manifests: []configs.Manifest{{Block: "manifest.crds", Name: "crds"}},
	}
}

func TestGraphDOT(t *testing.T) {
	want := `digraph kolla {
  rankdir = "LR"
  node [fontname="sans-serif"]
  edge [fontname="sans-serif", fontsize=10]

  "role.control" [label="role.control", shape=hexagon]
  "module.x.role.end" [label="module.x.role.end", shape=hexagon]
  "exposure.public" [label="exposure.public", shape=house]
  "service.redis[\"a b\"]" [label="service.redis[\"a b\"]", shape=box, style=rounded]
  "service.redis[\"a-b\"]" [label="service.redis[\"a-b\"]", shape=box, style="rounded,dashed"]
  "service.a#<b>" [label="service.a#<b>", shape=box, style=rounded]
  "manifest.crds" [label="manifest.crds", shape=note]

  "exposure.public" -> "role.control" [label="role", style=dotted, tooltip="exposure.public uses role.control"]
  "service.redis[\"a b\"]" -> "role.control" [label="role", style=dotted, tooltip="service.redis[\"a b\"] uses role.control"]
  "service.redis[\"a b\"]" -> "module.x.role.end" [label="role", style=dotted, tooltip="service.redis[\"a b\"] uses module.x.role.end"]
  "service.a#<b>" -> "exposure.public" [label="expose", style=dotted, tooltip="service.a#<b> uses exposure.public"]
  "service.a#<b>" -> "manifest.crds" [label="depends_on", style=dashed, tooltip="depends_on at dir\\cloud.hcl:3"]
  "service.a#<b>" -> "service.redis[\"a b\"]" [tooltip="refers to it at dir\\cloud.hcl:4"]
  "service.a#<b>" -> "service.redis[\"a-b\"]" [tooltip="refers to local.x at dir\\cloud.hcl:5"]
}
`
	var b strings.Builder
	if err := graph.DOT(&b, hostileGraph()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGraphMermaid(t *testing.T) {
	want := `flowchart LR
  role_control{{"role.control"}}
  module_x_role_end{{"module.x.role.end"}}
  exposure_public(["exposure.public"])
  service_redis_a_b("service.redis[#quot;a b#quot;]")
  service_redis_a_b_2>"service.redis[#quot;a-b#quot;]"]
  service_a_b("service.a#35;#lt;b#gt;")
  manifest_crds[/"manifest.crds"/]
  exposure_public -.->|"role"| role_control
  service_redis_a_b -.->|"role"| role_control
  service_redis_a_b -.->|"role"| module_x_role_end
  service_a_b -.->|"expose"| exposure_public
  service_a_b -.->|"depends_on"| manifest_crds
  service_a_b -->|"reference"| service_redis_a_b
  service_a_b -->|"reference"| service_redis_a_b_2
`
	var b strings.Builder
	if err := graph.Mermaid(&b, hostileGraph()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestGraphOfMissing checks that a needed block is drawn even if it is not declared.
func TestGraphOfMissing(t *testing.T) {
	config := &configs.Config{Services: []configs.Service{{Block: "service.a", Needs: []string{"module.x.service.b"}}}}
	var b strings.Builder
	if err := graph.Mermaid(&b, config); err != nil {
		t.Fatal(err)
	}
	want := "flowchart LR\n  service_a(\"service.a\")\n  module_x_service_b(\"module.x.service.b\")\n  service_a -->|\"reference\"| module_x_service_b\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

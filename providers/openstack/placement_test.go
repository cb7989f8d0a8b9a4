package openstack_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers/openstack"
)

const placed = `role "pair" {
  nodes = ["ctl-1", "ctl-2"]
}

definition "d" {
  workload "w" {
    kind        = "Deployment"
    image       = "d"
    replicas    = 2
    priority    = "system-node-critical"
    tolerations = [{ key = "a", value = "b", effect = "NoSchedule" }, { operator = "Exists", effect = "NoExecute" }]
  }
}

service "d" {
  role = role.pair

  workload "w" {
    SAID
  }
}
`

// TestPlacement checks that pods have the declared priority, tolerations and spread.
func TestPlacement(t *testing.T) {
	pods := &metav1.LabelSelector{MatchLabels: map[string]string{
		"app.kubernetes.io/component": "d-w", "kolla.openstack.org/cloud": "c", "kolla.openstack.org/service": "d",
	}}
	soft := func(key string) v1.TopologySpreadConstraint {
		return v1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: pods}
	}
	never := func(key string) *v1.Affinity {
		return &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: key, LabelSelector: pods}}}}
	}
	const node, zone = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
	for said, want := range map[string]v1.PodSpec{
		"": {TopologySpreadConstraints: []v1.TopologySpreadConstraint{soft(node)}},
		`spread_by = "topology.kubernetes.io/zone"`:                          {TopologySpreadConstraints: []v1.TopologySpreadConstraint{soft(zone), soft(node)}},
		`spread = "required"`:                                                {Affinity: never(node)},
		"spread = \"required\"\nspread_by = \"topology.kubernetes.io/zone\"": {Affinity: never(zone)},
		"spread = \"required\"\nreplicas = 1":                                {},
	} {
		t.Run(said, func(t *testing.T) {
			objects := render(t, written(t, strings.Replace(placed, "SAID", said, 1)), facts())
			workload := find(t, objects, "Deployment/d-w")
			spec, _, _ := podOf(t, workload)
			got := v1.PodSpec{TopologySpreadConstraints: spec.TopologySpreadConstraints, Affinity: spec.Affinity}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("spread (-want +got):\n%s", diff)
			}
			tolerations := []v1.Toleration{{Key: "a", Operator: "Equal", Value: "b", Effect: "NoSchedule"}, {Operator: "Exists", Effect: "NoExecute"}}
			if diff := cmp.Diff(tolerations, spec.Tolerations); diff != "" {
				t.Errorf("tolerations (-want +got):\n%s", diff)
			}
			if spec.PriorityClassName != "system-node-critical" {
				t.Errorf("priority class %q", spec.PriorityClassName)
			}
			surge, _, _ := unstructured.NestedInt64(workload.Manifest.Object, "spec", "strategy", "rollingUpdate", "maxSurge")
			if wanted := !strings.Contains(said, "required"); (surge == 1) != wanted {
				t.Errorf("surge %v: a pod that is not alone on its node would wait forever", surge)
			}
		})
	}
}

// TestUnion checks that a role that consists of other roles labels the nodes of all of them.
func TestUnion(t *testing.T) {
	objects := render(t, written(t, `role "all" {
  roles = [role.control, role.compute]
}

role "control" {
  nodes = ["ctl-1"]
}

role "compute" {
  match = { "node.kubernetes.io/instance-type" = "hypervisor" }
}

definition "d" {
  workload "w" {
    kind  = "DaemonSet"
    image = "d"
  }
}

service "d" {
  role = role.all
}
`), facts())
	const label = "kolla.openstack.org.node-restriction.kubernetes.io/role-all"
	var nodes []string
	for _, o := range objects {
		if o.Partial && o.Manifest.GetLabels()[label] == "true" {
			nodes = append(nodes, o.Address.Name)
		}
	}
	if want := []string{"cmp-1", "cmp-2", "ctl-1", "n2"}; !slices.Equal(nodes, want) {
		t.Errorf("nodes with the label: %v", nodes)
	}
	o := find(t, objects, "DaemonSet/d-w")
	spec, _, _ := podOf(t, o)
	if diff := cmp.Diff(map[string]string{label: "true"}, spec.NodeSelector); diff != "" {
		t.Error(diff)
	}
	for _, node := range nodes {
		if !slices.ContainsFunc(o.DependsOn, func(a addrs.Object) bool { return a.Kind == "Node" && a.Name == node }) {
			t.Errorf("it does not wait for the label of %s", node)
		}
	}
}

const tainted = `role "all" {
  roles  = [role.control, role.compute]
  taints = ["all:PreferNoSchedule"]
}

role "control" {
  nodes = ["ctl-1"]
}

role "compute" {
  nodes  = ["cmp-1"]
  taints = ["dedicated=compute:NoSchedule", "example.org/a:NoSchedule"]
}

definition "d" {
  job "j" {
    image = "d"
  }

  workload "w" {
    kind        = "Deployment"
    image       = "d"
    tolerations = [{ key = "own", operator = "Exists" }, { key = "all", operator = "Exists", effect = "PreferNoSchedule" }]
  }
}

service "d" {
  role = role.all
}

service "control" {
  definition = "d"
  role       = role.control
}
`

// TestTaints checks that nodes get the taints of their roles, and that the pods of a role
// tolerate them.
func TestTaints(t *testing.T) {
	objects := render(t, written(t, tainted), facts())
	for node, want := range map[string]string{
		"ctl-1": "all:PreferNoSchedule",
		"cmp-1": "all:PreferNoSchedule,dedicated=compute:NoSchedule,example.org/a:NoSchedule",
	} {
		if got := find(t, objects, "Node/"+node).Manifest.GetAnnotations()["taints.kolla.openstack.org/c"]; got != want {
			t.Errorf("taints of %s: %s, want %s", node, got, want)
		}
	}
	own := v1.Toleration{Key: "own", Operator: "Exists"}
	all := v1.Toleration{Key: "all", Operator: "Exists", Effect: "PreferNoSchedule"}
	a := v1.Toleration{Key: "example.org/a", Operator: "Exists", Effect: "NoSchedule"}
	dedicated := v1.Toleration{Key: "dedicated", Operator: "Equal", Value: "compute", Effect: "NoSchedule"}
	for name, want := range map[string][]v1.Toleration{
		"Deployment/d-w": {all, dedicated, a, own}, "Job/d-j": {all, dedicated, a},
		"Deployment/control-w": {own, all}, "Job/control-j": nil,
	} {
		spec, _, _ := podOf(t, find(t, objects, name))
		if diff := cmp.Diff(want, spec.Tolerations); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	other := strings.Replace(tainted, "all:PreferNoSchedule", "dedicated=all:NoSchedule", 1)
	_, diags := rendered(written(t, other), facts())
	if !strings.Contains(diags.Error(), `Roles disagree about a taint; Role "compute" wants dedicated=compute:NoSchedule on node cmp-1, role "all" wants dedicated=all:NoSchedule.`) {
		t.Errorf("two roles, one taint: %v", diags)
	}
}

// TestDuplicateDaemonSets checks that two DaemonSets of one definition may not share a node. If the
// roles match labels, only the cluster shows it.
func TestDuplicateDaemonSets(t *testing.T) {
	config := written(t, `role "hyper" {
  match = { "node.kubernetes.io/instance-type" = "hypervisor" }
}

role "edge" {
  match = { zone = "edge" }
}

role "control" {
  nodes = ["ctl-1"]
}

definition "d" {
  workload "w" {
    kind  = "DaemonSet"
    image = "d"
  }
}

service "hyper" {
  definition = "d"
  role       = role.hyper
}

service "edge" {
  definition = "d"
  role       = role.edge
}

service "control" {
  definition = "d"
  role       = role.control
}
`)
	f := facts()
	_, diags := rendered(config, f)
	want := `Workload "w" of definition "d" would run twice on nodes cmp-1, cmp-2 and n2: for service "edge" and for service "hyper"`
	if len(diags) != 1 || !strings.Contains(diags.Error(), want) {
		t.Errorf("roles that overlap: %v", diags)
	}
	apart := openstack.Offline()
	if _, diags := rendered(config, apart); len(diags) > 0 {
		t.Errorf("without a cluster: %v", diags)
	}
	apart.Nodes = []openstack.Node{{Name: "ctl-1"}, {Name: "a", Labels: map[string]string{"zone": "edge"}}, {Name: "b", Labels: map[string]string{"node.kubernetes.io/instance-type": "hypervisor"}}}
	if _, diags := rendered(config, apart); len(diags) > 0 {
		t.Errorf("roles without common nodes: %v", diags)
	}
}

// TestMorePodsThanNodes checks the warning about pods that need different nodes, if the cluster has
// too few nodes.
func TestMorePodsThanNodes(t *testing.T) {
	config := written(t, `role "hyper" {
  match = { "node.kubernetes.io/instance-type" = "hypervisor" }
}

definition "d" {
  workload "w" {
    kind     = "StatefulSet"
    image    = "d"
    replicas = 3
    spread   = "required"
  }
}

service "d" {
  role = role.hyper
}
`)
	f := facts()
	if _, diags := rendered(config, f); len(diags) > 0 {
		t.Errorf("three pods on three nodes: %v", diags)
	}
	f.Nodes = slices.DeleteFunc(f.Nodes, func(n openstack.Node) bool { return n.Name == "n2" })
	if _, diags := rendered(config, f); !strings.Contains(diags.Error(), "its nodes are: cmp-1, cmp-2.") {
		t.Errorf("three pods on two nodes: %v", diags)
	}
}

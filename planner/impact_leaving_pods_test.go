package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestImpactOnNodesThatPodsLeave checks that a plan names the nodes that the pods of a DaemonSet
// leave, and the consequences, with any update strategy.
func TestImpactOnNodesThatPodsLeave(t *testing.T) {
	const at = "service.ovn/DaemonSet/ovn"
	set := func(label string) *unstructured.Unstructured {
		u := thing("apps/v1", "DaemonSet", "ovn")
		put(t, u, "OnDelete", "spec", "updateStrategy", "type")
		put(t, u, "true", "spec", "template", "spec", "nodeSelector", label)
		return u
	}
	node := func(name string, labels map[string]string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node"}}
		u.SetName(name)
		u.SetLabels(labels)
		return u
	}
	role := map[string]string{"role": "true"}
	for name, test := range map[string]struct {
		set   string
		nodes map[string]map[string]string // the declared nodes with their labels
		loss  string
		want  []string
		grave bool
	}{
		"all stay":         {set: "role", nodes: map[string]map[string]string{"a": role, "b": role}, loss: "servers lose their network"},
		"node in no role":  {set: "role", nodes: map[string]map[string]string{"a": role}, loss: "servers lose their network", grave: true, want: []string{"1 pod is deleted, on b, where servers lose their network"}},
		"node of another":  {set: "role", nodes: map[string]map[string]string{"a": role, "b": {"other": "true"}}, want: []string{"1 pod is deleted, on b"}},
		"another selector": {set: "other", nodes: map[string]map[string]string{"a": {"role": "true", "other": "true"}, "b": role}, loss: "servers lose their network", grave: true, want: []string{"1 pod is deleted, on b, where servers lose their network"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(at, set("role"))
			for _, name := range []string{"a", "b"} {
				w.add("cloud.c/Node/"+name, node(name, role)).Partial = true
				w.last().SetLabels(role)
				owns(w.last(), providers.ManagerOf("prod", true), metav1.ManagedFieldsOperationApply, then, `{"f:metadata":{"f:labels":{"f:role":{}}}}`)
			}
			o := declared(at, set(test.set))
			o.Loss = test.loss
			in := w.input(o)
			for name, labels := range test.nodes {
				n := declared("cloud.c/Node/"+name, node(name, labels))
				n.Partial = true
				in.Objects = append(in.Objects, n)
			}
			plan, problems, err := planner.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err, problems)
			}
			var got, grave []string
			for _, impact := range report.ImpactOf(plan) {
				got, grave = append(got, impact.Lines...), append(grave, impact.Grave...)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || (len(grave) > 0) != test.grave {
				t.Errorf("impact (-want +got):\n%s\ngrave: %q", diff, grave)
			}
		})
	}
}

// TestPodsInPassing checks that a plan warns of pods that a DaemonSet would start on a node
// only until the plan changes its nodeSelector.
func TestPodsInPassing(t *testing.T) {
	const at = "service.nova-compute/DaemonSet/nova-compute"
	set := func(label string) *unstructured.Unstructured {
		u := thing("apps/v1", "DaemonSet", "nova-compute")
		put(t, u, "true", "spec", "template", "spec", "nodeSelector", label)
		return u
	}
	node := func(labels map[string]string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node"}}
		u.SetName("a")
		u.SetLabels(labels)
		return u
	}
	for name, test := range map[string]struct {
		set    string
		labels map[string]string
		warns  bool
	}{
		"leaves the role":     {set: "first", labels: map[string]string{"compute": "true"}, warns: true},
		"stays in the role":   {set: "compute", labels: map[string]string{"compute": "true"}},
		"node of both roles":  {set: "first", labels: map[string]string{"compute": "true", "first": "true"}},
		"node of no old role": {set: "first", labels: map[string]string{"first": "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(at, set("compute"))
			w.add("cloud.c/Node/a", node(nil)).Partial = true
			n := declared("cloud.c/Node/a", node(test.labels))
			n.Partial = true
			in := w.input(declared(at, set(test.set)))
			in.Objects = append(in.Objects, n)
			_, problems, err := planner.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err, problems)
			}
			warned := slices.ContainsFunc(problems, func(p plans.Problem) bool {
				return p.Warning && strings.Contains(p.Detail, "gives a the label compute=true")
			})
			if warned != test.warns {
				t.Errorf("problems %+v", problems)
			}
		})
	}
}

// TestCleanedNodes checks that a plan replaces a workload whose pods have cleaned their nodes, but
// that was not deleted. Other workloads need it, but they have already lost it.
func TestCleanedNodes(t *testing.T) {
	const at = "service.ovn/DaemonSet/ovn"
	for name, cleaned := range map[string]bool{"cleaned": true, "not cleaned": false} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			r := w.add(at, thing("apps/v1", "DaemonSet", "ovn"))
			r.Deleting, r.Cleaned, r.Ready = true, cleaned, false
			o := declared(at, thing("apps/v1", "DaemonSet", "ovn"))
			o.Loss, o.Holds = "servers lose their network", "what others need"
			plan, problems, err := planner.Make(t.Context(), w.input(o))
			if err != nil {
				t.Fatal(err, problems)
			}
			made := slices.ContainsFunc(plan.Actions, func(a plans.Action) bool {
				return a.Verb == plans.Replace && a.Reasons[0].Kind == plans.ReasonCleaned
			})
			if made != cleaned {
				t.Errorf("actions %+v, problems %+v", plan.Actions, problems)
			}
		})
	}
}

package planner_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// carrier is a DaemonSet whose pods carry items of others.
const carrier = "service.ovn/DaemonSet/ovn"

func carriers(t *testing.T) (*world, *unstructured.Unstructured) {
	t.Helper()
	set := thing("apps/v1", "DaemonSet", "ovn")
	put(t, set, "true", "spec", "template", "spec", "nodeSelector", "role")
	w := &world{}
	w.add(carrier, set).Holds = "what others need (servers lose their network)"
	w.last().SetAnnotations(map[string]string{
		providers.AnnotationAddress: carrier,
		providers.AnnotationCarries: `{"what":"running servers","container":"ovn","command":["list","servers"]}`,
	})
	return w, set
}

// cutOffIn returns the line of a plan about items that are cut off.
func cutOffIn(t *testing.T, in planner.Input) string {
	t.Helper()
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || plan == nil {
		t.Fatal(err, problems)
	}
	var got string
	for _, impact := range report.ImpactOf(plan) {
		for _, line := range impact.Grave {
			if strings.Contains(line, "cut off") {
				got += line
			}
		}
	}
	return got
}

// TestNothingIsAsked checks that a plan that deletes a workload warns about the items that its pods
// carry, and that only an apply asks the pods for details.
func TestNothingIsAsked(t *testing.T) {
	for name, test := range map[string]struct {
		change func(set *unstructured.Unstructured)
		want   string // empty: no line
	}{
		"carries": {want: "running servers that may be cut off: not known until an apply asks the pods"},
		"nonsense": {
			change: func(set *unstructured.Unstructured) {
				set.SetAnnotations(map[string]string{providers.AnnotationAddress: carrier, providers.AnnotationCarries: "{}"})
			},
			want: "what it carries that may be cut off: not known until an apply asks the pods",
		},
		"nothing is said": {change: func(set *unstructured.Unstructured) { set.SetAnnotations(nil) }},
		"not kolla's":     {change: func(set *unstructured.Unstructured) { set.SetUID("another") }},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := carriers(t)
			if test.change != nil {
				test.change(w.last())
			}
			in := w.input()
			in.DeleteData = []string{"*"}
			if got := cutOffIn(t, in); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestOthersAreNotAsked checks that a plan that moves no pods asks none, and that a plan that takes
// a workload from a node names the node.
func TestOthersAreNotAsked(t *testing.T) {
	const asks = "running servers that may be cut off: not known until an apply asks the pods on "
	for name, test := range map[string]struct {
		labelled []string
		forged   bool // the state has another DaemonSet
		want     string
	}{
		"all stay":      {labelled: []string{"a", "b"}},
		"one is left":   {labelled: []string{"b"}, want: asks + "a"},
		"both are left": {want: asks + "a, b"},
		"not kolla's":   {forged: true},
	} {
		t.Run(name, func(t *testing.T) {
			w, set := carriers(t)
			if test.forged {
				w.last().SetUID("another")
			}
			in := w.input(declared(carrier, set))
			for _, name := range []string{"a", "b"} {
				n := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node"}}
				n.SetName(name)
				n.SetLabels(map[string]string{"role": "true"})
				w.add("cloud.c/Node/"+name, n).Partial = true
				w.last().SetLabels(n.GetLabels())
				owns(w.last(), providers.ManagerOf("prod", true), metav1.ManagedFieldsOperationApply, then, `{"f:metadata":{"f:labels":{"f:role":{}}}}`)
				if slices.Contains(test.labelled, name) {
					o := declared("cloud.c/Node/"+name, n)
					o.Partial = true
					in.Objects = append(in.Objects, o)
				}
			}
			if got := cutOffIn(t, in); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

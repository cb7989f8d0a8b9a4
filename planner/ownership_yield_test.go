package planner_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestYieldsAreSaved checks that a plan file keeps the fields that are left to others.
func TestYieldsAreSaved(t *testing.T) {
	before := plans.Yield{Path: "spec.replicas", Manager: "hpa", Time: then, Field: `{"f:spec":{"f:replicas":{}}}`, Value: int64(3), Declared: true}
	raw, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	var after plans.Yield
	if err := json.Unmarshal(raw, &after); err != nil {
		t.Fatal(err)
	}
	after.Value = int64(after.Value.(float64)) // a plan file is read with whole numbers
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

// TestReplaceOfAYield checks that a replacement has the declared value of a field until its
// controller sets it again. This is not drift.
func TestReplaceOfAYield(t *testing.T) {
	manifest := workload("Deployment", "api")
	was := live(manifest, "uid-1")
	put(t, was, int64(6), "spec", "replicas")
	owns(was, "horizontal-pod-autoscaler", metav1.ManagedFieldsOperationUpdate, then, replicasField)
	in := input(&cluster{objects: []*unstructured.Unstructured{was}, answer: func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
		after := u.DeepCopy()
		owns(after, providers.FieldManager, metav1.ManagedFieldsOperationApply, now, replicasField)
		return after, nil
	}}, declared("service.a/Deployment/api", manifest))
	in.State.Objects = append(in.State.Objects, recorded("service.a/Deployment/api", was))
	in.Replace = []string{"service.a/Deployment/api"}
	scaler := thing("autoscaling/v2", "HorizontalPodAutoscaler", "api")
	scaler.Object["spec"] = map[string]any{"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"}}
	fake := in.Reader.(*cluster)
	fake.objects = append(fake.objects, scaler)
	want := []plans.Change{{Path: "spec.replicas", Before: int64(6), After: int64(3), Manager: "horizontal-pod-autoscaler", Time: then}}
	if diff := cmp.Diff(want, find(t, mustPlan(t, in), "service.a/Deployment/api").Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestMoves(t *testing.T) {
	object := thing("v1", "ConfigMap", "a")
	target := func(text string) addrs.Target {
		if strings.Contains(text, "/") {
			return addrs.Target{Block: address(text).Block, Object: address(text)}
		}
		return addrs.Target{Block: text}
	}
	tests := map[string]struct {
		moves []addrs.Move
		from  string
	}{
		"block":             {[]addrs.Move{{From: target("manifest.old"), To: target("manifest.new")}}, "manifest.old/ConfigMap/a"},
		"object":            {[]addrs.Move{{From: target("manifest.old/ConfigMap/a"), To: target("manifest.new/ConfigMap/a")}}, "manifest.old/ConfigMap/a"},
		"one after another": {[]addrs.Move{{From: target("manifest.mid"), To: target("manifest.new")}, {From: target("manifest.old"), To: target("manifest.mid")}}, "manifest.old/ConfigMap/a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(test.from, object)
			in := w.input(declared("manifest.new/ConfigMap/a", w.last()))
			in.Moves = test.moves
			plan := mustPlan(t, in)
			a, old := find(t, plan, "manifest.new/ConfigMap/a"), find(t, plan, test.from)
			if a.Verb != plans.Adopt || a.Reasons[0].Kind != plans.ReasonMoved || a.Reasons[0].Detail != test.from {
				t.Errorf("%s because of %+v", a.Verb, a.Reasons)
			}
			if old.Verb != plans.Forget || plan.Counts() != (plans.Counts{Move: 1}) {
				t.Errorf("%s; counts %+v", old.Verb, plan.Counts())
			}
		})
	}
}

func TestImports(t *testing.T) {
	const at = "manifest.a/ConfigMap/a"
	tests := map[string]struct {
		to, id string
		gone   bool
		want   string // part of the problem; empty: it is taken over
	}{
		"taken over":       {to: at, id: "openstack/a"},
		"another name":     {to: at, id: "openstack/b", want: `is another object than "openstack/b"`},
		"not declared":     {to: "manifest.a/ConfigMap/b", id: "openstack/a", want: `Did you mean "manifest.a/ConfigMap/a"`},
		"nothing there":    {to: at, id: "openstack/a", gone: true, want: "does not exist"},
		"another is meant": {to: "manifest.b/ConfigMap/b", id: "openstack/b", want: "exists and is not kolla's"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := &cluster{}
			var objects []providers.Object
			for _, name := range []string{"a", "b"} {
				u := thing("v1", "ConfigMap", name)
				foreign := live(u, "uid-"+"1")
				foreign.SetLabels(nil)
				if !test.gone && (name == "a" || test.to != at) {
					c.objects = append(c.objects, foreign)
				}
				if name == "a" || test.to == "manifest.b/ConfigMap/b" {
					objects = append(objects, declared("manifest."+name+"/ConfigMap/"+name, u))
				}
			}
			in := input(c, objects...)
			in.Imports = []addrs.Import{{To: address(test.to), ID: test.id}}
			if test.want != "" {
				if got := mustNotPlan(t, in); !strings.Contains(got, test.want) {
					t.Errorf("problem is %q", got)
				}
				return
			}
			if a := find(t, mustPlan(t, in), at); a.Verb != plans.Adopt || a.Reasons[0].Kind != plans.ReasonUnowned {
				t.Errorf("%s because of %+v", a.Verb, a.Reasons)
			}
		})
	}
}

// TestImportsOfOthers checks that an import of a missing object does not block a plan that does not
// need the import.
func TestImportsOfOthers(t *testing.T) {
	const at = "manifest.a/ConfigMap/a"
	for name, change := range map[string]func(*planner.Input){
		"not selected": func(in *planner.Input) { in.Selection.Targets = []string{"manifest.b"} },
		"refresh":      func(in *planner.Input) { in.RefreshOnly = true },
	} {
		t.Run(name, func(t *testing.T) {
			in := input(&cluster{}, declared(at, thing("v1", "ConfigMap", "a")), declared("manifest.b/ConfigMap/b", thing("v1", "ConfigMap", "b")))
			in.Imports = []addrs.Import{{To: address(at), ID: "openstack/a"}}
			change(&in)
			if got := mustPlan(t, in).Actions; slices.ContainsFunc(got, func(a plans.Action) bool { return a.Address == address(at) }) {
				t.Errorf("actions are %+v", got)
			}
		})
	}
}

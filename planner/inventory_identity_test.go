package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// scaler adds an autoscaler to the cluster that was applied in an older version of its kind than
// the declared one. The server shows the object in both versions.
func scaler(w *world) {
	w.add("manifest.a/HorizontalPodAutoscaler/x", thing("autoscaling/v1", "HorizontalPodAutoscaler", "x"))
	newer := w.last().DeepCopy()
	newer.SetAPIVersion("autoscaling/v2")
	w.cluster.objects = append(w.cluster.objects, newer)
}

// TestOneObjectInTwoVersions checks that an object is the same in every version of its kind.
func TestOneObjectInTwoVersions(t *testing.T) {
	tests := map[string]struct {
		at      string
		destroy bool
		want    []string
	}{
		"in its place":            {at: "manifest.a", want: []string{"update manifest.a/HorizontalPodAutoscaler/x"}},
		"at another address":      {at: "manifest.b", want: []string{"update manifest.b/HorizontalPodAutoscaler/x", "forget manifest.a/HorizontalPodAutoscaler/x"}},
		"destroyed":               {at: "manifest.a", destroy: true, want: []string{"delete manifest.a/HorizontalPodAutoscaler/x"}},
		"destroyed and elsewhere": {at: "manifest.b", destroy: true, want: []string{"delete manifest.a/HorizontalPodAutoscaler/x"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			scaler(w)
			manifest := thing("autoscaling/v2", "HorizontalPodAutoscaler", "x")
			manifest.Object["spec"] = map[string]any{"maxReplicas": int64(3)}
			in := w.input(declared(test.at+"/HorizontalPodAutoscaler/x", manifest))
			in.Destroy = test.destroy
			if diff := cmp.Diff(test.want, verbs(mustPlan(t, in))); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeclaredInTwoVersions(t *testing.T) {
	got := mustNotPlan(t, input(&cluster{},
		declared("manifest.a/HorizontalPodAutoscaler/x", thing("autoscaling/v1", "HorizontalPodAutoscaler", "x")),
		declared("manifest.b/HorizontalPodAutoscaler/x", thing("autoscaling/v2", "HorizontalPodAutoscaler", "x"))))
	if !strings.Contains(got, "is declared twice") {
		t.Errorf("problem is %q", got)
	}
}

// TestOneActionAnObject checks that a plan fails if it would write one object twice. Here the
// server shows one object in two API groups.
func TestOneActionAnObject(t *testing.T) {
	w := &world{}
	w.add("manifest.a/Event/x", thing("v1", "Event", "x"))
	twin := w.last().DeepCopy()
	twin.SetAPIVersion("events.k8s.io/v1")
	w.cluster.objects = append(w.cluster.objects, twin)
	in := w.input(declared("manifest.b/Event/x", thing("events.k8s.io/v1", "Event", "x")))
	in.Adopt = everything(in.Objects)
	plan, _, err := planner.Make(t.Context(), in)
	if err == nil || !strings.Contains(err.Error(), "delete as manifest.a/Event/x") {
		t.Errorf("plan %v, error %v", plan, err)
	}
}

// end returns one end of a moved block for one object.
func end(at string) addrs.Target { return addrs.Target{Block: address(at).Block, Object: address(at)} }

// TestMovedToAnotherName checks that a moved object with another name is another object: the plan
// creates the new one and deletes the old one.
func TestMovedToAnotherName(t *testing.T) {
	const was, is = "manifest.a/ConfigMap/web", "manifest.b/ConfigMap/site"
	w := &world{}
	w.add(was, thing("v1", "ConfigMap", "web"))
	in := w.input(declared(is, thing("v1", "ConfigMap", "site")))
	in.Moves = []addrs.Move{{From: end(was), To: end(is)}}
	plan := mustPlan(t, in)
	if diff := cmp.Diff([]string{"create " + is, "delete " + was}, verbs(plan)); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	if got := find(t, plan, is).Reasons; !slices.Equal(kinds(got), []plans.ReasonKind{plans.ReasonNew}) {
		t.Errorf("it is made because of %+v", got)
	}
	if got := find(t, plan, was).Reasons[0].Detail; !strings.Contains(got, "moved to "+is) {
		t.Errorf("the other one goes without a word about the move: %q", got)
	}
}

// TestMovesToOneAddress checks that a plan does not move a record to an address that is taken, and
// warns about it.
func TestMovesToOneAddress(t *testing.T) {
	const a, b, to = "manifest.a/ConfigMap/a", "manifest.b/ConfigMap/b", "manifest.c/ConfigMap/c"
	tests := map[string]struct {
		moves []addrs.Move
		want  string
	}{
		"two":               {[]addrs.Move{{From: end(a), To: end(to)}, {From: end(b), To: end(to)}}, b + " cannot move to " + to},
		"one that is taken": {[]addrs.Move{{From: addrs.Target{Block: "manifest.a"}, To: addrs.Target{Block: "manifest.d"}}}, a + " cannot move to manifest.d/ConfigMap/a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(a, thing("v1", "ConfigMap", "a"))
			w.add(b, thing("v1", "ConfigMap", "b"))
			w.add("manifest.d/ConfigMap/a", thing("v1", "ConfigMap", "d"))
			in := w.input(declared(to, thing("v1", "ConfigMap", "c")))
			in.Moves = test.moves
			plan, problems, err := planner.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) != 1 || !problems[0].Warning || problems[0].Summary != test.want+", which is taken" {
				t.Errorf("problems are %+v", problems)
			}
			want := []string{"create " + to, "delete " + a, "delete " + b, "delete manifest.d/ConfigMap/a"}
			if diff := cmp.Diff(want, verbs(plan)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMoveThatWasKilled checks a state in which a killed apply left records of one object at both
// ends of a move.
func TestMoveThatWasKilled(t *testing.T) {
	const was, is = "manifest.old/ConfigMap/a", "manifest.new/ConfigMap/a"
	w := &world{}
	w.add(was, thing("v1", "ConfigMap", "a"))
	again := w.state.Objects[0]
	again.Address = is
	w.state.Objects = append(w.state.Objects, again)
	in := w.input(declared(is, w.last()))
	in.Moves = []addrs.Move{{From: addrs.Target{Block: "manifest.old"}, To: addrs.Target{Block: "manifest.new"}}}
	if diff := cmp.Diff([]string{"none " + is, "forget " + was}, verbs(mustPlan(t, in))); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	in = w.input()
	in.Destroy = true
	if diff := cmp.Diff([]string{"forget " + is, "delete " + was}, verbs(mustPlan(t, in))); diff != "" {
		t.Errorf("actions of a destroy (-want +got):\n%s", diff)
	}
}

// TestAnotherNamespace checks that a plan does not forget objects in the old namespace when the
// cloud's namespace changes. The address of an object does not contain the namespace.
func TestAnotherNamespace(t *testing.T) {
	w := &world{}
	there := thing("v1", "ConfigMap", "a")
	there.SetNamespace("old")
	w.add(atConfigMap, there)
	in := w.input(declared(atConfigMap, thing("v1", "ConfigMap", "a")))
	w.cluster.objects = append(w.cluster.objects, namespaceOf("old"))
	if got := mustNotPlan(t, in); !strings.Contains(got, "declared in another namespace now") || !strings.Contains(got, "ConfigMap old/a") {
		t.Errorf("problem is %q", got)
	}
	in = w.input(in.Objects...)
	in.RefreshOnly = true
	if got := verbs(mustPlan(t, in)); len(got) > 0 {
		t.Errorf("a refresh would %s", got)
	}

	// The errors that follow from it, such as a node port that the old Service has, are not reported.
	w.cluster.answer = func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a", nil)
	}
	in = w.input(in.Objects...)
	if _, problems, err := planner.Make(t.Context(), in); err != nil || len(problems) != 1 {
		t.Errorf("the problems are %v, %v; want one", problems, err)
	}
}

// TestNamespaceOfAClusterScopedObject checks that a plan finds a cluster-scoped object that an
// earlier apply recorded with a namespace, and moves its record to the right address.
func TestNamespaceOfAClusterScopedObject(t *testing.T) {
	const was, is = "manifest.a/ClusterRole/kube-system/a", "manifest.a/ClusterRole/a"
	role := thing("rbac.authorization.k8s.io/v1", "ClusterRole", "a")
	role.SetNamespace("")
	w := &world{}
	r := w.add(was, role)
	r.Namespace = "kube-system"
	plan := mustPlan(t, w.input(declared(is, role)))
	if diff := cmp.Diff([]string{"update " + is, "forget " + was}, verbs(plan)); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	moved := find(t, plan, is)
	if from := moved.MovedFrom(); from != was {
		t.Errorf("moved from %q, want %q", from, was)
	}
	in := w.input(declared("manifest.b/ClusterRole/a", role))
	in.Moves = []addrs.Move{{From: addrs.Target{Block: "manifest.a"}, To: addrs.Target{Block: "manifest.b"}}}
	moved = find(t, mustPlan(t, in), "manifest.b/ClusterRole/a")
	if from := moved.MovedFrom(); from != was {
		t.Errorf("with a moved block: moved from %q, want %q", from, was)
	}
	in = w.input()
	in.Destroy = true
	if diff := cmp.Diff([]string{"delete " + was}, verbs(mustPlan(t, in))); diff != "" {
		t.Errorf("actions of a destroy (-want +got):\n%s", diff)
	}
	if r.Namespace != "kube-system" {
		t.Error("the plan has changed the state")
	}
}

package planner_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// What others have added to kolla's objects, each thing once and as a whole, and not
// what Kubernetes and tools keep for themselves.
func TestForeign(t *testing.T) {
	const apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	later := then.Add(time.Hour)
	sidecar := map[string]any{"name": "sidecar", "image": "side:1"}
	base := func(t *testing.T) *unstructured.Unstructured {
		u := workload("Deployment", "api")
		owns(u, "kolla", apply, then, `{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:name":{},"f:image":{}}}}}}}`)
		return u
	}
	tests := map[string]struct {
		add  func(t *testing.T, u *unstructured.Unstructured)
		want []planner.Change
	}{
		"nothing": {add: func(*testing.T, *unstructured.Unstructured) {}},
		"a container": {
			add: func(t *testing.T, u *unstructured.Unstructured) {
				put(t, u, []any{container(u), sidecar}, "spec", "template", "spec", "containers")
				owns(u, "injector", update, then, `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"sidecar\"}":{".":{},"f:name":{},"f:image":{}}}}}}}`)
			},
			want: []planner.Change{{Path: `spec.template.spec.containers["sidecar"]`, Before: sidecar, Manager: "injector", Time: then}},
		},
		"a field of kolla's container": {
			add: func(_ *testing.T, u *unstructured.Unstructured) {
				container(u)["tty"] = true
				owns(u, "kubectl-edit", update, then, `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{"f:tty":{}}}}}}}`)
			},
			want: []planner.Change{{Path: `spec.template.spec.containers["main"].tty`, Before: true, Manager: "kubectl-edit", Time: then}},
		},
		"what two have: who came last": {
			add: func(t *testing.T, u *unstructured.Unstructured) {
				put(t, u, int64(7), "spec", "revisionHistoryLimit")
				owns(u, "one", update, then, `{"f:spec":{"f:revisionHistoryLimit":{}}}`)
				owns(u, "two", update, later, `{"f:spec":{"f:revisionHistoryLimit":{}}}`)
			},
			want: []planner.Change{{Path: "spec.revisionHistoryLimit", Before: int64(7), Manager: "two", Time: later}},
		},
		"what kolla has as well": {
			add: func(_ *testing.T, u *unstructured.Unstructured) {
				owns(u, "kubectl", update, then, `{"f:spec":{"f:replicas":{}}}`)
			},
		},
		"what is not there any more": {
			add: func(_ *testing.T, u *unstructured.Unstructured) {
				owns(u, "kubectl", update, then, `{"f:spec":{"f:paused":{}}}`)
			},
		},
		"notes of tools, and one of a person": {
			add: func(_ *testing.T, u *unstructured.Unstructured) {
				u.SetAnnotations(map[string]string{"deployment.kubernetes.io/revision": "1", "kubectl.kubernetes.io/last-applied-configuration": "{}", "team": "blue"})
				owns(u, "kubectl-annotate", update, then, `{"f:metadata":{"f:annotations":{".":{},"f:deployment.kubernetes.io/revision":{},"f:kubectl.kubernetes.io/last-applied-configuration":{},"f:team":{}}}}`)
			},
			want: []planner.Change{{Path: "metadata.annotations.team", Before: "blue", Manager: "kubectl-annotate", Time: then}},
		},
		"the household of Kubernetes": {
			add: func(t *testing.T, u *unstructured.Unstructured) {
				put(t, u, int64(7), "spec", "revisionHistoryLimit")
				owns(u, "kube-controller-manager", update, then, `{"f:spec":{"f:revisionHistoryLimit":{}}}`)
			},
		},
		"status": {
			add: func(t *testing.T, u *unstructured.Unstructured) {
				put(t, u, int64(7), "status", "replicas")
				owns(u, "acme", update, then, `{"f:status":{"f:replicas":{}}}`)
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			u := base(t)
			test.add(t, u)
			annotations := u.GetAnnotations()
			w.add("service.a/Deployment/api", u)
			w.last().SetAnnotations(annotations)
			w.cluster.answer = func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
				return w.cluster.objects[0], nil
			}
			in := w.input(declared("service.a/Deployment/api", workload("Deployment", "api")))
			if plan := mustPlan(t, in); plan.Foreign != nil {
				t.Errorf("unasked, it lists %+v", plan.Foreign)
			}
			in.Foreign, in.Snapshot = true, providers.NewSnapshot(&w.cluster)
			plan := mustPlan(t, in)
			if plan.Changes() {
				t.Errorf("the plan is to %v", verbs(plan))
			}
			var got []planner.Change
			for _, f := range plan.Foreign {
				if f.Address != address("service.a/Deployment/api") || f.Ref.Name != "api" {
					t.Errorf("it is of %s, %s", f.Address, f.Ref)
				}
				got = append(got, f.Fields...)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("added by others (-want +got):\n%s", diff)
			}
		})
	}
}

// Values that others put into a Secret are as secret as kolla's.
func TestForeignSecret(t *testing.T) {
	w := &world{}
	u := thing("v1", "Secret", "a")
	u.Object["data"] = map[string]any{"theirs": "aHVzaA=="}
	owns(u, "acme", metav1.ManagedFieldsOperationUpdate, then, `{"f:data":{".":{},"f:theirs":{}}}`)
	w.add("service.a/Secret/a", u)
	w.cluster.answer = func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
		return w.cluster.objects[0], nil
	}
	in := w.input(declared("service.a/Secret/a", thing("v1", "Secret", "a")))
	in.Foreign = true
	want := []planner.Change{{Path: `data["theirs"]`, Before: planner.Masked, Sensitive: true, Manager: "acme", Time: then}}
	plan := mustPlan(t, in)
	if len(plan.Foreign) != 1 {
		t.Fatalf("it lists %+v", plan.Foreign)
	}
	if diff := cmp.Diff(want, plan.Foreign[0].Fields); diff != "" {
		t.Errorf("added by others (-want +got):\n%s", diff)
	}
}

// shared is a Deployment of kolla's that others have written to: they declare the
// same as kolla does in spec.replicas, and have added the rest.
func shared(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	u := live(workload("Deployment", "api"), "uid-1")
	u.SetAnnotations(map[string]string{"team": "blue", "seen": "1"})
	container(u)["command"] = []any{"miner"}
	owns(u, providers.FieldManager, metav1.ManagedFieldsOperationApply, then, `{"f:spec":{"f:template":{}}}`)
	owns(u, "kubectl-annotate", metav1.ManagedFieldsOperationUpdate, then, `{"f:metadata":{"f:annotations":{"f:team":{}}},"f:spec":{"f:replicas":{}}}`)
	owns(u, "acme-operator", metav1.ManagedFieldsOperationUpdate, then, `{"f:metadata":{"f:annotations":{"f:seen":{}}}}`)
	owns(u, "kube-controller-manager", metav1.ManagedFieldsOperationUpdate, then, `{"f:spec":{"f:paused":{}}}`)
	return u
}

// What people have added is counted, and listed on request; what is declared is
// neither, whoever wrote it.
func TestAdditions(t *testing.T) {
	plan := func(foreign bool) *planner.Plan {
		w := &world{}
		u := shared(t)
		w.cluster.objects = append(w.cluster.objects, u)
		w.state.Objects = append(w.state.Objects, recorded("service.a/Deployment/api", u))
		in := w.input(declared("service.a/Deployment/api", workload("Deployment", "api")))
		in.Foreign = foreign
		return mustPlan(t, in)
	}
	silent := plan(false)
	if diff := cmp.Diff(&planner.Additions{Objects: 1, Fields: 1, Managers: []string{"kubectl-annotate"}}, silent.Additions); diff != "" || silent.Foreign != nil {
		t.Errorf("additions (-want +got):\n%s; list %+v", diff, silent.Foreign)
	}
	listed := plan(true)
	var paths []string
	for _, c := range listed.Foreign[0].Fields {
		paths = append(paths, c.Path)
	}
	if diff := cmp.Diff([]string{`metadata.annotations.seen`, `metadata.annotations.team`}, paths); diff != "" || listed.Additions != nil {
		t.Errorf("listed (-want +got):\n%s; additions %+v", diff, listed.Additions)
	}
}

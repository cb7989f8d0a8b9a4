package planner_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

const (
	replicasField = `{"f:spec":{"f:replicas":{}}}`
	nothing       = `{}`
)

// TestBlame checks which manager a plan blames for 5 instead of 3 replicas. It depends on the
// owners of the field before and after, and on whether the configuration changed.
func TestBlame(t *testing.T) {
	type entry struct {
		manager   string
		operation metav1.ManagedFieldsOperationType
		at        time.Time
	}
	later := then.Add(time.Minute)
	tests := map[string]struct {
		held, wanted bool
		others       []entry
		changed      bool // the configuration
		want         plans.Reason
	}{
		"held, other configuration": {
			held: true, wanted: true, changed: true,
			want: plans.Reason{Kind: plans.ReasonConfig},
		},
		"held and no longer declared": {
			held: true, changed: true,
			want: plans.Reason{Kind: plans.ReasonConfig},
		},
		"held, same configuration": {
			held: true, wanted: true,
			want: plans.Reason{Kind: plans.ReasonUnexplained},
		},
		"held with somebody else": {
			held: true, wanted: true, changed: true, others: []entry{{"kubectl", metav1.ManagedFieldsOperationApply, then}},
			want: plans.Reason{Kind: plans.ReasonConfig},
		},
		"taken": {
			wanted: true, others: []entry{{"kubectl-edit", metav1.ManagedFieldsOperationUpdate, then}},
			want: plans.Reason{Kind: plans.ReasonDrift, Path: "spec.replicas", Manager: "kubectl-edit", Time: then},
		},
		"taken, and the configuration changed elsewhere": {
			wanted: true, changed: true, others: []entry{{"kubectl-edit", metav1.ManagedFieldsOperationUpdate, then}},
			want: plans.Reason{Kind: plans.ReasonDrift, Path: "spec.replicas", Manager: "kubectl-edit", Time: then},
		},
		"taken twice": {
			wanted: true, others: []entry{{"kubectl-edit", metav1.ManagedFieldsOperationUpdate, then}, {"k9s", metav1.ManagedFieldsOperationUpdate, later}},
			want: plans.Reason{Kind: plans.ReasonDrift, Path: "spec.replicas", Manager: "k9s", Time: later},
		},
		"removed by nobody knows whom": {
			wanted: true,
			want:   plans.Reason{Kind: plans.ReasonDrift, Path: "spec.replicas"},
		},
		"newly declared": {
			wanted: true, changed: true,
			want: plans.Reason{Kind: plans.ReasonConfig},
		},
		"nobody's, such as a default": {
			changed: true,
			want:    plans.Reason{Kind: plans.ReasonUnexplained},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			fields := func(owned bool) string {
				if owned {
					return replicasField
				}
				return nothing
			}
			manifest := objecttest.Read(t, objecttest.Deployment)
			was := live(manifest, "uid-1")
			was.Object["spec"].(map[string]any)["replicas"] = int64(5)
			owns(was, "kolla", metav1.ManagedFieldsOperationApply, then, fields(test.held))
			for _, other := range test.others {
				owns(was, other.manager, other.operation, other.at, replicasField)
			}
			after := live(manifest, "uid-1")
			owns(after, "kolla", metav1.ManagedFieldsOperationApply, now, fields(test.wanted))

			in := input(&cluster{objects: []*unstructured.Unstructured{was}, answer: func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
				return after, nil
			}}, declared("service.keystone/Deployment/keystone-api", manifest))
			record := recorded("service.keystone/Deployment/keystone-api", was)
			if !test.changed {
				record.DesiredDigest = in.Objects[0].Digest()
			}
			in.State.Objects = append(in.State.Objects, record)

			got := find(t, mustPlan(t, in), "service.keystone/Deployment/keystone-api")
			if diff := cmp.Diff([]plans.Reason{test.want}, got.Reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			wantChange := plans.Change{
				Path: "spec.replicas", Before: int64(5), After: int64(3),
				Drift:   test.want.Kind == plans.ReasonDrift,
				Edited:  test.want.Kind == plans.ReasonDrift && test.changed,
				Manager: test.want.Manager, Time: test.want.Time,
			}
			if diff := cmp.Diff([]plans.Change{wantChange}, got.Changes); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReasonsAreCollected checks that an action names each reason once, for any number of fields.
func TestReasonsAreCollected(t *testing.T) {
	manifest := objecttest.Read(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: openstack}, data: {w: \"1\", x: \"1\", y1: \"1\", z: \"1\"}}")
	was := live(manifest, "uid-1")
	was.Object["data"] = map[string]any{"w": "0", "x": "0", "y1": "0", "z": "0"}
	owns(was, "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:data":{"f:w":{}}}`)
	owns(was, "kubectl-edit", metav1.ManagedFieldsOperationUpdate, then, `{"f:data":{"f:x":{},"f:y1":{}}}`)
	owns(was, "k9s", metav1.ManagedFieldsOperationUpdate, then, `{"f:data":{"f:z":{}}}`)
	after := live(manifest, "uid-1")
	owns(after, "kolla", metav1.ManagedFieldsOperationApply, now, `{"f:data":{"f:w":{},"f:x":{},"f:y1":{},"f:z":{}}}`)
	in := input(&cluster{objects: []*unstructured.Unstructured{was}, answer: func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
		return after, nil
	}}, declared(atConfigMap, manifest))
	in.State.Objects = []state.Object{recorded(atConfigMap, was)}
	want := []plans.Reason{
		{Kind: plans.ReasonConfig},
		{Kind: plans.ReasonDrift, Manager: "kubectl-edit", Time: then},
		{Kind: plans.ReasonDrift, Path: `data["z"]`, Manager: "k9s", Time: then},
	}
	if diff := cmp.Diff(want, find(t, mustPlan(t, in), atConfigMap).Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// TestConflicts checks that a plan takes a field, leaves it, or is refused. The tests of
// planner/internal/ownership check who owns a field.
func TestConflicts(t *testing.T) {
	unknown := func(in *planner.Input, _ *unstructured.Unstructured) {
		in.State.Objects = nil
		in.Adopt = everything(in.Objects)
	}
	tests := map[string]struct {
		manager string
		adjust  func(*planner.Input, *unstructured.Unstructured)
		taken   bool
		left    bool // the field is left to its owner and not sent
	}{
		"in kolla's own object": {manager: "kube-controller-manager", taken: true},
		"by force": {
			manager: "helm", taken: true,
			adjust: func(in *planner.Input, u *unstructured.Unstructured) {
				unknown(in, u)
				in.ForceConflicts = true
			},
		},
		"yielded to": {
			manager: "helm-2", left: true,
			adjust: treated(providers.Lifecycle{YieldTo: []string{"helm*"}}),
		},
		"another tool, on what is to be adopted": {manager: "helm", adjust: unknown},
		"kubectl, on what is to be adopted":      {manager: "kubectl", taken: true, adjust: unknown},
		"kubectl, on a node that kolla never labelled": {
			manager: "kubectl",
			adjust: func(in *planner.Input, _ *unstructured.Unstructured) {
				in.State.Objects = nil
				in.Objects[0].Partial = true
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			manifest := objecttest.Read(t, configMap)
			was := live(manifest, "uid-1")
			was.Object["data"] = map[string]any{"x": "0"}
			owns(was, test.manager, metav1.ManagedFieldsOperationUpdate, then, `{"f:data":{"f:x":{}}}`)
			in := input(&cluster{objects: []*unstructured.Unstructured{was}, answer: func(u *unstructured.Unstructured, o providers.DryRunOptions) (*unstructured.Unstructured, error) {
				if _, sent, _ := unstructured.NestedFieldNoCopy(u.Object, "data", "x"); !sent {
					return was, nil
				}
				if !o.Force {
					return nil, &providers.ConflictError{Conflicts: []providers.Conflict{{Manager: test.manager, Path: ".data.x"}}}
				}
				u = u.DeepCopy()
				owns(u, "kolla", metav1.ManagedFieldsOperationApply, now, `{"f:data":{"f:x":{}}}`)
				return u, nil
			}}, declared(atConfigMap, manifest))
			in.State.Objects = []state.Object{recorded(atConfigMap, was)}
			if test.adjust != nil {
				test.adjust(&in, was)
			}
			if test.left {
				action := find(t, mustPlan(t, in), atConfigMap)
				if len(action.Changes) > 0 || action.Force || len(action.Yields) != 1 || action.Yields[0].Path != `data["x"]` || action.Yields[0].Manager != test.manager {
					t.Errorf("action is %+v", action)
				}
				return
			}
			if !test.taken {
				mustNotPlan(t, in)
				return
			}
			action := find(t, mustPlan(t, in), atConfigMap)
			if !action.Force || len(action.Changes) == 0 {
				t.Errorf("action is %+v", action)
			}
			if action.Verb == plans.Update && (action.Reasons[0].Kind != plans.ReasonDrift || action.Reasons[0].Manager != test.manager) {
				t.Errorf("reasons are %+v", action.Reasons)
			}
		})
	}
}

// treated sets the lifecycle of the object.
func treated(l providers.Lifecycle) func(*planner.Input, *unstructured.Unstructured) {
	return func(in *planner.Input, _ *unstructured.Unstructured) { in.Objects[0].Lifecycle = &l }
}

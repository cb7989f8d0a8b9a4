package planner_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// TestReasonOfAnotherSensitiveValue checks that a changed sensitive variable counts as a change of
// the configuration, although no digest contains its value. A value that another manager wrote is
// drift.
func TestReasonOfAnotherSensitiveValue(t *testing.T) {
	const at = "manifest.a/Secret/a"
	value := map[string]any{"given": "b25l", "fixed": "Zml4ZWQ="}
	tests := map[string]struct {
		answered map[string]any
		Owner    string // of the live values
		want     plans.ReasonKind
	}{
		"another value":               {map[string]any{"given": "dHdv", "fixed": "Zml4ZWQ="}, "kolla", plans.ReasonConfig},
		"of somebody else's":          {map[string]any{"given": "dHdv", "fixed": "Zml4ZWQ="}, "kubectl", plans.ReasonDrift},
		"another value of the server": {map[string]any{"given": "b25l", "fixed": "b3RoZXI="}, "kolla", plans.ReasonUnexplained},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			manifest := objecttest.Read(t, "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: openstack, labels: {kolla.openstack.org/cloud: prod}}}")
			o := declared(at, manifest)
			o.Data = map[string]providers.SecretData{
				"given": {Parts: []providers.DataPart{{Sensitive: "two"}}},
				"fixed": {Parts: []providers.DataPart{{Literal: "fixed"}}},
			}
			const fields = `{"f:data":{"f:given":{},"f:fixed":{}}}`
			u := live(manifest, "uid-1")
			u.Object["data"] = value
			operation := metav1.ManagedFieldsOperationApply
			if test.Owner != "kolla" {
				operation = metav1.ManagedFieldsOperationUpdate
			}
			owns(u, test.Owner, operation, then, fields)
			c := &cluster{objects: []*unstructured.Unstructured{u}}
			c.answer = func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
				u = u.DeepCopy()
				u.Object["data"] = test.answered
				owns(u, "kolla", metav1.ManagedFieldsOperationApply, now, fields)
				return u, nil
			}
			in := input(c, o)
			r := recorded(at, u)
			r.DesiredDigest = o.Digest()
			in.State.Objects = []state.Object{r}
			a := find(t, mustPlan(t, in), at)
			if len(a.Reasons) != 1 || a.Reasons[0].Kind != test.want {
				t.Errorf("reasons are %+v, want %s", a.Reasons, test.want)
			}
		})
	}
}

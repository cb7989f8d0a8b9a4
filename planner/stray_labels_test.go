package planner_test

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// stray plans a node without a role, whose label an apply removes, and returns the action.
func stray(t *testing.T, adjust func(*cluster, *planner.Input)) plans.Action {
	t.Helper()
	o := declared(atNode, objecttest.Read(t, "{apiVersion: v1, kind: Node, metadata: {name: ctl-1}}"))
	o.Partial, o.Unwanted = true, []string{"role"}
	u := live(o.Manifest, "uid-1")
	u.SetLabels(map[string]string{"role": "control", "kubernetes.io/hostname": "ctl-1"})
	owns(u, "kubelet", metav1.ManagedFieldsOperationUpdate, then, `{"f:metadata":{"f:labels":{"f:role":{},"f:kubernetes.io/hostname":{}}}}`)
	c := &cluster{objects: []*unstructured.Unstructured{u}, answer: func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
		return u, nil
	}}
	in := input(c, o)
	adjust(c, &in)
	return find(t, mustPlan(t, in), atNode)
}

func TestStrayLabelIsRemoved(t *testing.T) {
	a := stray(t, func(*cluster, *planner.Input) {})
	if a.Verb != plans.Update || a.Removes == "" || len(a.Changes) != 1 || a.Changes[0].Path != "metadata.labels.role" || !a.Changes[0].Drift || a.Changes[0].Manager != "kubelet" {
		t.Errorf("%+v", a)
	}
	// The label is also removed if the state says that the node matched its declaration.
	a = stray(t, func(c *cluster, in *planner.Input) {
		r := recorded(atNode, c.objects[0])
		r.Partial, r.DesiredDigest = true, in.Objects[0].Digest()
		in.State.Objects = []state.Object{r}
	})
	if a.Verb != plans.Update || a.Removes == "" {
		t.Errorf("recorded: %+v", a)
	}
	a = stray(t, func(_ *cluster, in *planner.Input) { in.RefreshOnly = true })
	if a.Verb != plans.None || len(a.Drift()) != 1 {
		t.Errorf("drift: %+v", a)
	}
}

// TestStrayLabelIsReported checks that the label stays if the plan only reports it, and that the
// state gets no record of the node.
func TestStrayLabelIsReported(t *testing.T) {
	a := stray(t, func(_ *cluster, in *planner.Input) { in.ForeignPolicy = plans.ReportForeign })
	if a.Verb != plans.None || !a.Reported || a.Pending {
		t.Errorf("%+v", a)
	}
}

// TestStrayLabelDoesNotStopAnApply checks that a missing permission on a node without a role does
// not stop an apply. Others may label any node, and the user may have rights on the nodes with
// roles only.
func TestStrayLabelDoesNotStopAnApply(t *testing.T) {
	a := stray(t, func(c *cluster, _ *planner.Input) {
		c.answer = says(&providers.PermissionError{User: "jane", Verb: "patch", Resource: "nodes", Err: refusal(http.StatusForbidden, metav1.StatusReasonForbidden, `User "jane" cannot patch resource "nodes"`)})
	})
	if !a.NotCompared() || a.Evidence.Forbidden {
		t.Errorf("%+v", a)
	}
}

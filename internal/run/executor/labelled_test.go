package executor_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// agent returns an action on a DaemonSet whose pods ask for the label tier=compute.
func agent(verb plans.Verb) plans.Action {
	a := act(verb, "DaemonSet agent", "Node cmp-3")
	_ = unstructured.SetNestedStringMap(a.Object.Manifest.Object, map[string]string{"tier": "compute"}, "spec", "template", "spec", "nodeSelector")
	return a
}

// labelling returns an action that changes a label of a node.
func labelling(key, value string) plans.Action {
	a := act(plans.Update, "Node cmp-3")
	a.Object.Manifest.SetLabels(map[string]string{"tier": "compute"})
	a.Changes = []plans.Change{{Path: "metadata.labels." + key, After: value}}
	return a
}

// threeNodes returns hypervisors as they are after labelling, and a node with a taint.
func threeNodes() []*unstructured.Unstructured {
	var nodes []*unstructured.Unstructured
	for _, name := range []string{"cmp-1", "cmp-2", "cmp-3", "closed"} {
		node := live("Node " + name)
		node.SetLabels(map[string]string{"tier": "compute"})
		if name == "closed" {
			_ = unstructured.SetNestedSlice(node.Object, []any{map[string]any{"key": "theirs", "effect": "NoSchedule"}}, "spec", "taints")
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// TestLabelledNodes checks that an apply waits for the pods that DaemonSets get on the nodes that it labels,
// also if it changes nothing else.
func TestLabelledNodes(t *testing.T) {
	const counted = "wait DaemonSet openstack/agent for 3 pods"
	tests := map[string]struct {
		node, agent plans.Action
		want        []string
	}{
		"unchanged": {labelling("tier", "compute"), agent(plans.None), []string{"apply Node cmp-3 if uid-cmp-3", "list Node", counted}},
		"changed": {labelling("tier", "compute"), agent(plans.Update), []string{
			"apply Node cmp-3 if uid-cmp-3", "apply DaemonSet openstack/agent if uid-agent", "list Node", counted,
		}},
		"another label":   {labelling("zone", "compute"), agent(plans.None), []string{"apply Node cmp-3 if uid-cmp-3"}},
		"another value":   {labelling("tier", "network"), agent(plans.None), []string{"apply Node cmp-3 if uid-cmp-3"}},
		"unchanged node":  {act(plans.None, "Node cmp-3"), agent(plans.None), nil},
		"a new DaemonSet": {labelling("tier", "compute"), agent(plans.Create), []string{"apply Node cmp-3 if uid-cmp-3", "apply DaemonSet openstack/agent if new", "wait DaemonSet openstack/agent"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(slices.Concat(threeNodes(), []*unstructured.Unstructured{live("DaemonSet agent")})...)
			if test.agent.Verb == plans.Create {
				c = newCluster(threeNodes()...)
			}
			a := newApply(t, c, recorded("DaemonSet agent", true))
			a.run(t.Context(), t, test.node, test.agent)
			diff(t, "calls", test.want, a.calls)
			if got := a.known(t, "DaemonSet agent"); test.agent.Verb == plans.None && (got == nil || !got.Ready) {
				t.Errorf("the state has %+v, want it ready", got)
			}
		})
	}
}

// TestLabelledNodesFail checks that an apply that has not seen the pods on a labelled node fails, and that the
// state does not call their DaemonSet ready: the next apply waits for it.
func TestLabelledNodesFail(t *testing.T) {
	a := newApply(t, newCluster(append(threeNodes(), live("DaemonSet agent"))...), recorded("DaemonSet agent", true))
	a.onWait = func(_ context.Context, ref providers.Ref, _ func(string)) error {
		return &providers.NotReadyError{Ref: ref, Reason: "its controller has seen 2 of 3 nodes"}
	}
	result := a.run(t.Context(), t, labelling("tier", "compute"), agent(plans.None))
	diff(t, "outcomes", []string{"cmp-3: applied, written", "agent: failed"}, outcomes(result))
	if got := a.known(t, "DaemonSet agent"); got == nil || got.Ready {
		t.Errorf("the state has %+v, want it not ready", got)
	}

	a = newApply(t, newCluster(live("DaemonSet agent")), recorded("DaemonSet agent", true))
	a.onList = func(schema.GroupVersionKind) error { return errors.New("nodes is forbidden") }
	result = a.run(t.Context(), t, labelling("tier", "compute"), agent(plans.None))
	if err := result.Outcomes[1].Err; err == nil || err.Error() != "count the pods of DaemonSet openstack/agent: nodes is forbidden" {
		t.Errorf("got %v", err)
	}
}

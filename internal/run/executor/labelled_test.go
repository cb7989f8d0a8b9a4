package executor_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
	a.Changes = []plans.Change{{Path: "metadata.labels." + key, After: value}}
	return a
}

// TestLabelledNodes checks that an apply waits for the pods that DaemonSets get on the nodes that it labels,
// also if it changes nothing else.
func TestLabelledNodes(t *testing.T) {
	const joined = "wait DaemonSet openstack/agent on [cmp-3]"
	tests := map[string]struct {
		node, agent plans.Action
		want        []string
	}{
		"unchanged":       {labelling("tier", "compute"), agent(plans.None), []string{"apply Node cmp-3 if uid-cmp-3", joined}},
		"changed":         {labelling("tier", "compute"), agent(plans.Update), []string{"apply Node cmp-3 if uid-cmp-3", "apply DaemonSet openstack/agent if uid-agent", joined}},
		"another label":   {labelling("zone", "compute"), agent(plans.None), []string{"apply Node cmp-3 if uid-cmp-3"}},
		"another value":   {labelling("tier", "network"), agent(plans.None), []string{"apply Node cmp-3 if uid-cmp-3"}},
		"unchanged node":  {act(plans.None, "Node cmp-3"), agent(plans.None), nil},
		"a new DaemonSet": {labelling("tier", "compute"), agent(plans.Create), []string{"apply Node cmp-3 if uid-cmp-3", "apply DaemonSet openstack/agent if new", "wait DaemonSet openstack/agent"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(live("Node cmp-3"), live("DaemonSet agent"))
			if test.agent.Verb == plans.Create {
				c = newCluster(live("Node cmp-3"))
			}
			a := newApply(t, c, recorded("DaemonSet agent", true))
			a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
				// A process that is killed now leaves this record, and the next apply waits.
				if got := a.known(t, "DaemonSet agent"); name == "unchanged" && (got == nil || got.Ready) {
					t.Errorf("while the label is written, the state has %+v, want it not ready", got)
				}
				return nil
			}
			a.run(t.Context(), t, test.node, test.agent)
			diff(t, "calls", test.want, a.calls)
			if got := a.known(t, "DaemonSet agent"); test.agent.Verb == plans.None && (got == nil || !got.Ready) {
				t.Errorf("the state has %+v, want it ready", got)
			}
		})
	}
}

// TestLabelledNodesFail checks that an apply that has not seen the pods on a labelled node is not complete, and
// that the state does not call their DaemonSet ready: the next apply waits for it.
func TestLabelledNodesFail(t *testing.T) {
	for name, want := range map[string][]string{
		"not ready":       {"cmp-3: applied, written", "agent: failed"},
		"interrupted":     {"cmp-3: applied, written", "agent: interrupted"},
		"label not given": {"cmp-3: failed", "agent: skipped because of cmp-3"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			a := newApply(t, newCluster(live("Node cmp-3"), live("DaemonSet agent")), recorded("DaemonSet agent", true))
			a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
				if name == "label not given" {
					return &providers.PreconditionError{Ref: ref, Gone: true}
				}
				return nil
			}
			a.onWait = func(ctx context.Context, ref providers.Ref, _ func(string)) error {
				if name == "interrupted" {
					interrupt()
					return ctx.Err()
				}
				return &providers.NotReadyError{Ref: ref, Reason: "there is no ready pod on node cmp-3 yet"}
			}
			result := a.run(ctx, t, labelling("tier", "compute"), agent(plans.None))
			diff(t, "outcomes", want, outcomes(result))
			if result.Complete() || result.Interrupted != (name == "interrupted") {
				t.Errorf("the apply is complete: %v, interrupted: %v", result.Complete(), result.Interrupted)
			}
			if got := a.known(t, "DaemonSet agent"); got == nil || got.Ready {
				t.Errorf("the state has %+v, want it not ready", got)
			}
		})
	}
}

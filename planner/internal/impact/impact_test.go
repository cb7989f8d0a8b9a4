package impact_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner/internal/impact"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// object decodes a manifest in the namespace openstack.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	u.SetNamespace("openstack")
	return u
}

const workload = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "api"}, "spec": {"replicas": 3}}`

// decidedTo returns a decision about an object of service.a.
func decidedTo(t *testing.T, verb plans.Verb, live, after *unstructured.Unstructured, changes ...plans.Change) *outcome.Outcome {
	t.Helper()
	u := live
	if u == nil {
		u = after
	}
	at := objecttest.Address(t, "service.a/"+u.GetKind()+"/"+u.GetName())
	return &outcome.Outcome{
		Object: &providers.Object{Address: at, Manifest: u}, Live: live, After: after,
		Action: plans.Action{Address: at, Verb: verb, Ref: providers.RefOf(u), Changes: changes},
	}
}

func TestOf(t *testing.T) {
	live := object(t, workload)
	scaled := object(t, workload)
	scaled.Object["spec"] = map[string]any{"replicas": int64(1)}
	image := plans.Change{Path: `spec.template.spec.containers["api"].image`, Before: "api:1", After: "api:2"}
	service := object(t, `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "api"}, "spec": {"type": "NodePort"}}`)
	public := plans.Change{Path: `metadata.annotations["kolla.openstack.org/public"]`, Before: "a.example.org (192.0.2.1)", After: "b.example.org (192.0.2.1)"}
	drifted, first, port := public, public, plans.Change{Path: `spec.ports["api"].nodePort`, Before: int64(30001), After: int64(30002)}
	drifted.Drift, first.Before = true, nil
	tests := map[string]struct {
		outcome *outcome.Outcome
		want    []plans.EffectKind
	}{
		"another public address":     {decidedTo(t, plans.Update, service, service, public), []plans.EffectKind{plans.EffectPublicAddress}},
		"another address and port":   {decidedTo(t, plans.Update, service, service, public, port), []plans.EffectKind{plans.EffectPublicAddress, plans.EffectPorts}},
		"others changed the address": {decidedTo(t, plans.Update, service, service, drifted), nil},
		"the address is noted first": {decidedTo(t, plans.Update, service, service, first), nil},
		"a new workload":             {decidedTo(t, plans.Create, nil, live), []plans.EffectKind{plans.EffectDeploy}},
		"an unchanged one":           {decidedTo(t, plans.None, live, live), nil},
		"another image":              {decidedTo(t, plans.Update, live, live, image), []plans.EffectKind{plans.EffectRestart}},
		"fewer replicas":             {decidedTo(t, plans.Update, live, scaled), []plans.EffectKind{plans.EffectScaleDown}},
		"a replaced workload":        {decidedTo(t, plans.Replace, live, live), []plans.EffectKind{plans.EffectRecreate}},
		"a deleted workload":         {decidedTo(t, plans.Delete, live, nil), []plans.EffectKind{plans.EffectStop}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := inventory.Input{Snapshot: providers.SnapshotOf()}
			if test.outcome.Live != nil {
				in.Snapshot = providers.SnapshotOf(test.outcome.Live)
			}
			inv, problems := inventory.Index(in)
			if inv == nil {
				t.Fatal(problems)
			}
			var got []plans.EffectKind
			for _, i := range impact.Of(inv, nil, []*outcome.Outcome{test.outcome}, []plans.Action{test.outcome.Action}, nil) {
				for _, e := range i.Effects {
					got = append(got, e.Kind)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNodeLabels checks that a node that gets labels, or that others took labels from, says which
// DaemonSets get pods there.
func TestNodeLabels(t *testing.T) {
	daemon := func(name, label string) *unstructured.Unstructured {
		return object(t, `{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "`+name+`"}, "spec": {"template": {"spec": {"nodeSelector": {"`+label+`": "yes"}}}}}`)
	}
	bare := object(t, `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "real-2"}}`)
	bare.SetNamespace("")
	labelled := bare.DeepCopy()
	labelled.SetLabels(map[string]string{"compute": "yes"})
	change := plans.Change{Path: `metadata.labels["compute"]`, After: "yes"}
	taken := change
	taken.Drift, taken.Manager = true, "kubectl-label"
	for name, test := range map[string]struct {
		change plans.Change
		want   []plans.Effect
	}{
		"the role has it now": {change, []plans.Effect{{Kind: plans.EffectNodePods, Name: "real-2", Items: []string{"nova-compute", "ovn-controller"}}}},
		"others took it away": {taken, []plans.Effect{{Kind: plans.EffectNodePods, Name: "real-2", Items: []string{"nova-compute", "ovn-controller"}, Grave: true}}},
		"another field":       {plans.Change{Path: "spec.taints"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			decided := decidedTo(t, plans.Update, bare, labelled, test.change)
			inv, problems := inventory.Index(inventory.Input{Snapshot: providers.SnapshotOf(bare, daemon("ovn-controller", "compute"), daemon("nova-compute", "compute"), daemon("other", "storage"))})
			if inv == nil {
				t.Fatal(problems)
			}
			var got []plans.Effect
			for _, i := range impact.Of(inv, nil, []*outcome.Outcome{decided}, []plans.Action{decided.Action}, nil) {
				for _, e := range i.Effects {
					e.Ref = providers.Ref{}
					got = append(got, e)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

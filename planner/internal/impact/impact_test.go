package impact_test

import (
	"strings"
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

// TestMovedAddresses checks that a plan says which public addresses change if other objects bring in the
// clients from now on.
func TestMovedAddresses(t *testing.T) {
	with := func(kind, name, public string) *unstructured.Unstructured {
		u := object(t, `{"apiVersion": "v1", "kind": "`+kind+`", "metadata": {"name": "`+name+`"}}`)
		if public != "" {
			u.SetAnnotations(map[string]string{"kolla.openstack.org/public": public})
		}
		return u
	}
	made := func(u *unstructured.Unstructured) *outcome.Outcome {
		o := decidedTo(t, plans.Create, nil, u)
		o.Action.Object = o.Object
		return o
	}
	gone := func(u *unstructured.Unstructured) *outcome.Outcome { return decidedTo(t, plans.Delete, u, nil) }
	closed := func(u *unstructured.Unstructured) *outcome.Outcome {
		return decidedTo(t, plans.Update, u, u, plans.Change{Path: `metadata.annotations["kolla.openstack.org/public"]`, Before: u.GetAnnotations()["kolla.openstack.org/public"]})
	}
	vip := "cloud.example.org (192.0.2.1)"
	ingress := with("Ingress", "api", "http://api.example.org, http://api-vnc.example.org")
	routes := []*unstructured.Unstructured{with("HTTPRoute", "api", "http://api.example.org"), with("HTTPRoute", "api-vnc", "http://api-vnc.example.org")}
	for name, test := range map[string]struct {
		outcomes []*outcome.Outcome
		want     []string
	}{
		"from nodes to an Ingress":     {[]*outcome.Outcome{closed(with("Service", "api", vip)), closed(with("Service", "api-vnc", vip)), made(ingress)}, []string{vip + " → http://api.example.org, http://api-vnc.example.org"}},
		"from a balancer to routes":    {[]*outcome.Outcome{gone(with("Service", "api-public", vip)), made(routes[0]), made(routes[1])}, []string{vip + " → http://api.example.org", vip + " → http://api-vnc.example.org"}},
		"from an Ingress to routes":    {[]*outcome.Outcome{gone(ingress), made(routes[0]), made(routes[1])}, nil},
		"from routes to an Ingress":    {[]*outcome.Outcome{gone(routes[0]), gone(routes[1]), made(ingress)}, nil},
		"to a balancer at the address": {[]*outcome.Outcome{closed(with("Service", "api", vip)), made(with("Service", "api-public", vip))}, nil},
		"a new service":                {[]*outcome.Outcome{made(ingress)}, nil},
		"a deleted one":                {[]*outcome.Outcome{gone(ingress)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var live []*unstructured.Unstructured
			var actions []plans.Action
			for _, o := range test.outcomes {
				actions = append(actions, o.Action)
				if o.Live != nil {
					live = append(live, o.Live)
				}
			}
			inv, problems := inventory.Index(inventory.Input{Snapshot: providers.SnapshotOf(live...)})
			if inv == nil {
				t.Fatal(problems)
			}
			var got []string
			for _, i := range impact.Of(inv, nil, test.outcomes, actions, nil) {
				for _, e := range i.Effects {
					got = append(got, strings.Join(e.Items, " → "))
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

package live_test

import (
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// podsOf returns the declaration of a workload of the given kind.
func podsOf(kind, image, more string) string {
	return "{apiVersion: apps/v1, kind: " + kind + ", metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: '" + image + "'}]}}" + more + "}}"
}

func closed(more string) string {
	return "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {}, ingress: [{}]" + more + "}}"
}

func serviceWith(more string) string {
	return "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {a: b}, ports: [{port: 80}]" + more + "}}"
}

// TestStaleDefaults checks that an apply also removes a default that the server derived from an
// earlier declaration, so that the object equals a new one. Nobody added the field, so it is not
// drift.
func TestStaleDefaults(t *testing.T) {
	tests := map[string]struct {
		before, after string
		want          string // the path of one of the changes
	}{
		"policy types, without egress": {closed(", egress: [{}]"), closed(""), "spec.policyTypes"},
		"policy types, with egress":    {closed(""), closed(", egress: [{}]"), "spec.policyTypes"},
		"pull policy of a fixed tag":   {podsOf("Deployment", "a:latest", ""), podsOf("Deployment", "a:1", ""), `spec.template.spec.containers["a"].imagePullPolicy`},
		"pull policy of no tag":        {podsOf("DaemonSet", "a:1", ""), podsOf("DaemonSet", "a", ""), `spec.template.spec.containers["a"].imagePullPolicy`},
		"strategy of a Deployment":     {podsOf("Deployment", "a", ""), podsOf("Deployment", "a", ", strategy: {type: Recreate}"), "spec.strategy.rollingUpdate"},
		"strategy of a DaemonSet":      {podsOf("DaemonSet", "a", ""), podsOf("DaemonSet", "a", ", updateStrategy: {type: OnDelete}"), "spec.updateStrategy.rollingUpdate"},
		"strategy of a StatefulSet":    {podsOf("StatefulSet", "a", ", serviceName: a"), podsOf("StatefulSet", "a", ", serviceName: a, updateStrategy: {type: OnDelete}"), "spec.updateStrategy.rollingUpdate"},
		"type of a Service":            {serviceWith(", type: LoadBalancer"), serviceWith(""), "spec.type"},
	}
	for name, test := range tests {
		for _, policy := range []plans.ForeignPolicy{plans.RevertForeign, plans.ReportForeign} {
			t.Run(name+", "+string(policy), func(t *testing.T) {
				t.Parallel()
				const at = "manifest.a/Thing/a"
				b := newBench(t, clustertest.Namespace(t))
				b.declare(at, test.before).Manifest.SetNamespace(b.namespace)
				b.apply(b.plan())
				b.settled()
				o := b.declare(at, test.after)
				o.Manifest.SetNamespace(b.namespace)
				in := b.input()
				in.ForeignPolicy = policy
				plan, problems, err := planner.Make(t.Context(), in)
				if err != nil || len(problems) > 0 {
					t.Fatalf("Make: %v, problems %+v", err, problems)
				}
				a := b.action(plan, at)
				if !strings.Contains(" "+strings.Join(pathsOf(a.Changes), " ")+" ", " "+test.want+" ") || plan.Drifted() || len(plan.Foreign) > 0 {
					t.Errorf("drifted %t, without %s:\n%s", plan.Drifted(), test.want, lines(a.Changes))
				}
				for _, r := range a.Reasons {
					if r.Kind != plans.ReasonConfig {
						t.Errorf("it is changed because of %+v", r)
					}
				}
				b.apply(plan)
				live, err := b.client.List(t.Context(), o.Ref().GVK, b.namespace)
				if err != nil || len(live) != 1 {
					t.Fatal(err, len(live))
				}
				fresh, err := b.client.DryRun(t.Context(), o.Manifest, providers.DryRunOptions{Surrogate: true, Namespace: b.namespace})
				if err != nil {
					t.Fatal(err)
				}
				for _, u := range append(live, fresh) {
					delete(u.Object["metadata"].(map[string]any), "annotations")
					if u.GetKind() == "Service" {
						delete(u.Object["spec"].(map[string]any), "clusterIP")
						delete(u.Object["spec"].(map[string]any), "clusterIPs")
					}
				}
				if changes, err := fields.Diff(fresh, live[0]); err != nil || len(changes) > 0 {
					t.Errorf("it is not what a new object would be (%v):\n%s", err, lines(changes))
				}
				b.settled()
			})
		}
	}
}

// TestRequestsOfAChange checks that a changed object needs one dry run if no default can be stale.
func TestRequestsOfAChange(t *testing.T) {
	const at = "manifest.a/Deployment/a"
	b := newBench(t, clustertest.Namespace(t))
	b.declare(at, podsOf("Deployment", "a:1", ", replicas: 1")).Manifest.SetNamespace(b.namespace)
	b.apply(b.plan())
	b.settled()
	who := newStranger(t)
	for name, test := range map[string]struct {
		declared string
		want     int64
	}{
		"another tag":          {podsOf("Deployment", "a:2", ", replicas: 1"), 1},
		"more replicas":        {podsOf("Deployment", "a:1", ", replicas: 2"), 1},
		"a tag without number": {podsOf("Deployment", "a:latest", ", replicas: 1"), 2},
	} {
		b.declare(at, test.declared).Manifest.SetNamespace(b.namespace)
		var got int64
		for version := ""; version != who.get(powers["Deployment"].resource, b.namespace, "a").GetResourceVersion(); {
			// Controllers may write the status in the meantime, which causes one more dry run.
			version = who.get(powers["Deployment"].resource, b.namespace, "a").GetResourceVersion()
			before := b.client.Requests()["patch (dry-run)"]
			b.plan()
			got = int64(b.client.Requests()["patch (dry-run)"] - before)
		}
		if got != test.want {
			t.Errorf("%s: %d dry runs, want %d", name, got, test.want)
		}
	}
}

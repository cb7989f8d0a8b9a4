package live_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// TestTaints checks that kolla adds taints to a Node, removes them again, and leaves other taints
// in the same list alone.
func TestTaints(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	name := b.namespace
	file := filepath.Join(t.TempDir(), "node.yaml")
	if err := os.WriteFile(file, []byte(`{apiVersion: v1, kind: Node, metadata: {name: `+name+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	clustertest.Kubectl(t, "create", "-f", file)
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "node", name) })
	clustertest.Kubectl(t, "taint", "node", name, "others=x:NoSchedule")

	at := "cloud.c/Node/" + name
	rules, err := proof.ReadRules(t.Context(), b.client, b.cluster, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	declare := func(taints string) {
		o := b.declare(at, `{apiVersion: v1, kind: Node, metadata: {name: `+name+`}}`)
		o.Partial = true
		o.Manifest.SetLabels(map[string]string{"example.org/role": "true"})
		if taints != "" {
			o.Manifest.SetAnnotations(map[string]string{providers.AnnotationTaints(b.cloud()): taints})
		}
	}
	apply := func() {
		t.Helper()
		a := b.action(b.plan(), at)
		manifest := &unstructured.Unstructured{}
		manifest.SetGroupVersionKind(a.Ref.GVK)
		manifest.SetName(name)
		if a.Object != nil {
			manifest = a.Object.Manifest
		}
		live, err := b.client.Writer().Apply(t.Context(), manifest, providers.ApplyOptions{
			Manager: providers.ManagerOf(b.cloud(), true), Precondition: providers.Precondition{UID: a.Prior.UID},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.forget(a.Address)
		if a.Object != nil {
			b.state.Cluster.UID = b.cluster.UID
			b.state.Objects = append(b.state.Objects, recordOf(a.Object, live, rules))
		}
	}
	expect := func(want ...string) {
		t.Helper()
		live, err := b.client.Get(t.Context(), providers.Ref{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Node"}, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		taints, _, _ := unstructured.NestedSlice(live.Object, "spec", "taints")
		var got []string
		for _, taint := range taints {
			fields := taint.(map[string]any)
			if key := fields["key"].(string); !strings.Contains(key, "kubernetes.io") { // set by controllers
				got = append(got, fmt.Sprint(key, "=", fields["value"], ":", fields["effect"]))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("taints are %v, want %v", got, want)
		}
	}
	changed := func(want string) {
		t.Helper()
		a := b.action(b.plan(), at)
		if a.Verb != plans.Update || !strings.Contains(lines(a.Changes), want) {
			t.Errorf("action is %s, and does not tell of %s:\n%s", a.Verb, want, lines(a.Changes))
		}
	}

	declare("a:NoSchedule,b=1:PreferNoSchedule")
	changed("spec.taints")
	apply()
	expect("a=<nil>:NoSchedule", "b=1:PreferNoSchedule", "others=x:NoSchedule")
	b.settled()

	// Another client edits the taints.
	clustertest.Kubectl(t, "taint", "node", name, "a:NoSchedule-", "more=y:NoSchedule")
	changed("spec.taints")
	apply()
	expect("a=<nil>:NoSchedule", "b=1:PreferNoSchedule", "more=y:NoSchedule", "others=x:NoSchedule")
	b.settled()

	declare("b=2:PreferNoSchedule")
	changed("spec.taints")
	apply()
	expect("b=2:PreferNoSchedule", "more=y:NoSchedule", "others=x:NoSchedule")
	declare("")
	changed("spec.taints")
	apply()
	expect("more=y:NoSchedule", "others=x:NoSchedule")
	b.settled()

	// The node has no role any more.
	declare("a:NoSchedule")
	apply()
	b.objects = nil
	if a := b.action(b.plan(), at); a.Verb != plans.Delete || !a.Partial {
		t.Errorf("undeclared, it is %s", a.Verb)
	}
	apply()
	expect("more=y:NoSchedule", "others=x:NoSchedule")
}

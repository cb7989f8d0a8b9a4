package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestDestroyOfANamespace checks that a destroy keeps a namespace in which an operator runs another
// database, or whose contents cannot be listed.
func TestDestroyOfANamespace(t *testing.T) {
	const at = "cloud.prod/Namespace/db"
	database := func(w *world) {
		cluster := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "metadata": map[string]any{"name": "pg", "namespace": "db", "uid": "pg"}}}
		claim := thing("v1", "PersistentVolumeClaim", "pg-1")
		claim.SetNamespace("db")
		claim.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "postgresql.cnpg.io/v1", Kind: "Cluster", Name: "pg", UID: "pg"}})
		w.cluster.objects = append(w.cluster.objects, cluster, claim)
	}
	given := func(w *world) {
		u := thing("v1", "ConfigMap", "shared")
		u.SetNamespace("db")
		w.add("manifest.a/ConfigMap/shared", u).Partial = true
	}
	tests := map[string]struct {
		change func(*world)
		kept   string // why; empty: it is deleted
	}{
		"empty":                      {change: func(*world) {}},
		"somebody's database":        {database, "what is not deleted with it: Cluster db/pg"},
		"what kolla only has a part": {given, "what is not deleted with it: ConfigMap db/shared"},
		"what nobody may see":        {func(w *world) { w.cluster.unread = []providers.Unread{{What: "perhaps a Secret"}} }, "what is not deleted with it: perhaps a Secret"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(at, thing("v1", "Namespace", "db"))
			test.change(w)
			in := w.input()
			in.Destroy = true
			plan := mustPlan(t, in)
			deletes := plans.Going(plan.Actions)["uid of "+at]
			if deletes != (test.kept == "") || len(plan.Kept) != 0 == deletes {
				t.Errorf("actions are %v, kept %+v", verbs(plan), plan.Kept)
			}
			if !deletes && !strings.Contains(plan.Kept[0].Holds, test.kept) {
				t.Errorf("it is kept for %q", plan.Kept[0].Holds)
			}
		})
	}
}

// TestOnlySelectedNamespacesAreLookedInto checks that a plan lists the contents of selected
// namespaces only. This needs one request per kind.
func TestOnlySelectedNamespacesAreLookedInto(t *testing.T) {
	for target, want := range map[string][]string{"cloud.prod/Namespace/db": {"db"}, "service.a/ConfigMap/a": nil} {
		w := &world{}
		w.add("cloud.prod/Namespace/db", thing("v1", "Namespace", "db"))
		w.add("service.a/ConfigMap/a", thing("v1", "ConfigMap", "a"))
		in := w.input()
		in.Destroy, in.Selection.Targets = true, []string{target}
		find(t, mustPlan(t, in), target)
		if diff := cmp.Diff(want, w.cluster.looks); diff != "" {
			t.Errorf("-target=%s (-want +got):\n%s", target, diff)
		}
	}
}

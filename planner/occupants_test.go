package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

func TestOccupants(t *testing.T) {
	in := func(kind, name string, owners ...types.UID) metav1.PartialObjectMetadata {
		o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: name, UID: types.UID(kind + " " + name)}}
		o.APIVersion, o.Kind = "v1", kind
		for _, uid := range owners {
			o.OwnerReferences = append(o.OwnerReferences, metav1.OwnerReference{UID: uid})
		}
		return o
	}
	leaving := in("ConfigMap", "leaving")
	leaving.DeletionTimestamp = &metav1.Time{Time: now}
	managed := in("Endpoints", "web")
	managed.Labels = map[string]string{"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
	token := in("Secret", "token")
	token.Annotations = map[string]string{"kubernetes.io/service-account.uid": "x"}
	tests := map[string]struct {
		objects []metav1.PartialObjectMetadata
		going   types.UID
		want    []string
	}{
		"nothing":                             {},
		"what every namespace has":            {objects: []metav1.PartialObjectMetadata{in("ConfigMap", "kube-root-ca.crt"), in("ServiceAccount", "default"), token}},
		"what is being deleted":               {objects: []metav1.PartialObjectMetadata{leaving}},
		"what the plan deletes":               {objects: []metav1.PartialObjectMetadata{in("Deployment", "api")}, going: "Deployment api"},
		"what belongs to what it does":        {objects: []metav1.PartialObjectMetadata{in("ReplicaSet", "api-1", "Deployment api"), in("Pod", "api-1-x", "ReplicaSet api-1")}, going: "Deployment api"},
		"somebody's":                          {objects: []metav1.PartialObjectMetadata{in("ConfigMap", "theirs"), in("ServiceAccount", "theirs")}, want: []string{"ConfigMap db/theirs", "ServiceAccount db/theirs"}},
		"what an operator made":               {objects: []metav1.PartialObjectMetadata{in("Cluster", "pg"), in("PersistentVolumeClaim", "pg-1", "Cluster pg")}, want: []string{"Cluster db/pg"}},
		"what belongs to something else":      {objects: []metav1.PartialObjectMetadata{in("PersistentVolumeClaim", "pg-1", "elsewhere")}, want: []string{"PersistentVolumeClaim db/pg-1, orphan"}},
		"what belongs to two":                 {objects: []metav1.PartialObjectMetadata{in("Pod", "x", "Deployment api", "elsewhere")}, going: "Deployment api", want: []string{"Pod db/x, orphan"}},
		"endpoints of a service":              {objects: []metav1.PartialObjectMetadata{in("Service", "web"), in("Endpoints", "web")}, going: "Service web"},
		"endpoints that a controller deletes": {objects: []metav1.PartialObjectMetadata{managed}, want: []string{"Endpoints db/web, orphan"}},
		"endpoints by themselves":             {objects: []metav1.PartialObjectMetadata{in("Endpoints", "web")}, want: []string{"Endpoints db/web"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, o := range planner.Occupants(providers.Contents{Objects: test.objects}, map[types.UID]bool{test.going: true}) {
				text := o.Ref.String()
				if o.Orphan {
					text += ", orphan"
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("occupants (-want +got):\n%s", diff)
			}
		})
	}
}

// A namespace in which an operator runs somebody's database outlives a destroy, and so
// does one of which nobody knows what is in it.
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
			deletes := planner.Going(plan.Actions)["uid of "+at]
			if deletes != (test.kept == "") || len(plan.Kept) != 0 == deletes {
				t.Errorf("actions are %v, kept %+v", verbs(plan), plan.Kept)
			}
			if !deletes && !strings.Contains(plan.Kept[0].Holds, test.kept) {
				t.Errorf("it is kept for %q", plan.Kept[0].Holds)
			}
		})
	}
}

// To look into a namespace costs a request for each kind that there is.
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

// Kinds that nobody could list count, but for those whose APIService the plan deletes.
func TestUnlisted(t *testing.T) {
	contents := providers.Contents{Unread: []providers.Unread{
		{Version: schema.GroupVersion{Group: "a.example.org", Version: "v1"}, What: "perhaps a Widget"},
		{Version: schema.GroupVersion{Group: "b.example.org", Version: "v1"}, What: "perhaps a Disk"},
	}}
	service := func(verb planner.Verb, name string) planner.Action {
		return planner.Action{Verb: verb, Ref: providers.Ref{GVK: schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}, Name: name}}
	}
	actions := []planner.Action{service(planner.Delete, "v1.a.example.org"), service(planner.Update, "v1.b.example.org")}
	if diff := cmp.Diff([]string{"perhaps a Disk"}, planner.Unlisted(contents, actions)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// databaseSet returns a StatefulSet in which each replica has its own volume.
func databaseSet(name, size string) *unstructured.Unstructured {
	u := thing("apps/v1", "StatefulSet", name)
	u.Object["spec"] = map[string]any{
		"replicas": int64(2),
		"volumeClaimTemplates": []any{map[string]any{
			"metadata": map[string]any{"name": "data"},
			"spec":     map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": size}}},
		}},
	}
	return u
}

// stored returns a cloud with a database and its volumes, which the state does not know.
func stored(t *testing.T, fate string) *world {
	w := &world{}
	set := databaseSet("db", "1Gi")
	if fate != "" {
		put(t, set, fate, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	}
	w.add("service.store/StatefulSet/db", set)
	for _, name := range []string{"data-db-0", "data-db-1", "data-db-10", "data-other-0", "data-db-x"} {
		claim := live(thing("v1", "PersistentVolumeClaim", name), "uid")
		claim.SetLabels(map[string]string{providers.LabelCloud: "prod", providers.LabelService: "store"})
		w.cluster.objects = append(w.cluster.objects, claim)
	}
	return w
}

func TestVolumesStay(t *testing.T) {
	plan := mustPlan(t, stored(t, "").input())
	var kept []string
	for _, k := range plan.Kept {
		kept = append(kept, k.Address.String()+": "+k.Holds)
	}
	const fate = ": the data of db, which takes it up again if it comes back"
	want := []string{
		"service.store/PersistentVolumeClaim/data-db-0" + fate,
		"service.store/PersistentVolumeClaim/data-db-1" + fate,
		"service.store/PersistentVolumeClaim/data-db-10" + fate,
	}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	impact := []report.Impact{{Block: "service.store", Lines: []string{
		"2 pods will be deleted",
		"3 volumes stay, with the data: data-db-0, data-db-1, data-db-10",
	}, Grave: []string{"2 pods will be deleted"}}}
	if diff := cmp.Diff(impact, report.ImpactOf(plan)); diff != "" {
		t.Errorf("impact (-want +got):\n%s", diff)
	}
}

// TestVolumesThatGoWithTheirSet checks that a StatefulSet holds data if the cluster deletes its
// volumes together with it.
func TestVolumesThatGoWithTheirSet(t *testing.T) {
	in := stored(t, "Delete").input()
	if got := mustNotPlan(t, in); !strings.Contains(got, "holds the data on the volumes of its replicas") || !strings.Contains(got, "-delete-data=service.store/StatefulSet/db.") {
		t.Errorf("problem is %q", got)
	}
	in = stored(t, "Delete").input()
	in.DeleteData = []string{"service.store/StatefulSet/db"}
	plan := mustPlan(t, in)
	if len(plan.Kept) > 0 || plan.Actions[0].Holds == "" {
		t.Errorf("kept %+v, lost %q", plan.Kept, plan.Actions[0].Holds)
	}
	want := []string{"2 pods will be deleted", "the data on the volumes of its replicas, which are deleted with it, is lost"}
	if diff := cmp.Diff(want, report.ImpactOf(plan)[0].Lines); diff != "" {
		t.Errorf("impact (-want +got):\n%s", diff)
	}
}

func TestVolumesDoNotMove(t *testing.T) {
	in := stored(t, "").input(declared("service.shop/StatefulSet/shop-db", databaseSet("shop-db", "1Gi")))
	in.Moves = []addrs.Move{{From: addrs.Target{Block: "service.store"}, To: addrs.Target{Block: "service.shop"}}}
	plan := mustPlan(t, in)
	if len(plan.Kept) != 3 || plan.Kept[0].Holds != "the data of db, which service.shop does not take up" {
		t.Errorf("kept %+v", plan.Kept)
	}
}

// TestVolumesAreTakenUp checks that a replaced StatefulSet uses the existing volumes again,
// whatever it declares about them.
func TestVolumesAreTakenUp(t *testing.T) {
	tests := map[string]struct {
		fate string
		want []plans.Reason
	}{
		"they stay": {"", []plans.Reason{
			{Kind: plans.ReasonImmutable, Path: "spec.volumeClaimTemplates", Detail: "field is immutable"},
			{Kind: plans.ReasonReuse, Detail: "data-db-0, data-db-1, data-db-10"},
		}},
		"they go": {"Delete", []plans.Reason{
			{Kind: plans.ReasonImmutable, Path: "spec.volumeClaimTemplates", Detail: "field is immutable"},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := stored(t, test.fate)
			w.cluster.answer = unlessNew(invalid("spec.volumeClaimTemplates", "field is immutable"))
			in := w.input(declared("service.store/StatefulSet/db", databaseSet("db", "2Gi")))
			if test.fate == "Delete" {
				in.DeleteData = []string{"service.store/StatefulSet/db"}
			}
			plan := mustPlan(t, in)
			if keeps := find(t, plan, "service.store/StatefulSet/db").KeepsPods; keeps != (test.fate == "") {
				t.Errorf("its pods stay: %t", keeps)
			}
			if impact := report.ImpactOf(plan); test.fate == "" && len(impact) > 0 {
				t.Errorf("impact is %+v", impact)
			}
			if diff := cmp.Diff(test.want, find(t, plan, "service.store/StatefulSet/db").Reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// TestImpactOfVolumes checks that the impact names the changed file in a volume. The planner
// compares volumes by name.
func TestImpactOfVolumes(t *testing.T) {
	shows := func(t *testing.T, volumes ...any) *unstructured.Unstructured {
		u := workload("Deployment", "api")
		put(t, u, volumes, "spec", "template", "spec", "volumes")
		return u
	}
	file := func(volume, name string) any {
		return map[string]any{"name": volume, "configMap": map[string]any{"name": name}}
	}
	secret := func(volume, name string) any {
		return map[string]any{"name": volume, "secret": map[string]any{"secretName": name}}
	}
	const pace = "3 pods restart, one at a time: "
	tests := map[string]struct {
		before, after []any
		want          string
	}{
		"another version of a file":       {[]any{file("conf", "a-1")}, []any{file("conf", "a-2")}, pace + "[token] expiration in a.conf changed"},
		"volumes in another order":        {[]any{file("x", "b-1"), file("conf", "a-1")}, []any{file("conf", "a-2"), file("x", "b-1")}, pace + "[token] expiration in a.conf changed, volumes changed"},
		"a file that is not declared":     {[]any{file("conf", "a-1")}, []any{file("conf", "b-1")}, pace + "ConfigMap openstack/a-1 → b-1"},
		"a file whose text has no keys":   {[]any{file("conf", "a-1")}, []any{file("conf", "a-3")}, pace + "a.conf changed"},
		"values of a Secret":              {[]any{secret("conf", "s-1")}, []any{secret("conf", "s-2")}, pace + "secret values in a.conf changed"},
		"a Secret in place of a file":     {[]any{file("conf", "a-1")}, []any{secret("conf", "s-2")}, pace + `secret values in a.conf changed, volumes["conf"].configMap removed, volumes["conf"].secret added`},
		"a volume that was not there yet": {nil, []any{file("conf", "a-2")}, pace + `volumes["conf"] added`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add("service.a/Deployment/api", shows(t, test.before...))
			text := func(name, content string) *unstructured.Unstructured {
				u := thing("v1", "ConfigMap", name)
				u.Object["data"] = map[string]any{"a.conf": content}
				return u
			}
			w.add("service.a/ConfigMap/a-1", text("a-1", "[token]\nexpiration = 1\n"))
			s := declared("service.a/Secret/s-2", thing("v1", "Secret", "s-2"))
			s.Data = map[string]providers.SecretData{"a.conf": {Parts: []providers.DataPart{{Literal: "x"}}}}
			plan := mustPlan(t, w.input(
				declared("service.a/Deployment/api", shows(t, test.after...)),
				declared("service.a/ConfigMap/a-1", text("a-1", "[token]\nexpiration = 1\n")),
				declared("service.a/ConfigMap/a-2", text("a-2", "[token]\nexpiration = 2\n")),
				declared("service.a/ConfigMap/a-3", text("a-3", "%%\n")),
				s))
			if diff := cmp.Diff([]string{test.want}, report.ImpactOf(plan)[0].Lines); diff != "" {
				t.Errorf("impact (-want +got):\n%s", diff)
			}
		})
	}
}

// TestVolumesThatGoAreNotKept checks that a deleted volume is not listed as kept, even if the state
// has it twice.
func TestVolumesThatGoAreNotKept(t *testing.T) {
	w := &world{}
	w.add("service.db/StatefulSet/db", database(t, "db"))
	w.add("service.db/PersistentVolumeClaim/data-db-0", thing("v1", "PersistentVolumeClaim", "data-db-0"))
	twin := w.state.Objects[1]
	twin.Address = "service.other/PersistentVolumeClaim/data-db-0"
	w.state.Objects = append(w.state.Objects, twin)
	in := w.input()
	in.DeleteData = []string{"*"}
	if plan := mustPlan(t, in); len(plan.Kept) > 0 {
		t.Errorf("kept is %+v, actions %v", plan.Kept, verbs(plan))
	}
}

package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// database returns a StatefulSet of two pods with a volume each.
func database(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	u := thing("apps/v1", "StatefulSet", name)
	u.Object["spec"] = map[string]any{
		"replicas":             int64(2),
		"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}}},
	}
	return u
}

func claim(name string) providers.Ref {
	return providers.RefOf(thing("v1", "PersistentVolumeClaim", name))
}

// password returns a Secret with generated values.
func password(at, name string) providers.Object {
	o := declared(at, thing("v1", "Secret", name))
	o.Holds, o.Loss = "generated values", "nobody can log in"
	o.Data = map[string]providers.SecretData{"value": {Generate: &providers.Generator{Kind: "password", Length: 8}}}
	return o
}

// gone removes the object from the cluster that was added last.
func (w *world) gone() { w.cluster.objects = w.cluster.objects[:len(w.cluster.objects)-1] }

func TestLosses(t *testing.T) {
	const db = "service.db/StatefulSet/db"
	tests := map[string]struct {
		// build fills the cluster and the state, and returns the declared objects.
		build  func(*testing.T, *world) []providers.Object
		want   []plans.Loss
		impact []string // the lines of service.db about the losses
	}{
		"a generated Secret": {
			build: func(_ *testing.T, w *world) []providers.Object {
				w.add("service.db/Secret/root", thing("v1", "Secret", "root"))
				w.gone()
				return []providers.Object{password("service.db/Secret/root", "root")}
			},
			want: []plans.Loss{{
				Address: address("service.db/Secret/root"), Refs: []providers.Ref{providers.RefOf(thing("v1", "Secret", "root"))},
				Holds: "generated values", Means: "nobody can log in",
			}},
			impact: []string{"Secret openstack/root is gone: new values are made; nobody can log in"},
		},
		"what was never there": {
			build: func(t *testing.T, _ *world) []providers.Object {
				return []providers.Object{password("service.db/Secret/root", "root"), declared(db, database(t, "db"))}
			},
			impact: []string{"2 pods will be deployed"},
		},
		"a claim and the job that filled it": {
			build: func(_ *testing.T, w *world) []providers.Object {
				w.add("service.db/Job/fill", thing("batch/v1", "Job", "fill"))
				w.state.Objects[0].DesiredDigest = digest(filler())
				w.gone()
				w.add("service.db/PersistentVolumeClaim/data", thing("v1", "PersistentVolumeClaim", "data"))
				w.gone()
				fill := filler("service.db/PersistentVolumeClaim/data")
				return []providers.Object{declared("service.db/PersistentVolumeClaim/data", thing("v1", "PersistentVolumeClaim", "data")), fill}
			},
			want: []plans.Loss{{
				Address: address("service.db/PersistentVolumeClaim/data"), Refs: []providers.Ref{claim("data")},
				Holds: "the data on its volume", Jobs: []addrs.Object{address("service.db/Job/fill")},
			}},
			impact: []string{"PersistentVolumeClaim openstack/data is gone: the new one is EMPTY"},
		},
		"the volumes of a workload, and a job behind another": {
			build: func(t *testing.T, w *world) []providers.Object {
				w.add("service.db/Job/fill", thing("batch/v1", "Job", "fill"))
				w.state.Objects[0].DesiredDigest = digest(filler())
				w.gone()
				w.add(db, database(t, "db"))
				w.gone()
				return []providers.Object{
					declared(db, database(t, "db")),
					declared("service.db/ConfigMap/between", thing("v1", "ConfigMap", "between"), db),
					filler("service.db/ConfigMap/between"),
				}
			},
			want: []plans.Loss{{
				Address: address(db), Refs: []providers.Ref{claim("data-db-0"), claim("data-db-1")},
				Holds: "the data on its volumes", Jobs: []addrs.Object{address("service.db/Job/fill")},
			}},
			impact: []string{"db starts with EMPTY volumes: data-db-0, data-db-1 are gone", "2 pods will be deployed"},
		},
		"one of its volumes": {
			build: func(t *testing.T, w *world) []providers.Object {
				w.add(db, database(t, "db")).DesiredDigest = digest(declared(db, database(t, "db")))
				w.gone()
				w.cluster.objects = append(w.cluster.objects, thing("v1", "PersistentVolumeClaim", "data-db-0"))
				return []providers.Object{declared(db, database(t, "db"))}
			},
			want: []plans.Loss{{
				Address: address(db), Refs: []providers.Ref{claim("data-db-1")}, Holds: "the data on its volumes",
			}},
			impact: []string{"db starts with an EMPTY volume: data-db-1 is gone", "2 pods will be deployed"},
		},
		"a replica that is new": {
			build: func(t *testing.T, w *world) []providers.Object {
				w.add(db, database(t, "db"))
				w.gone()
				w.cluster.objects = append(w.cluster.objects, thing("v1", "PersistentVolumeClaim", "data-db-0"))
				return []providers.Object{declared(db, database(t, "db"))}
			},
			impact: []string{"2 pods will be deployed"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			plan := mustPlan(t, w.input(test.build(t, w)...))
			if diff := cmp.Diff(test.want, plan.Losses); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			lost := slices.DeleteFunc(slices.Clone(test.impact), func(line string) bool { return strings.HasSuffix(line, "deployed") })
			want := []report.Impact{{Block: "service.db", Lines: test.impact, Grave: lost}}
			if diff := cmp.Diff(want, report.ImpactOf(plan), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("impact (-want +got):\n%s", diff)
			}
		})
	}
}

// filler returns the Job that fills the database.
func filler(dependsOn ...string) providers.Object {
	return declared("service.db/Job/fill", thing("batch/v1", "Job", "fill"), dependsOn...)
}

func digest(o providers.Object) string { return o.Digest() }

// TestLossesOfAMove checks that a renamed service keeps its generated values, so that they are not
// lost, and leaves its volumes behind.
func TestLossesOfAMove(t *testing.T) {
	w := &world{}
	w.add("service.db/StatefulSet/db-server", of("db", database(t, "db-server")))
	w.add("service.db/Secret/db-root", of("db", thing("v1", "Secret", "db-root"))).Holds = "generated values"
	w.last().Object["data"] = map[string]any{"value": "c2VjcmV0"}
	w.cluster.objects = append(w.cluster.objects, thing("v1", "PersistentVolumeClaim", "data-db-server-0"))
	in := w.input(
		declared("service.new/StatefulSet/new-server", of("new", database(t, "new-server"))),
		password("service.new/Secret/new-root", "new-root"),
	)
	of("new", in.Objects[1].Manifest)
	in.Moves = []addrs.Move{{From: addrs.Target{Block: "service.db"}, To: addrs.Target{Block: "service.new"}}}
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || slices.ContainsFunc(problems, func(p plans.Problem) bool { return !p.Warning }) {
		t.Fatalf("Make: %v, problems %v", err, problems)
	}
	want := []plans.Loss{{
		Address: address("service.new/StatefulSet/new-server"), Refs: []providers.Ref{claim("data-db-server-0")},
		Holds: "the data on its volumes", Kept: true,
	}}
	if diff := cmp.Diff(want, plan.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	// The volumes are not offered for deletion, and are reported once.
	if len(plan.Kept) > 0 {
		t.Errorf("kept %+v", plan.Kept)
	}
	for _, i := range report.ImpactOf(plan) {
		if i.Block == "service.db" && strings.Contains(strings.Join(i.Lines, "\n"), "stay") {
			t.Errorf("impact of the old service: %q", i.Lines)
		}
	}
	old := find(t, plan, "service.db/Secret/db-root")
	reasons := []plans.Reason{{Kind: plans.ReasonRenamed, Detail: "service.new"}}
	if diff := cmp.Diff(reasons, old.Reasons); diff != "" || old.Verb != plans.Delete || old.Holds != "" {
		t.Errorf("%s of the old Secret loses %q, because of (-want +got):\n%s", old.Verb, old.Holds, diff)
	}
}

// TestLossesThatARefreshForgets checks that a refresh forgets missing objects and names the
// consequences. The next apply still knows about the lost volumes, because a recorded Job depends
// on them.
func TestLossesThatARefreshForgets(t *testing.T) {
	const db = "service.db/StatefulSet/db"
	w := &world{}
	w.add("service.db/Job/fill", thing("batch/v1", "Job", "fill"), db).DesiredDigest = digest(filler())
	w.gone()
	w.add("service.db/Secret/root", thing("v1", "Secret", "root"))
	w.gone()
	w.add(db, database(t, "db"))
	w.gone()
	objects := []providers.Object{declared(db, database(t, "db")), filler(db), password("service.db/Secret/root", "root")}
	in := w.input(objects...)
	in.RefreshOnly = true
	var said []string
	for _, l := range mustPlan(t, in).Losses {
		said = append(said, l.Consequence())
	}
	if diff := cmp.Diff([]string{
		"new values are made; nobody can log in (at the next apply)",
		"starts with EMPTY volumes: data-db-0, data-db-1 are gone (at the next apply)",
	}, said); diff != "" {
		t.Errorf("the refresh says (-want +got):\n%s", diff)
	}

	w.state.Objects = w.state.Objects[:1]
	want := []plans.Loss{{
		Address: address(db), Refs: []providers.Ref{claim("data-db-0"), claim("data-db-1")},
		Holds: "the data on its volumes", Jobs: []addrs.Object{address("service.db/Job/fill")},
	}}
	if diff := cmp.Diff(want, mustPlan(t, w.input(objects...)).Losses); diff != "" {
		t.Errorf("losses of the next apply (-want +got):\n%s", diff)
	}
}

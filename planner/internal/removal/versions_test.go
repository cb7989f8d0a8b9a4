package removal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/removal"
	"kolla.openstack.org/kolla/planner/internal/selection"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// TestVersions checks that a plan keeps the previous version of a file, and all versions that pods
// may still mount.
func TestVersions(t *testing.T) {
	tests := map[string]struct {
		recorded []string // the newest first
		gone     string
		change   func(o *outcome.Outcome)
		selected []string // nil: all
		strategy string   // of a workload
		block    string   // of the workload; empty: the same
		want     []string
	}{
		"one":                  {recorded: []string{"v1"}},
		"two":                  {recorded: []string{"v2", "v1"}, want: []string{"delete v1"}},
		"three":                {recorded: []string{"v3", "v2", "v1"}, want: []string{"delete v1", "delete v2"}},
		"the previous is gone": {recorded: []string{"v2", "v1"}, gone: "v2", want: []string{"forget v2"}},
		"not known yet": {
			recorded: []string{"v2", "v1"}, change: func(o *outcome.Outcome) { o.Object.Deferred = []string{"data.x"} },
		},
		"of a Job": {
			recorded: []string{"v2", "v1"}, change: func(o *outcome.Outcome) { o.Object.Manifest = of("batch/v1", live("Job", "new")) },
			want: []string{"delete v1", "delete v2"},
		},
		"pods restart by themselves":          {recorded: []string{"v2", "v1"}, strategy: "RollingUpdate", want: []string{"delete v1"}},
		"pods stay until somebody stops them": {recorded: []string{"v3", "v2", "v1"}, strategy: "OnDelete"},
		"such pods, and a version is gone":    {recorded: []string{"v3", "v2", "v1"}, gone: "v1", strategy: "OnDelete", want: []string{"forget v1"}},
		"such pods of another block":          {recorded: []string{"v2", "v1"}, strategy: "OnDelete", block: "service.b", want: []string{"delete v1"}},
		"of a part of the block":              {recorded: []string{"v2", "v1"}, selected: []string{"service.a/ConfigMap/new"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			family := objecttest.Address(t, "service.a/ConfigMap/v")
			in := inventory.Input{State: &state.State{}}
			var all []*unstructured.Unstructured
			for i, version := range test.recorded {
				r := record("ConfigMap", version)
				r.Family, r.Applied = family.String(), time.Unix(int64(100-i), 0)
				in.State.Objects = append(in.State.Objects, r)
				if version != test.gone {
					all = append(all, live("ConfigMap", version))
				}
			}
			in.Snapshot = providers.SnapshotOf(all...)
			object := providers.Object{Address: objecttest.Address(t, "service.a/ConfigMap/new"), Family: family, Manifest: live("ConfigMap", "new")}
			if test.block == "" {
				test.block = "service.a"
			}
			workload := providers.Object{Address: objecttest.Address(t, test.block+"/DaemonSet/d"), Manifest: of("apps/v1", live("DaemonSet", "d"))}
			workload.Manifest.Object["spec"] = map[string]any{"updateStrategy": map[string]any{"type": test.strategy}}
			in.Objects = []providers.Object{object, workload}
			outcomes := []*outcome.Outcome{
				{Object: &object, Action: plans.Action{Address: object.Address, Object: &object, Verb: plans.Create}},
				{Object: &workload, Action: plans.Action{Address: workload.Address, Object: &workload, Verb: plans.None, Pending: true}},
			}
			if test.change != nil {
				test.change(outcomes[0])
			}
			inv := index(t, in)
			var set selection.Set
			if test.selected != nil {
				set = selection.Set{}
				for _, at := range test.selected {
					set[objecttest.Address(t, at)] = addrs.Object{}
				}
			}
			if _, err := inv.ObserveSelected(t.Context(), set.Has); err != nil {
				t.Fatal(err)
			}
			got := removal.Undeclared(inv, set, nil, outcomes, nil).Actions
			if diff := cmp.Diff(test.want, decided(got)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			for _, a := range got {
				if busy := fmt.Sprint(a.DependsOn); a.Verb == plans.Delete && busy != "[service.a/ConfigMap/new service.a/DaemonSet/d]" && test.block == "service.a" {
					t.Errorf("the deletion waits for %s", busy)
				}
			}
		})
	}
}

// TestKeptVolumes checks that a deleted StatefulSet leaves its volumes behind, unless the cluster
// or the plan deletes them.
func TestKeptVolumes(t *testing.T) {
	tests := map[string]struct {
		fate    string // of the volumes, when the StatefulSet is deleted
		verb    plans.Verb
		deleted string
		losses  []plans.Loss
		want    []string
	}{
		"they stay":           {verb: plans.Delete, want: []string{"data-db-0", "data-db-1", "data-db-10"}},
		"they go":             {verb: plans.Delete, fate: "Delete"},
		"one goes":            {verb: plans.Delete, deleted: "data-db-1", want: []string{"data-db-0", "data-db-10"}},
		"a loss names one":    {verb: plans.Delete, losses: []plans.Loss{{Kept: true, Refs: []providers.Ref{providers.RefOf(live("PersistentVolumeClaim", "data-db-0"))}}}, want: []string{"data-db-1", "data-db-10"}},
		"a loss that is lost": {verb: plans.Delete, losses: []plans.Loss{{Refs: []providers.Ref{providers.RefOf(live("PersistentVolumeClaim", "data-db-0"))}}}, want: []string{"data-db-0", "data-db-1", "data-db-10"}},
		"it is replaced":      {verb: plans.Replace},
		"it is only changed":  {verb: plans.Update},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := of("apps/v1", live("StatefulSet", "db"))
			set.Object["spec"] = map[string]any{
				"volumeClaimTemplates":                 []any{map[string]any{"metadata": map[string]any{"name": "data"}}},
				"persistentVolumeClaimRetentionPolicy": map[string]any{"whenDeleted": test.fate},
			}
			all := []*unstructured.Unstructured{set}
			for _, name := range []string{"data-db-10", "data-db-1", "data-db-0", "data-other-0", "data-db-x"} {
				all = append(all, live("PersistentVolumeClaim", name))
			}
			actions := []plans.Action{{Address: objecttest.Address(t, "service.a/StatefulSet/db"), Verb: test.verb, Ref: providers.RefOf(set)}}
			if test.deleted != "" {
				actions = append(actions, plans.Action{Verb: plans.Delete, Ref: providers.RefOf(live("PersistentVolumeClaim", test.deleted))})
			}
			inv := index(t, inventory.Input{State: &state.State{}, Snapshot: providers.SnapshotOf(all...)})
			var got []string
			for _, k := range removal.KeptVolumes(inv, actions, test.losses) {
				got = append(got, k.Ref.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

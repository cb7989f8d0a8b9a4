package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestRemovedButNotDestroyed checks that a removed block with destroy = false takes kolla's marks
// off an object and its volumes, unless the object is no longer kolla's.
func TestRemovedButNotDestroyed(t *testing.T) {
	const at, claimAt = "service.db/StatefulSet/db", "service.db/PersistentVolumeClaim/data-db-0"
	tests := map[string]struct {
		change  func(w *world)
		destroy bool
		want    []string // addresses of the released objects
		as      string   // part of the reason
	}{
		"kolla's":               {want: []string{at, claimAt}, as: "a removed block (cloud.hcl:9) leaves it in the cluster, and kolla's labels and annotations are taken off it"},
		"kolla's, in a destroy": {destroy: true, want: []string{at, claimAt}, as: "are taken off it"},
		"without the label":     {change: func(w *world) { w.cluster.objects[0].SetLabels(nil) }, as: "leaves it in the cluster as it is: somebody removed its label"},
		"made again":            {change: func(w *world) { w.cluster.objects[0].SetUID("other") }, as: "as it is: it was deleted and made again"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stateful := thing("apps/v1", "StatefulSet", "db")
			stateful.Object["spec"] = map[string]any{"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}}}}
			w := &world{}
			w.add(at, stateful)
			claim := live(thing("v1", "PersistentVolumeClaim", "data-db-0"), "uid-claim")
			claim.SetLabels(map[string]string{providers.LabelCloud: "prod", providers.LabelService: "db"})
			w.cluster.objects = append(w.cluster.objects, claim)
			if test.change != nil {
				test.change(w)
			}
			in := w.input()
			in.Destroy = test.destroy
			in.Removals = []addrs.Removal{{From: addrs.Target{Block: "service.db"}, Range: hcl.Range{Filename: "cloud.hcl", Start: hcl.Pos{Line: 9}}}}
			plan := mustPlan(t, in)
			var released []string
			for _, a := range plan.Actions {
				if a.Verb != plans.Forget {
					t.Errorf("%s %s", a.Verb, a.Address)
				}
				if a.Releases {
					released = append(released, a.Address.String())
				}
				if bound := a.Prior.UID != ""; bound != a.Releases {
					t.Errorf("%s is bound to %+v", a.Address, a.Prior)
				}
			}
			if diff := cmp.Diff(test.want, released, cmp.Transformer("set", set)); diff != "" {
				t.Errorf("released (-want +got):\n%s", diff)
			}
			if got := find(t, plan, at).Reasons[0].Detail; !strings.Contains(got, test.as) {
				t.Errorf("the reason is %q", got)
			}
		})
	}
}

// TestVolumesGoWithTheirSet checks that the volumes of a released StatefulSet stay with it, even if
// it was released earlier. Its claim templates keep kolla's labels, so that new claims have them
// too.
func TestVolumesGoWithTheirSet(t *testing.T) {
	const at = "service.db/StatefulSet/db"
	build := func() *world {
		set := thing("apps/v1", "StatefulSet", "db")
		set.Object["spec"] = map[string]any{"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}}}}
		w := &world{}
		w.add(at, set)
		w.cluster.objects = append(w.cluster.objects, live(thing("v1", "PersistentVolumeClaim", "data-db-0"), "uid-claim"))
		return w
	}
	for _, named := range [][]string{nil, {"*"}} {
		w := build()
		in := w.input()
		in.Destroy, in.DeleteData = true, named
		in.Removals = []addrs.Removal{{From: addrs.Target{Block: "service.db", Object: address(at)}}}
		plan := mustPlan(t, in)
		if diff := cmp.Diff([]string{"forget cloud.prod/PersistentVolumeClaim/data-db-0", "forget " + at}, verbs(plan)); diff != "" || len(plan.Kept) > 0 {
			t.Errorf("let go, -delete-data=%v: kept %v, actions (-want +got):\n%s", named, plan.Kept, diff)
		}

		w = build()
		w.state.Objects = nil
		w.cluster.objects[0].SetLabels(nil)
		in = w.input()
		in.Destroy, in.DeleteData = true, named
		if plan, _, err := planner.Make(t.Context(), in); err != nil || len(plan.Actions) > 0 || len(plan.Kept) > 0 {
			t.Errorf("let go before, -delete-data=%v: %v, actions %v, kept %v", named, err, verbs(plan), plan.Kept)
		}
	}
}

package outcome_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// TestRefreshed checks that a refresh-only plan only changes the state: it forgets missing objects,
// and records other UIDs and objects that are not ready.
func TestRefreshed(t *testing.T) {
	at, err := addrs.ParseObject("service.a/ConfigMap/a")
	if err != nil {
		t.Fatal(err)
	}
	live := &unstructured.Unstructured{Object: map[string]any{}}
	live.SetAPIVersion("v1")
	live.SetKind("ConfigMap")
	live.SetName("a")
	live.SetUID("1")
	record := func(ready bool) *inventory.Record {
		return &inventory.Record{Address: at, State: &state.Object{Address: at.String(), UID: "1", Ready: ready}}
	}
	tests := map[string]struct {
		outcome outcome.Outcome
		verb    plans.Verb
		want    []plans.Verb
	}{
		"unchanged":        {outcome.Outcome{Live: live, Record: record(true), Ours: true}, plans.None, []plans.Verb{plans.None}},
		"not ready before": {outcome.Outcome{Live: live, Record: record(false), Ours: true}, plans.None, []plans.Verb{plans.Refresh}},
		"changed":          {outcome.Outcome{Live: live, Record: record(true), Ours: true}, plans.Update, []plans.Verb{plans.None}},
		"deleted":          {outcome.Outcome{Record: record(true)}, plans.Create, []plans.Verb{plans.Forget}},
		"never applied":    {outcome.Outcome{}, plans.Create, nil},
		"a problem":        {outcome.Outcome{Live: live, Record: record(true), Ours: true, Withheld: true}, "", []plans.Verb{plans.None}},
		"not kolla's":      {outcome.Outcome{Live: live, Record: record(true), Unowned: true, Withheld: true}, "", []plans.Verb{plans.Forget}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := test.outcome
			o.Object = &providers.Object{Address: at, Manifest: live}
			o.Action = plans.Action{Address: at, Verb: test.verb, Ref: providers.RefOf(live)}
			inv, _ := inventory.Index(inventory.Input{Cloud: "prod", Snapshot: providers.SnapshotOf()})
			actions, _ := outcome.Refreshed(inv, []*outcome.Outcome{&o})
			var got []plans.Verb
			for _, a := range actions {
				got = append(got, a.Verb)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

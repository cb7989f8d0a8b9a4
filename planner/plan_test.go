package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/planner"
)

func TestCounts(t *testing.T) {
	from := []planner.Reason{{Kind: planner.ReasonMoved, Detail: "manifest.a/ConfigMap/a"}}
	note := planner.Change{Path: `metadata.annotations["kolla.openstack.org/address"]`}
	plan := planner.Plan{Actions: []planner.Action{
		{Verb: planner.None},
		{Verb: planner.Create},
		{Verb: planner.Run},
		{Verb: planner.Update},
		{Verb: planner.Replace},
		{Verb: planner.Delete},
		{Verb: planner.Delete, Partial: true},
		{Verb: planner.Adopt},
		{Verb: planner.Forget},
		// One that only moves, without and with a note in the object, and one that changes.
		{Verb: planner.Adopt, Reasons: from},
		{Verb: planner.Forget, Reasons: from},
		{Verb: planner.Update, Reasons: from, Changes: []planner.Change{note}},
		{Verb: planner.Forget, Reasons: from},
		{Verb: planner.Update, Reasons: from, Changes: []planner.Change{{Path: "data"}, note}},
		{Verb: planner.Forget, Reasons: from},
	}}
	want := planner.Counts{Add: 3, Change: 3, Destroy: 2, Import: 1, Forget: 1, Move: 2}
	if diff := cmp.Diff(want, plan.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// What only has to become ready is there as it is declared.
func TestChanges(t *testing.T) {
	tests := map[string]struct {
		actions []planner.Action
		want    bool
	}{
		"nothing at all":       {},
		"nothing to do":        {actions: []planner.Action{{Verb: planner.None}}},
		"to be waited on":      {actions: []planner.Action{{Verb: planner.None, Pending: true}}},
		"to be forgotten":      {actions: []planner.Action{{Verb: planner.Forget}}, want: true},
		"one of many":          {actions: []planner.Action{{Verb: planner.None}, {Verb: planner.Update}}, want: true},
		"for the state's sake": {actions: []planner.Action{{Verb: planner.Refresh}}, want: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := planner.Plan{Actions: test.actions}
			if got := plan.Changes(); got != test.want {
				t.Errorf("Changes is %v", got)
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	tests := map[string]struct {
		actions []planner.Action
		want    bool
	}{
		"nothing at all":  {want: true},
		"nothing to do":   {actions: []planner.Action{{Verb: planner.None}}, want: true},
		"to be waited on": {actions: []planner.Action{{Verb: planner.None, Pending: true}}},
		"to be forgotten": {actions: []planner.Action{{Verb: planner.Forget}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := planner.Plan{Actions: test.actions}
			if got := plan.Empty(); got != test.want {
				t.Errorf("Empty is %v", got)
			}
		})
	}
}

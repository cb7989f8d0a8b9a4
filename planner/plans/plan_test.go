package plans_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/planner/plans"
)

func TestCounts(t *testing.T) {
	from := []plans.Reason{{Kind: plans.ReasonMoved, Detail: "manifest.a/ConfigMap/a"}}
	note := plans.Change{Path: `metadata.annotations["kolla.openstack.org/address"]`}
	plan := plans.Plan{Actions: []plans.Action{
		{Verb: plans.None},
		{Verb: plans.Create},
		{Verb: plans.Run},
		{Verb: plans.Update},
		{Verb: plans.Replace},
		{Verb: plans.Delete},
		{Verb: plans.Delete, Removal: plans.Removal{Partial: true}},
		{Verb: plans.Adopt},
		{Verb: plans.Forget},
		// Two moves without other changes (the second writes a note into the object), and a move with changes.
		{Verb: plans.Adopt, Reasons: from},
		{Verb: plans.Forget, Reasons: from},
		{Verb: plans.Update, Reasons: from, Changes: []plans.Change{note}},
		{Verb: plans.Forget, Reasons: from},
		{Verb: plans.Update, Reasons: from, Changes: []plans.Change{{Path: "data"}, note}},
		{Verb: plans.Forget, Reasons: from},
	}}
	want := plans.Counts{Add: 3, Change: 3, Destroy: 2, Import: 1, Forget: 1, Move: 2}
	if diff := cmp.Diff(want, plan.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// TestChanges checks that waiting for an unchanged object to become ready is not a change.
func TestChanges(t *testing.T) {
	tests := map[string]struct {
		actions []plans.Action
		want    bool
	}{
		"nothing at all":       {},
		"nothing to do":        {actions: []plans.Action{{Verb: plans.None}}},
		"to be waited on":      {actions: []plans.Action{{Verb: plans.None, Pending: true}}},
		"to be forgotten":      {actions: []plans.Action{{Verb: plans.Forget}}, want: true},
		"one of many":          {actions: []plans.Action{{Verb: plans.None}, {Verb: plans.Update}}, want: true},
		"for the state's sake": {actions: []plans.Action{{Verb: plans.Refresh}}, want: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := plans.Plan{Actions: test.actions}
			if got := plan.Changes(); got != test.want {
				t.Errorf("Changes is %v", got)
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	tests := map[string]struct {
		actions []plans.Action
		want    bool
	}{
		"nothing at all":  {want: true},
		"nothing to do":   {actions: []plans.Action{{Verb: plans.None}}, want: true},
		"to be waited on": {actions: []plans.Action{{Verb: plans.None, Pending: true}}},
		"to be forgotten": {actions: []plans.Action{{Verb: plans.Forget}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := plans.Plan{Actions: test.actions}
			if got := plan.Empty(); got != test.want {
				t.Errorf("Empty is %v", got)
			}
		})
	}
}

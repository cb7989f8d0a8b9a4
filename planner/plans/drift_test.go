package plans_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/planner/plans"
)

// TestDrift checks which differences count as drift, and their direction.
func TestDrift(t *testing.T) {
	scaled := plans.Change{Path: "spec.replicas", Before: 5, After: 3, Drift: true, Manager: "kubectl"}
	read := scaled
	read.Before, read.After = 3, 5
	gone := plans.Action{Verb: plans.Create, Changes: []plans.Change{scaled}, Reasons: []plans.Reason{{Kind: plans.ReasonGone}}}
	replaced := plans.Reason{Kind: plans.ReasonReplaced, Path: "data.password", Manager: "vault"}
	kept := plans.Drift{Stays: true, Change: plans.Change{Path: "data.password", Before: plans.Masked, After: plans.Masked, Sensitive: true, Drift: true, Manager: "vault"}}
	for name, test := range map[string]struct {
		action plans.Action
		want   []plans.Drift
	}{
		"a change of the configuration": {action: plans.Action{Verb: plans.Update, Changes: []plans.Change{{Path: "x", After: 1}}}},
		"an apply reverts it":           {plans.Action{Verb: plans.Update, Changes: []plans.Change{scaled}}, []plans.Drift{{Change: read}}},
		"a plan that only reads":        {plans.Action{Verb: plans.None, Changes: []plans.Change{read}}, []plans.Drift{{Change: read}}},
		"a plan that also records":      {plans.Action{Verb: plans.Refresh, Changes: []plans.Change{read}}, []plans.Drift{{Change: read}}},
		"deleted":                       {gone, []plans.Drift{{Gone: true, Change: plans.Change{Drift: true}}}},
		"a replaced value":              {plans.Action{Verb: plans.Update, Changes: []plans.Change{scaled}, Reasons: []plans.Reason{replaced}}, []plans.Drift{{Change: read}, kept}},
	} {
		if diff := cmp.Diff(test.want, test.action.Drift()); diff != "" {
			t.Errorf("%s: drift (-want +got):\n%s", name, diff)
		}
		plan := plans.Plan{Actions: []plans.Action{test.action}}
		if got := plan.Drifted(); got != (len(test.want) > 0) {
			t.Errorf("%s: Drifted is %v", name, got)
		}
	}
	added := plans.Foreign{Fields: []plans.Change{{Path: "data.x", Before: "1", Manager: "helm"}}}
	if got := added.Drift(); got != nil {
		t.Errorf("a field that others may add is drift: %v", got)
	}
	added.Reported = true
	if diff := cmp.Diff([]plans.Drift{{Stays: true, Change: plans.Change{Path: "data.x", After: "1", Drift: true, Manager: "helm"}}}, added.Drift()); diff != "" {
		t.Errorf("an added field (-want +got):\n%s", diff)
	}
}

package executor_test

import (
	"testing"

	"kolla.openstack.org/kolla/planner/plans"
)

// TestMessages checks that the messages of Jobs are in the outcomes, whether this apply has started them or waited
// for them, and that a message that cannot be read fails nothing.
func TestMessages(t *testing.T) {
	a := newApply(t, newCluster(live("Job old"), live("Job older")), recorded("Job old", false), recorded("Job older", true))
	a.messages = map[string][]string{"check": {"Warning: old policies", "Warning: old options"}, "old": {"Warning: old"}, "older": {"never read"}, "hidden": nil}
	result := a.run(t.Context(), t,
		act(plans.Run, "Job check"), act(plans.Run, "Job silent"), act(plans.Run, "Job hidden"), pending(act(plans.None, "Job old")), act(plans.None, "Job older"))
	got := map[string][]string{}
	for _, o := range result.Outcomes {
		if o.Message != nil {
			got[o.Action.Ref.Name] = o.Message
		}
	}
	diff(t, "messages", map[string][]string{
		"check": {"Warning: old policies", "Warning: old options"}, "old": {"Warning: old"},
		"hidden": {"The job may have left a message, which cannot be read: pods is forbidden"},
	}, got)
	if !result.Complete() {
		t.Errorf("not complete: %v", outcomes(result))
	}
}

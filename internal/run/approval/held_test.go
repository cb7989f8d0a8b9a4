package approval_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestMoreIsHeld checks that an action is held if its object was changed and the new action does
// more than the saved one.
func TestMoreIsHeld(t *testing.T) {
	is := func(change func(*plans.Action)) plans.Action {
		a := act(plans.Replace, "a", "2", "data.x")
		change(&a)
		return a
	}
	same := func(*plans.Action) {}
	force := func(a *plans.Action) { a.Force = true }
	removes := func(a *plans.Action) { a.Removes = `{"f:a":{}}` }
	for name, test := range map[string]struct {
		saved, fresh plans.Action
		held         bool
	}{
		"the same":                      {is(same), is(same), false},
		"not proven any more":           {is(same), is(func(a *plans.Action) { a.Evidence.Kind = plans.Unverified }), true},
		"it grows":                      {is(same), is(func(a *plans.Action) { a.Grows = "2Gi" }), true},
		"its pods do not stay":          {is(func(a *plans.Action) { a.KeepsPods = true }), is(same), true},
		"data is lost":                  {is(same), is(func(a *plans.Action) { a.Holds = "data" }), true},
		"another one takes its place":   {is(same), is(func(a *plans.Action) { a.Supersedes = address("b") }), true},
		"by force":                      {is(same), is(force), true},
		"not by force any more":         {is(force), is(same), false},
		"it removes fields":             {is(same), is(removes), true},
		"it removes no fields any more": {is(removes), is(same), false},
		"it leaves a field":             {is(same), is(func(a *plans.Action) { a.Yields = []plans.Yield{{Path: "a", Field: `{"f:a":{}}`}} }), true},
	} {
		test.saved.Prior.ResourceVersion = "1"
		v := check(t, test.saved, test.fresh)
		if held := v.Held[address("a")] != nil; held != test.held || held && !approval.OnlyDrift(v.Differences) || held && len(v.Differences) == 0 {
			t.Errorf("%s: held %v, differences %v", name, v.Held, v.Differences)
		}
	}
}

// TestProblemsOfHeldActions checks that problems of a held action do not refuse the plan, however
// many there are.
func TestProblemsOfHeldActions(t *testing.T) {
	problem := func(summary string) plans.Problem { return plans.Problem{Address: address("a"), Summary: summary} }
	live := theirs()
	live.SetUID("uid-a")
	saved := act(plans.Update, "a", "1", "data.x")
	for name, fresh := range map[string][]plans.Action{
		"without an action": nil,
		"with an action":    {act(plans.Update, "a", "9", "data.x", "data.y")},
	} {
		v := approval.Check(stored(t, plans.Plan{Actions: []plans.Action{saved}}), approval.Fresh{
			Plan: &plans.Plan{Actions: fresh}, Problems: []plans.Problem{problem("one"), problem("two")},
			Objects: []providers.Object{*saved.Object}, Live: func(providers.Ref) *unstructured.Unstructured { return live },
		})
		if len(v.Problems) > 0 || v.Held[address("a")] == nil || len(v.Differences) == 0 || !approval.OnlyDrift(v.Differences) || len(v.Plan.Actions) != 1 {
			t.Errorf("%s: %+v", name, v)
		}
	}
	// The new action does nothing more, so it is not held.
	v := check(t, saved, act(plans.Update, "a", "9", "data.x"), problem("one"))
	if len(v.Problems) != 1 {
		t.Errorf("got %+v", v)
	}
}

// TestFormerLabelsOfNodes checks changes of the time when a node loses the former label of a role.
// The time depends on running pods.
func TestFormerLabelsOfNodes(t *testing.T) {
	node := func(labels map[string]string, changes ...plans.Change) plans.Action {
		o := object("Node", "n")
		o.Partial = true
		o.Manifest.SetLabels(labels)
		return plans.Action{Address: o.Address, Verb: plans.Update, Object: o, Ref: o.Ref(), Prior: providers.Precondition{UID: "u"}, Changes: changes}
	}
	gives := plans.Change{Path: "metadata.labels.new", After: "1"}
	takes := plans.Change{Path: "metadata.labels.old", Before: "1"}
	both, one := map[string]string{"new": "1", "old": "1"}, map[string]string{"new": "1"}
	for name, test := range map[string]struct {
		saved, fresh plans.Action
		want         string
		drift, held  bool
	}{
		"the same":      {node(both, gives), node(both, gives), "", false, false},
		"kept no more":  {node(both, gives), node(one, gives, takes), `the file has another metadata.labels.old ("1" instead of nothing)`, true, true},
		"kept again":    {node(one, gives, takes), node(both, gives), `the file has another metadata.labels.old (nothing instead of "1")`, true, false},
		"another value": {node(map[string]string{"new": "2"}, gives), node(one, gives), `("2" instead of "1")`, false, false},
	} {
		v := approval.Check(stored(t, plans.Plan{Actions: []plans.Action{test.saved}}), approval.Fresh{
			Plan: &plans.Plan{Actions: []plans.Action{test.fresh}}, Objects: []providers.Object{*test.fresh.Object},
		})
		if test.want == "" && len(v.Differences) > 0 || test.want != "" && (len(v.Differences) == 0 || !strings.Contains(v.Differences[0].Text, test.want) || approval.OnlyDrift(v.Differences) != test.drift) {
			t.Errorf("%s: %v", name, v.Differences)
		}
		if held := v.Held[test.saved.Address] != nil; held != test.held {
			t.Errorf("%s: held %v", name, v.Held)
		}
	}
}

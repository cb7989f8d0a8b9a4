package executor_test

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestUnownedObjectsAreNotTakenOver checks that an apply leaves objects of other clients unchanged,
// even if they were created during the apply.
func TestUnownedObjectsAreNotTakenOver(t *testing.T) {
	tests := map[string]struct {
		live   *unstructured.Unstructured
		action plans.Action
		taken  bool
	}{
		"create over a stranger's":    {live("Deployment api"), act(plans.Create, "Deployment api"), true},
		"run over a stranger's":       {live("Job api"), act(plans.Run, "Job api"), true},
		"replaced, by somebody first": {live("Deployment api"), act(plans.Replace, "Deployment api"), true},
		"another name":                {live("Deployment other"), act(plans.Create, "Deployment api"), false},
		"adopt":                       {live("Deployment api"), act(plans.Adopt, "Deployment api"), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newApply(t, newCluster())
			a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
				if ref.Name == "first" || test.action.Verb == plans.Replace {
					a.mu.Lock()
					defer a.mu.Unlock()
					a.objects[providers.RefOf(test.live)] = test.live
				}
				return nil
			}
			test.action.DependsOn = append(test.action.DependsOn, address("ConfigMap first"))
			dependent := act(plans.Create, "ConfigMap after")
			dependent.DependsOn = append(dependent.DependsOn, test.action.Address)
			result := a.run(t.Context(), t, act(plans.Create, "ConfigMap first"), test.action, dependent, act(plans.Create, "ConfigMap other"))
			want := []string{"first: applied, written", "api: applied, written", "after: applied, written", "other: applied, written"}
			if test.taken {
				want[1], want[2] = "api: failed", "after: skipped because of api"
			}
			if test.action.Verb == plans.Replace {
				want[1] = "api: failed, written"
			}
			diff(t, "outcomes", want, outcomes(result))
			var refused *providers.PreconditionError
			if errors.As(result.Outcomes[1].Err, &refused) != test.taken || test.taken && !refused.Exists {
				t.Errorf("got %v", result.Outcomes[1].Err)
			}
			if test.taken && test.action.Verb != plans.Replace && a.session.State().Find(test.action.Address.String()) != nil {
				t.Error("the state has it")
			}
		})
	}
}

// TestCreatingReadsNothing checks that an apply reads nothing but values of Secrets before it
// writes: the server itself checks that a new object does not exist yet.
func TestCreatingReadsNothing(t *testing.T) {
	a := newApply(t, newCluster())
	result := a.run(t.Context(), t,
		act(plans.Create, "ConfigMap a"),
		act(plans.Run, "Job b", "ConfigMap a"),
		act(plans.Update, "Secret c", "Job b"),
	)
	if !result.Complete() {
		t.Errorf("not complete: %v", outcomes(result))
	}
	diff(t, "calls", []string{
		"apply ConfigMap openstack/a if new", "apply Job openstack/b if new", "wait Job openstack/b", "apply Secret openstack/c if uid-c",
	}, a.calls)
}

// TestWhatComesByItself checks that an apply may take over an object that Kubernetes creates in
// every namespace.
func TestWhatComesByItself(t *testing.T) {
	for what, taken := range map[string]bool{"ServiceAccount default": false, "ServiceAccount other": true} {
		a := newApply(t, newCluster())
		theirs := live(what)
		a.objects[providers.RefOf(theirs)] = theirs
		result := a.run(t.Context(), t, act(plans.Create, what))
		if result.Complete() == taken {
			t.Errorf("%s: %v", what, outcomes(result))
		}
	}
}

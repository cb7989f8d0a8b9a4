package executor_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/executor"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// What somebody else made between the plan and the apply stays as it is.
func TestStrangersAreNotTakenOver(t *testing.T) {
	ofAnotherCloud := live("Deployment api")
	ofAnotherCloud.SetLabels(map[string]string{providers.LabelCloud: "test"})
	tests := map[string]struct {
		live   *unstructured.Unstructured
		action planner.Action
		taken  bool
	}{
		"create over a stranger's":  {live("Deployment api"), act(planner.Create, "Deployment api"), true},
		"run over a stranger's":     {live("Job api"), act(planner.Run, "Job api"), true},
		"another cloud's":           {ofAnotherCloud, act(planner.Create, "Deployment api"), true},
		"of an apply that was shot": {labelled(live("Deployment api")), act(planner.Create, "Deployment api"), false},
		"another name":              {live("Deployment other"), act(planner.Create, "Deployment api"), false},
		"adopt":                     {live("Deployment api"), act(planner.Adopt, "Deployment api"), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newApply(t, newCluster(test.live))
			dependent := act(planner.Create, "ConfigMap after")
			dependent.DependsOn = append(dependent.DependsOn, test.action.Address)
			result := a.run(t.Context(), t, test.action, dependent, act(planner.Create, "ConfigMap other"))
			want := []string{"api: applied, written", "after: applied, written", "other: applied, written"}
			if test.taken {
				want = []string{"api: failed", "after: skipped because of api", "other: applied, written"}
			}
			diff(t, "outcomes", want, outcomes(result))
			var taken *executor.TakenError
			if errors.As(result.Outcomes[0].Err, &taken) != test.taken {
				t.Errorf("got %v", result.Outcomes[0].Err)
			}
			if test.taken && a.session.State().Find(test.action.Address.String()) != nil {
				t.Error("the state has it")
			}
		})
	}
}

// One LIST for each kind and namespace in which something is created; a kind that
// is not there yet holds nothing.
func TestLookBeforeCreating(t *testing.T) {
	a := newApply(t, newCluster())
	a.onList = func(kind schema.GroupVersionKind) error {
		return &meta.NoKindMatchError{GroupKind: kind.GroupKind()}
	}
	result := a.run(t.Context(), t,
		act(planner.Create, "ConfigMap a"),
		act(planner.Create, "ConfigMap b", "ConfigMap a"),
		act(planner.Update, "Secret c", "ConfigMap b"),
	)
	if !result.Complete() {
		t.Errorf("not complete: %v", outcomes(result))
	}
	diff(t, "calls", []string{
		"list ConfigMap openstack",
		"apply ConfigMap openstack/a", "apply ConfigMap openstack/b", "apply Secret openstack/c if uid-c",
	}, a.calls)
}

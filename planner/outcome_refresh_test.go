package planner_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// edited changes the data of a live object as another client would after an apply.
func edited(u *unstructured.Unstructured) {
	u.Object["data"] = map[string]any{"x": "2"}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{ownerOf("kubectl-edit", metav1.ManagedFieldsOperationUpdate)})
}

// labelled answers an apply that changes nothing.
func labelled(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
	u = u.DeepCopy()
	u.SetLabels(map[string]string{providers.LabelCloud: "prod"})
	return u, nil
}

// takenBack answers an apply that takes the data back.
func takenBack(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
	u = u.DeepCopy()
	u.SetManagedFields([]metav1.ManagedFieldsEntry{ownerOf("kolla", metav1.ManagedFieldsOperationApply)})
	return u, nil
}

func ownerOf(manager string, operation metav1.ManagedFieldsOperationType) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: "v1", FieldsType: "FieldsV1", Time: &metav1.Time{Time: then},
		FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:x":{}}}`),
	}
}

func TestRefreshOnly(t *testing.T) {
	tests := map[string]struct {
		situation
		want    []string
		unowned bool // the live object is not kolla's, and the plan says so
	}{
		"unchanged":             {situation{at: atConfigMap, manifest: configMap, live: asItIs, record: known}, []string{"none"}, false},
		"not applied yet":       {situation{at: atConfigMap, manifest: configMap}, nil, false},
		"gone":                  {situation{at: atConfigMap, manifest: configMap, record: known}, []string{"forget gone"}, false},
		"not seen ready":        {situation{at: atConfigMap, manifest: configMap, live: asItIs, record: func(r *state.Object) { r.Ready = false }}, []string{"refresh"}, false},
		"made again by others":  {situation{at: atConfigMap, manifest: configMap, live: asItIs, record: func(r *state.Object) { r.UID = "other" }}, []string{"forget gone"}, true},
		"made before a kill":    {situation{at: atConfigMap, manifest: configMap, live: func(u *unstructured.Unstructured) { token(u, "t") }, record: func(r *state.Object) { r.UID, r.Token = "", "t" }}, []string{"refresh"}, false},
		"lost by the state":     {situation{at: atConfigMap, manifest: configMap, live: asItIs}, nil, true},
		"somebody else's":       {situation{at: atConfigMap, manifest: configMap, live: func(u *unstructured.Unstructured) { u.SetLabels(nil) }}, nil, true},
		"changed by others":     {situation{at: atConfigMap, manifest: configMap, live: edited, record: known, answer: takenBack}, []string{"none drift data[\"x\"] 1 → 2 kubectl-edit"}, false},
		"a finished job":        {situation{at: atJob, manifest: job, adjust: versioned, record: known}, []string{"none"}, false},
		"no longer declared":    {situation{at: atConfigMap, manifest: configMap, live: asItIs, record: known, input: func(in *planner.Input) { in.Objects = nil }}, nil, false},
		"neither, and not live": {situation{at: atConfigMap, manifest: configMap, record: known, input: func(in *planner.Input) { in.Objects = nil }}, []string{"forget gone"}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.answer == nil {
				test.answer = labelled
			}
			in := test.make(t)
			in.RefreshOnly = true
			plan, problems, err := planner.Make(t.Context(), in)
			if err != nil || slices.ContainsFunc(problems, func(p plans.Problem) bool { return !p.Warning }) {
				t.Fatal(err, problems)
			}
			if unowned := test.unowned; (len(problems) > 0) != unowned {
				t.Errorf("problems are %+v, want one: %v", problems, unowned)
			}
			var got []string
			for _, a := range plan.Actions {
				text := string(a.Verb)
				for _, r := range a.Reasons {
					text += " " + string(r.Kind)
				}
				for _, c := range a.Changes {
					text += fmt.Sprintf(" %s %v → %v %s", c.Path, c.Before, c.After, c.Manager)
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if !plan.RefreshOnly {
				t.Error("the plan does not say that it only refreshes")
			}
		})
	}
}

// TestConfigChanges checks that a refresh-only plan counts the changes of the configuration, but
// not changes by others.
func TestConfigChanges(t *testing.T) {
	reverted := func(u *unstructured.Unstructured, o providers.DryRunOptions) (*unstructured.Unstructured, error) {
		u, _ = takenBack(u, o)
		return labelled(u, o)
	}
	redeclared := func(r *state.Object) { r.DesiredDigest = "an older declaration" }
	tests := map[string]struct {
		situation
		want int
	}{
		"unchanged":            {situation{at: atConfigMap, manifest: configMap, live: asItIs, record: known}, 0},
		"not applied yet":      {situation{at: atConfigMap, manifest: configMap}, 1},
		"gone":                 {situation{at: atConfigMap, manifest: configMap, record: known}, 0},
		"changed by others":    {situation{at: atConfigMap, manifest: configMap, live: edited, record: known, answer: reverted}, 0},
		"changed by both":      {situation{at: atConfigMap, manifest: configMap, live: edited, record: redeclared, answer: reverted}, 1},
		"no longer declared":   {situation{at: atConfigMap, manifest: configMap, live: asItIs, record: known, input: func(in *planner.Input) { in.Objects = nil }}, 1},
		"neither, and no more": {situation{at: atConfigMap, manifest: configMap, record: known, input: func(in *planner.Input) { in.Objects = nil }}, 0},
		"a finished job":       {situation{at: atJob, manifest: job, adjust: versioned, record: known}, 0},
		"a new job":            {situation{at: atJob, manifest: job, adjust: versioned}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.answer == nil {
				test.answer = labelled
			}
			in := test.make(t)
			in.RefreshOnly = true
			plan, _, err := planner.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if plan.ConfigChanges != test.want {
				t.Errorf("it counts %d changes, want %d: %+v", plan.ConfigChanges, test.want, plan.Actions)
			}
		})
	}
}

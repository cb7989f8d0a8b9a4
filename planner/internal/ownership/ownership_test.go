package ownership_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/providers"
)

// data is a ConfigMap with a field that a field manager owns.
func data(t *testing.T, manager string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "managedFields": [
		{"manager": "` + manager + `", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:key": {}}}}
	]}, "data": {"key": "theirs"}}`)); err != nil {
		t.Fatal(err)
	}
	return u
}

func declared(t *testing.T) *providers.Object {
	t.Helper()
	u := data(t, "x")
	u.SetManagedFields(nil)
	u.Object["data"] = map[string]any{"key": "ours"}
	return &providers.Object{Manifest: u}
}

// The lifecycle of an object counts most, then the options, then who made the object.
func TestConflicts(t *testing.T) {
	tests := map[string]struct {
		manager string
		change  func(o *ownership.Object)
		takes   bool
		yields  bool
		refused bool
	}{
		"kolla's own object":                 {"operator", func(o *ownership.Object) { o.Ours = true }, true, false, false},
		"an object of somebody else":         {"operator", func(o *ownership.Object) { o.Adopted = true }, false, false, true},
		"what people left on such an object": {"kubectl-edit", func(o *ownership.Object) { o.Adopted = true }, true, false, false},
		"with force":                         {"operator", func(o *ownership.Object) { o.Adopted, o.Force = true, true }, true, false, false},
		"yield_to": {"operator", func(o *ownership.Object) {
			o.Ours, o.Declared.Lifecycle = true, &providers.Lifecycle{YieldTo: []string{"oper*"}}
		}, false, true, false},
		"yield_to counts more than the force": {"operator", func(o *ownership.Object) {
			o.Force, o.Declared.Lifecycle = true, &providers.Lifecycle{YieldTo: []string{"operator"}}
		}, false, true, false},
		"force_conflicts in the lifecycle": {"operator", func(o *ownership.Object) {
			o.Adopted, o.Declared.Lifecycle = true, &providers.Lifecycle{ForceManagers: []string{"operator"}}
		}, true, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := ownership.Object{Declared: declared(t), Live: data(t, test.manager), Manager: providers.FieldManager}
			test.change(&o)
			conflicts := []providers.Conflict{{Path: ".data.key", Manager: test.manager}}
			got, err := ownership.Arbitrate(o, o.Declared.Manifest, conflicts)
			if err != nil {
				t.Fatal(err)
			}
			if got.Takes != test.takes || (len(got.Yields) > 0) != test.yields || (len(got.Refused) > 0) != test.refused {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// The problem of a conflict names the owner, the field and the ways out.
func TestProblem(t *testing.T) {
	o := ownership.Object{Declared: declared(t), Live: data(t, "operator"), Manager: providers.FieldManager}
	problem := ownership.Problem(o, []providers.Conflict{{Path: ".data.key", Manager: "operator"}})
	for _, want := range []string{`data["key"]`, "operator", "ignore_fields", "yield_to", "-force-conflicts"} {
		if !strings.Contains(problem.Summary+"\n"+problem.Detail, want) {
			t.Errorf("%q is not in %s: %s", want, problem.Summary, problem.Detail)
		}
	}
}

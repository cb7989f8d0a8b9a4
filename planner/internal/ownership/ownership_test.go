package ownership_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/providers"
)

// data returns a ConfigMap with a field that a field manager owns.
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

// TestConflicts checks that the object's lifecycle decides a conflict, then the options, then the
// creator of the object.
func TestConflicts(t *testing.T) {
	const takes, yields, refused = "takes", "yields", "refused"
	theirs := func(l providers.Lifecycle) func(o *outcome.Outcome) {
		return func(o *outcome.Outcome) { o.Object.Lifecycle = &l }
	}
	ours := func(l providers.Lifecycle) func(o *outcome.Outcome) {
		return func(o *outcome.Outcome) { o.Ours, o.Object.Lifecycle = true, &l }
	}
	adopted := theirs(providers.Lifecycle{})
	tests := map[string]struct {
		manager string
		change  func(o *outcome.Outcome)
		want    string
		force   bool
	}{
		"a person, in kolla's own object":      {"kubectl-edit", ours(providers.Lifecycle{}), takes, false},
		"a controller, in kolla's own object":  {"kube-controller-manager", ours(providers.Lifecycle{}), takes, false},
		"another cloud, in kolla's own object": {"kolla:other", ours(providers.Lifecycle{}), takes, false},
		"neither made nor adopted":             {"kubectl", func(o *outcome.Outcome) { o.Object.Partial = true }, refused, false},
		"adopted":                              {"operator", adopted, refused, false},
		"adopted, a controller":                {"kube-controller-manager", adopted, refused, false},
		"adopted, of kubectl":                  {"kubectl", adopted, takes, false},
		"adopted, of its subcommands":          {"kubectl-client-side-apply", adopted, takes, false},
		"adopted, of a name like kubectl's":    {"kubectled", adopted, refused, false},
		"adopted, of k9s":                      {"k9s", adopted, takes, false},
		"adopted, of a browser":                {"Mozilla", adopted, takes, false},
		"adopted, before server-side apply":    {"before-first-apply", adopted, takes, false},
		"adopted, with -force-conflicts":       {"operator", adopted, takes, true},
		"yield_to":                             {"operator", ours(providers.Lifecycle{YieldTo: []string{"oper*"}}), yields, false},
		"yield_to, others":                     {"operator", ours(providers.Lifecycle{YieldTo: []string{"helm"}}), takes, false},
		"yield_to and -force-conflicts":        {"operator", ours(providers.Lifecycle{YieldTo: []string{"operator"}}), yields, true},
		"ignored":                              {"operator", ours(providers.Lifecycle{IgnoreFields: []string{"data"}}), yields, false},
		"ignored and -force-conflicts":         {"operator", ours(providers.Lifecycle{IgnoreFields: []string{"data.key"}}), yields, true},
		"ignored and forced":                   {"operator", ours(providers.Lifecycle{IgnoreFields: []string{"data"}, ForceConflicts: true}), yields, false},
		"another field is ignored":             {"operator", ours(providers.Lifecycle{IgnoreFields: []string{"data.y", "metadata"}}), takes, false},
		"forced":                               {"operator", theirs(providers.Lifecycle{ForceConflicts: true}), takes, false},
		"forced, and yield_to":                 {"operator", ours(providers.Lifecycle{ForceConflicts: true, YieldTo: []string{"operator"}}), takes, false},
		"the field is forced":                  {"operator", theirs(providers.Lifecycle{ForceFields: []string{`data["key"]`}}), takes, false},
		"another field is forced":              {"operator", theirs(providers.Lifecycle{ForceFields: []string{"data.y"}}), refused, false},
		"the owner is forced":                  {"operator", theirs(providers.Lifecycle{ForceManagers: []string{"operator"}}), takes, false},
		"another owner is forced":              {"operator", theirs(providers.Lifecycle{ForceManagers: []string{"argocd"}}), refused, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := &outcome.Outcome{Object: declared(t), Live: data(t, test.manager), Manager: providers.FieldManager}
			test.change(o)
			conflicts := []providers.Conflict{{Path: ".data.key", Manager: test.manager}}
			settled, err := ownership.Arbitrate(o, test.force, o.Object.Manifest, conflicts)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			if settled.Takes {
				got = append(got, takes)
			}
			if len(settled.Yields) > 0 {
				got = append(got, yields)
			}
			if len(settled.Refused) > 0 {
				got = append(got, refused)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %v, want %s", got, test.want)
			}
		})
	}
}

// TestProblem checks that the problem of a conflict names the owner, the field and the solutions.
func TestProblem(t *testing.T) {
	o := &outcome.Outcome{Object: declared(t), Live: data(t, "operator"), Manager: providers.FieldManager}
	problem := ownership.Problem(o, []providers.Conflict{{Path: ".data.key", Manager: "operator"}})
	for _, want := range []string{`data["key"]`, "operator", "ignore_fields", "yield_to", "-force-conflicts"} {
		if !strings.Contains(problem.Summary+"\n"+problem.Detail, want) {
			t.Errorf("%q is not in %s: %s", want, problem.Summary, problem.Detail)
		}
	}
}

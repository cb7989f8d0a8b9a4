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
	const takes, yields, refused = "takes", "yields", "refused"
	ours := func(l providers.Lifecycle) func(o *ownership.Object) {
		return func(o *ownership.Object) { o.Ours, o.Declared.Lifecycle = true, &l }
	}
	adopted := func(o *ownership.Object) { o.Adopted = true }
	tests := map[string]struct {
		manager string
		change  func(o *ownership.Object)
		want    string
	}{
		"a person, in kolla's own object":      {"kubectl-edit", ours(providers.Lifecycle{}), takes},
		"a controller, in kolla's own object":  {"kube-controller-manager", ours(providers.Lifecycle{}), takes},
		"another cloud, in kolla's own object": {"kolla:other", ours(providers.Lifecycle{}), takes},
		"neither made nor adopted":             {"kubectl", func(*ownership.Object) {}, refused},
		"adopted":                              {"operator", adopted, refused},
		"adopted, a controller":                {"kube-controller-manager", adopted, refused},
		"adopted, of kubectl":                  {"kubectl", adopted, takes},
		"adopted, of its subcommands":          {"kubectl-client-side-apply", adopted, takes},
		"adopted, of a name like kubectl's":    {"kubectled", adopted, refused},
		"adopted, of k9s":                      {"k9s", adopted, takes},
		"adopted, of a browser":                {"Mozilla", adopted, takes},
		"adopted, before server-side apply":    {"before-first-apply", adopted, takes},
		"adopted, with -force-conflicts":       {"operator", func(o *ownership.Object) { o.Adopted, o.Force = true, true }, takes},
		"yield_to":                             {"operator", ours(providers.Lifecycle{YieldTo: []string{"oper*"}}), yields},
		"yield_to, others":                     {"operator", ours(providers.Lifecycle{YieldTo: []string{"helm"}}), takes},
		"yield_to and -force-conflicts":        {"operator", func(o *ownership.Object) { ours(providers.Lifecycle{YieldTo: []string{"operator"}})(o); o.Force = true }, yields},
		"ignored":                              {"operator", ours(providers.Lifecycle{IgnoreFields: []string{"data"}}), yields},
		"ignored and -force-conflicts": {"operator", func(o *ownership.Object) {
			ours(providers.Lifecycle{IgnoreFields: []string{"data.key"}})(o)
			o.Force = true
		}, yields},
		"ignored and forced":       {"operator", ours(providers.Lifecycle{IgnoreFields: []string{"data"}, ForceConflicts: true}), yields},
		"another field is ignored": {"operator", ours(providers.Lifecycle{IgnoreFields: []string{"data.y", "metadata"}}), takes},
		"forced": {"operator", func(o *ownership.Object) {
			o.Adopted, o.Declared.Lifecycle = true, &providers.Lifecycle{ForceConflicts: true}
		}, takes},
		"forced, and yield_to": {"operator", ours(providers.Lifecycle{ForceConflicts: true, YieldTo: []string{"operator"}}), takes},
		"the field is forced": {"operator", func(o *ownership.Object) {
			o.Adopted, o.Declared.Lifecycle = true, &providers.Lifecycle{ForceFields: []string{`data["key"]`}}
		}, takes},
		"another field is forced": {"operator", func(o *ownership.Object) {
			o.Adopted, o.Declared.Lifecycle = true, &providers.Lifecycle{ForceFields: []string{"data.y"}}
		}, refused},
		"the owner is forced": {"operator", func(o *ownership.Object) {
			o.Adopted, o.Declared.Lifecycle = true, &providers.Lifecycle{ForceManagers: []string{"operator"}}
		}, takes},
		"another owner is forced": {"operator", func(o *ownership.Object) {
			o.Adopted, o.Declared.Lifecycle = true, &providers.Lifecycle{ForceManagers: []string{"argocd"}}
		}, refused},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := ownership.Object{Declared: declared(t), Live: data(t, test.manager), Manager: providers.FieldManager}
			test.change(&o)
			conflicts := []providers.Conflict{{Path: ".data.key", Manager: test.manager}}
			settled, err := ownership.Arbitrate(o, o.Declared.Manifest, conflicts)
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

package planner_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// widgets is a definition whose objects may have one of two colours.
func widgets(t *testing.T, colours string) *unstructured.Unstructured {
	t.Helper()
	return objecttest.Read(t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {colour: {type: string, enum: [%s]}}}}}
`, colours))
}

// TestAnswersByADefinitionThatChanges checks dry runs of an object whose CRD the same plan changes.
// The plan ignores a refusal by the old schema, and reports all other refusals.
func TestAnswersByADefinitionThatChanges(t *testing.T) {
	wrong := invalid("colour", `Unsupported value: "green"`)
	for name, test := range map[string]struct {
		err  error
		want string // of the problem; empty: there is none
	}{
		"by the old schema":  {wrong, ""},
		"by a policy":        {refusal(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not today`), "not today"},
		"by a webhook":       {refusal(http.StatusForbidden, metav1.StatusReasonForbidden, `admission webhook "w" denied the request: not today`), "not today"},
		"without the rights": {refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "no rights"), "no rights"},
	} {
		for _, there := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, there %v", name, there), func(t *testing.T) {
				was, is := widgets(t, "red"), widgets(t, "red, green")
				widget := objecttest.Read(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: openstack}, colour: green}")
				c := &cluster{objects: []*unstructured.Unstructured{live(was, "uid-1")}}
				c.answer = func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
					if u.GetKind() == "Widget" {
						return nil, test.err
					}
					return u, nil
				}
				in := input(c,
					declared("manifest.w/CustomResourceDefinition/widgets.example.org", is),
					declared("manifest.w/Widget/w", widget))
				in.State.Objects = []state.Object{recorded("manifest.w/CustomResourceDefinition/widgets.example.org", c.objects[0])}
				want := plans.Create
				if there {
					old := live(widget, "uid-2")
					old.Object["colour"] = "red"
					c.objects = append(c.objects, old)
					in.State.Objects = append(in.State.Objects, recorded("manifest.w/Widget/w", old))
					want = plans.Update
				}
				if test.want != "" {
					if got := mustNotPlan(t, in); !strings.Contains(got, test.want) {
						t.Errorf("problem is %q", got)
					}
					return
				}
				a := find(t, mustPlan(t, in), "manifest.w/Widget/w")
				if a.Verb != want || a.Evidence.Kind != plans.Schema || !strings.Contains(a.Evidence.Detail, `colour: Unsupported value: "green"`) {
					t.Errorf("decided %s, %+v", a.Verb, a.Evidence)
				}
			})
		}
	}
}

// TestKeyedListsOfAChangedDefinition checks that a new object shows the elements of its lists one by
// one, whether or not the plan carries values.
func TestKeyedListsOfAChangedDefinition(t *testing.T) {
	definition := func(colours string) *unstructured.Unstructured {
		u := widgets(t, colours)
		versions := u.Object["spec"].(map[string]any)["versions"].([]any)
		properties := versions[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)["properties"].(map[string]any)
		properties["parts"] = objecttest.Read(t, `{apiVersion: v1, kind: x, parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name],
  items: {type: object, properties: {name: {type: string}, size: {type: integer}}}}}`).Object["parts"]
		return u
	}
	widget := objecttest.Read(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: openstack}, parts: [{name: a, size: 1}, {name: b, size: 2}]}")
	for _, values := range []bool{false, true} {
		c := &cluster{objects: []*unstructured.Unstructured{live(definition("red"), "uid-1")}}
		c.answer = func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
			u = live(u, "")
			if u.GetKind() == "Widget" {
				owns(u, "kolla", metav1.ManagedFieldsOperationApply, then,
					`{"f:parts":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:size":{}},"k:{\"name\":\"b\"}":{".":{},"f:name":{},"f:size":{}}}}`)
			}
			return u, nil
		}
		in := input(c,
			declared("manifest.w/CustomResourceDefinition/widgets.example.org", definition("red, green")),
			declared("manifest.w/Widget/w", widget))
		in.State.Objects = []state.Object{recorded("manifest.w/CustomResourceDefinition/widgets.example.org", c.objects[0])}
		in.Values = values
		a := find(t, mustPlan(t, in), "manifest.w/Widget/w")
		var paths []string
		for _, c := range a.Changes {
			paths = append(paths, c.Path)
		}
		if a.Evidence.Kind != plans.Schema || !slices.Contains(paths, `parts["a"].size`) || !slices.Contains(paths, `parts["b"].size`) {
			t.Errorf("with values %v, by %s: the changes are %v", values, a.Evidence.Kind, paths)
		}
	}
}

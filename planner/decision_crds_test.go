package planner_test

import (
	"fmt"
	"net/http"
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

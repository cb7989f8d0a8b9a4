package planner_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestUnshownFields checks fields that the declared version of a custom kind does not show. They
// are additions, except fields that lifecycle leaves to others. If the server does not tell the
// defaults, only fields with an owner are additions.
func TestUnshownFields(t *testing.T) {
	const at = "manifest.a/Thing/a"
	definitions := schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	const unseen = "fields that only other versions of custom kinds have were not compared"
	readOnly := &providers.PermissionError{Err: refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "no"), Verb: "patch", Resource: "things", Group: "example.org", User: "jane"}
	for name, test := range map[string]struct {
		err       error // of the dry run without the fields
		lifecycle providers.Lifecycle
		hidden    bool // the user may not list definitions
		want      []string
		warns     bool
	}{
		"a dry run tells":  {want: []string{"spec.more.b", "spec.other"}},
		"read-only rights": {err: readOnly, want: []string{"spec.more.b", "spec.other"}},
		"a webhook with side effects": {
			err: refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, `admission webhook "x.example.org" does not support dry run`), want: []string{"spec.more.b", "spec.other"},
		},
		"ignored":                        {lifecycle: providers.Lifecycle{IgnoreFields: []string{"spec.more.b"}}, want: []string{"spec.other"}},
		"ignored, with read-only rights": {err: readOnly, lifecycle: providers.Lifecycle{IgnoreFields: []string{"spec.other"}}, want: []string{"spec.more.b"}},
		"left to somebody":               {lifecycle: providers.Lifecycle{YieldTo: []string{"operator"}}, want: []string{"spec.more.b"}},
		"hidden":                         {hidden: true, warns: true},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := thing("example.org/v1", "Thing", "a")
			manifest.Object["spec"] = map[string]any{"a": "1"}
			w := &world{}
			w.add(at, manifest)
			owns(w.last(), "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:spec":{"f:a":{}}}`)
			owns(w.last(), "kubectl", metav1.ManagedFieldsOperationUpdate, then, `{"f:spec":{"f:more":{"f:b":{}}}}`)
			owns(w.last(), "operator", metav1.ManagedFieldsOperationUpdate, then, `{"f:spec":{"f:other":{}}}`)
			stored := w.last().DeepCopy()
			stored.SetAPIVersion("example.org/v2")
			stored.Object["spec"] = map[string]any{"a": "1", "more": map[string]any{"b": "2", "default": "3"}, "other": "4"}
			crd := thing("apiextensions.k8s.io/v1", "CustomResourceDefinition", "things.example.org")
			crd.SetNamespace("")
			crd.Object["spec"] = map[string]any{
				"group": "example.org", "names": map[string]any{"kind": "Thing"},
				"versions": []any{map[string]any{"name": "v1", "served": true, "storage": false}, map[string]any{"name": "v2", "served": true, "storage": true}},
			}
			w.cluster.objects = append(w.cluster.objects, stored, crd)
			w.cluster.without = func(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				u = u.DeepCopy()
				if u.GetAPIVersion() == "example.org/v2" {
					if test.err != nil {
						return nil, test.err
					}
					put(t, u, "3", "spec", "more", "default")
				}
				return u, nil
			}
			w.cluster.answer = func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
				return w.cluster.objects[0], nil
			}
			if test.hidden {
				w.cluster.hidden = definitions
				w.cluster.because = apierrors.NewForbidden(schema.GroupResource{Group: definitions.Group, Resource: "customresourcedefinitions"}, "", errors.New("no"))
			}
			object := declared(at, manifest)
			object.Lifecycle = &test.lifecycle
			plan, problems, err := planner.Make(t.Context(), w.input(object))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range find(t, plan, at).Changes {
				got = append(got, c.Path)
				if !c.Drift {
					t.Errorf("%s is no drift", c.Path)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s\n%v", diff, problems)
			}
			warned := slices.ContainsFunc(problems, func(p plans.Problem) bool {
				return p.Warning && p.Summary == unseen && strings.Contains(p.Detail, "a Thing ")
			})
			if warned != test.warns {
				t.Errorf("problems are %s", fmt.Sprint(problems))
			}
		})
	}
}

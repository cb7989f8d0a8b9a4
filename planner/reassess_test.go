package planner_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestReassessForeignClass checks that an apply looks up the default class if another client set
// the class of an Ingress after the plan. The plan did not need the default class.
func TestReassessForeignClass(t *testing.T) {
	const at = "manifest.m/Ingress/front"
	manifest := objecttest.Read(t, `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front, namespace: openstack}
spec: {defaultBackend: {service: {name: api, port: {number: 80}}}}`)
	now := live(manifest, "uid-1")
	if err := unstructured.SetNestedField(now.Object, "evil", "spec", "ingressClassName"); err != nil {
		t.Fatal(err)
	}
	owns(now, "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:spec":{"f:defaultBackend":{}}}`)
	owns(now, "evil", metav1.ManagedFieldsOperationUpdate, then, `{"f:spec":{"f:ingressClassName":{}}}`)
	c := &cluster{
		objects: []*unstructured.Unstructured{now},
		answer: func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
			return now.DeepCopy(), nil
		},
		without: func(*unstructured.Unstructured) (*unstructured.Unstructured, error) {
			u := now.DeepCopy()
			unstructured.RemoveNestedField(u.Object, "spec", "ingressClassName")
			return u, nil
		},
	}
	object := declared(at, manifest)
	action := plans.Action{Verb: plans.Update, Object: &object, Ref: object.Ref(), Address: object.Address}
	changes, err := planner.Reassess(t.Context(), c, &plans.Plan{Cloud: "prod"}, &action, manifest, now, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) != 1 || changes[0].Path != "spec.ingressClassName" {
		t.Errorf("the changes are %+v", changes)
	}
}

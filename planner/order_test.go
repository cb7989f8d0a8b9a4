package planner_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner/plans"
)

const (
	atPod     = "manifest.m/Pod/check"
	atAccount = "manifest.m/ServiceAccount/check"
)

// TestOrderOfWhatIsNamed checks that an object's reference to another object counts as a
// dependency: for the order of creation and deletion, in the state, and for -target.
func TestOrderOfWhatIsNamed(t *testing.T) {
	pod := objecttest.Read(t, "{apiVersion: v1, kind: Pod, metadata: {name: check, namespace: openstack}, spec: {serviceAccountName: check}}")
	account := objecttest.Read(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: check, namespace: openstack}}")
	in := input(&cluster{}, declared(atPod, pod), declared(atAccount, account))
	in.Selection = plans.Selection{Targets: []string{atPod}}
	plan := mustPlan(t, in)
	if diff := cmp.Diff([]string{"create " + atAccount, "create " + atPod}, verbs(plan)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	created := find(t, plan, atPod)
	if got := fmt.Sprint(created.DependsOn, created.Object.DependsOn); got != "["+atAccount+"] ["+atAccount+"]" {
		t.Errorf("the pod depends on %s", got)
	}
	if in.Objects[0].DependsOn != nil {
		t.Errorf("the declared object was changed: %v", in.Objects[0].DependsOn)
	}

	var w world
	w.add(atPod, pod, atAccount)
	w.add(atAccount, account)
	in = w.input()
	in.Destroy = true
	if diff := cmp.Diff([]string{"delete " + atPod, "delete " + atAccount}, verbs(mustPlan(t, in))); diff != "" {
		t.Errorf("order of deletions (-want +got):\n%s", diff)
	}
}

// TestOrderThatContradictsTheDeclaredOne checks that references in objects never cause an error,
// even if they contradict the declared dependencies.
func TestOrderThatContradictsTheDeclaredOne(t *testing.T) {
	pod := objecttest.Read(t, "{apiVersion: v1, kind: Pod, metadata: {name: check, namespace: openstack}, spec: {serviceAccountName: check}}")
	account := objecttest.Read(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: check, namespace: openstack}}")
	plan := mustPlan(t, input(&cluster{}, declared(atPod, pod), declared(atAccount, account, atPod)))
	if diff := cmp.Diff([]string{"create " + atPod, "create " + atAccount}, verbs(plan)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}

	// The records come from two applies. The later one was only of the account.
	var w world
	w.add(atPod, pod, atAccount)
	w.add(atAccount, account, atPod)
	in := w.input()
	in.Destroy = true
	got := verbs(mustPlan(t, in))
	slices.Sort(got)
	if diff := cmp.Diff([]string{"delete " + atPod, "delete " + atAccount}, got); diff != "" {
		t.Errorf("deletions (-want +got):\n%s", diff)
	}
}

package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// mounting returns a workload whose pods mount a generation of the file.
func mounting(t *testing.T, generation int) *unstructured.Unstructured {
	u := workload("Deployment", "api")
	put(t, u, []any{map[string]any{"name": "conf", "configMap": map[string]any{"name": fmt.Sprintf("keystone.conf-%d", generation)}}},
		"spec", "template", "spec", "volumes")
	return u
}

// TestFamiliesInUse checks changes from one version of a file to another version, which may exist
// already. kolla keeps the version that pods use, even if kolla wrote another version later.
// The operator can go back to the kept version.
func TestFamiliesInUse(t *testing.T) {
	tests := map[string]struct {
		recorded []int
		used     int
		desired  int
		want     []string
		before   int // the version that the change is compared with
	}{
		"back to the one before":        {recorded: []int{1, 2}, used: 2, desired: 1, want: []string{"none 1"}, before: 2},
		"back to an older one":          {recorded: []int{1, 2, 3}, used: 2, desired: 1, want: []string{"none 1", "delete 3"}, before: 2},
		"on, after that":                {recorded: []int{1, 2}, used: 1, desired: 3, want: []string{"create 3", "delete 2"}, before: 1},
		"on, with more that is unused":  {recorded: []int{1, 2, 3}, used: 2, desired: 4, want: []string{"create 4", "delete 1", "delete 3"}, before: 2},
		"nothing new, and in use again": {recorded: []int{1, 2}, used: 1, desired: 1, want: []string{"none 1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			for i, n := range test.recorded {
				r := w.add(atGeneration(n), generation(n))
				r.Family = family
				r.Applied = then.Add(time.Duration(i) * time.Minute)
				owns(w.last(), "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:data":{"f:keystone.conf":{}}}`)
			}
			w.add("service.keystone/Deployment/api", mounting(t, test.used))
			w.cluster.answer = func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
				u = live(u, "")
				if u.GetKind() == "ConfigMap" {
					owns(u, "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:data":{"f:keystone.conf":{}}}`)
				}
				return u, nil
			}
			config := declared(atGeneration(test.desired), generation(test.desired))
			config.Family = address(family)
			plan := mustPlan(t, w.input(config, declared("service.keystone/Deployment/api", mounting(t, test.desired))))
			var got []string
			for _, v := range verbs(plan) {
				if !strings.Contains(v, "/Deployment/") {
					got = append(got, strings.Replace(v, family+"-", "", 1))
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			a := find(t, plan, atGeneration(test.desired))
			if test.before == 0 {
				if a.Supersedes != (addrs.Object{}) {
					t.Errorf("supersedes %s", a.Supersedes)
				}
				return
			}
			want := []plans.Change{{
				Path: `data["keystone.conf"]`, Text: true,
				Before: fmt.Sprintf("[token]\nexpiration = %d\n", test.before),
				After:  fmt.Sprintf("[token]\nexpiration = %d\n", test.desired),
			}}
			if diff := cmp.Diff(want, a.Changes); diff != "" || a.Supersedes != address(atGeneration(test.before)) {
				t.Errorf("supersedes %s; changes (-want +got):\n%s", a.Supersedes, diff)
			}
		})
	}
}

// TestNewFieldOfAVersion checks that a field that only the new version of an object has is among its
// changes, whether or not the plan carries values.
func TestNewFieldOfAVersion(t *testing.T) {
	for _, values := range []bool{false, true} {
		w := &world{}
		w.add(atGeneration(1), generation(1)).Family = family
		owns(w.last(), "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:data":{"f:keystone.conf":{}}}`)
		w.add("service.keystone/Deployment/api", mounting(t, 1))
		w.cluster.answer = func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
			u = live(u, "")
			if u.GetKind() == "ConfigMap" {
				owns(u, "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:data":{"f:keystone.conf":{},"f:policy.yaml":{}}}`)
			}
			return u, nil
		}
		next := generation(2)
		put(t, next, "rules\n", "data", "policy.yaml")
		config := declared(atGeneration(2), next)
		config.Family = address(family)
		in := w.input(config, declared("service.keystone/Deployment/api", mounting(t, 2)))
		in.Values = values
		a := find(t, mustPlan(t, in), atGeneration(2))
		want := []plans.Change{
			{Path: `data["keystone.conf"]`, Text: true, Before: "[token]\nexpiration = 1\n", After: "[token]\nexpiration = 2\n"},
			{Path: `data["policy.yaml"]`, Text: true, After: "rules\n"},
		}
		if diff := cmp.Diff(want, a.Changes); diff != "" {
			t.Errorf("with values %v: changes (-want +got):\n%s", values, diff)
		}
	}
}

package planner_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// warningsOf makes a plan, and returns the warnings with a summary.
func warningsOf(t *testing.T, in planner.Input, summary string) []plans.Problem {
	t.Helper()
	_, problems, err := planner.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	var found []plans.Problem
	for _, p := range problems {
		if p.Warning && strings.Contains(p.Summary, summary) {
			found = append(found, p)
		}
	}
	return found
}

// TestOlderState checks that a plan warns about later writes under kolla's own name, and does not
// only call them drift.
func TestOlderState(t *testing.T) {
	const at = "manifest.m/ConfigMap/m"
	for name, test := range map[string]struct {
		manager string
		written time.Time
		stamp   string // the server's time of the recorded apply
		warns   bool
	}{
		"written later by kolla":          {"kolla", then.Add(time.Hour), "", true},
		"written as recorded":             {"kolla", then, "", false},
		"written later by others":         {"kubectl", then.Add(time.Hour), "", false},
		"by a server's clock ahead":       {"kolla", then.Add(time.Hour), then.Add(time.Hour).UTC().Format(time.RFC3339), false},
		"later, by that clock":            {"kolla", then.Add(time.Hour + time.Second), then.Add(time.Hour).UTC().Format(time.RFC3339), true},
		"a little ahead, without a stamp": {"kolla", then.Add(30 * time.Second), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			declaredMap := thing("v1", "ConfigMap", "m")
			put(t, declaredMap, "old", "data", "a")
			w := &world{}
			w.add(at, declaredMap)
			live := w.last()
			put(t, live, "new", "data", "a")
			owns(live, test.manager, metav1.ManagedFieldsOperationApply, test.written, `{"f:data":{"f:a":{}}}`)
			o := declared(at, declaredMap)
			in := w.input(o)
			in.State.Objects[0].DesiredDigest = o.Digest()
			in.State.Objects[0].Fingerprint.Owned, in.State.Objects[0].Fingerprint.Server = "as it was", here.Version
			in.State.Objects[0].Fingerprint.Stamp = test.stamp
			w.cluster.answer = func(object *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
				answer := object.DeepCopy()
				owns(answer, "kolla", metav1.ManagedFieldsOperationApply, now, `{"f:data":{"f:a":{}}}`)
				return answer, nil
			}
			found := warningsOf(t, in, "The state is older")
			if test.warns != (len(found) == 1) || test.warns && !strings.Contains(found[0].Detail, at) {
				t.Errorf("warnings %+v, want one: %v", found, test.warns)
			}
		})
	}
}

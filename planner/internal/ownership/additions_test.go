package ownership_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/providers"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return u
}

// owned returns the outcome of an object that kolla created.
func owned(t *testing.T, declared, live string) *outcome.Outcome {
	t.Helper()
	return &outcome.Outcome{
		Object:  &providers.Object{Manifest: object(t, declared)},
		Live:    object(t, live),
		Manager: providers.FieldManager,
		Ours:    true,
	}
}

// TestUnremovable checks fields that no update removes, for example the missing address of a
// headless Service.
func TestUnremovable(t *testing.T) {
	const service = `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {}}`
	const job = `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}, "spec": {}}`
	tests := map[string]struct {
		declared, live string
		want           []string
	}{
		"a headless Service": {service, `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"clusterIP": "None"}}`, []string{"spec.clusterIP"}},
		"declared as such": {
			`{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"clusterIP": "None"}}`,
			`{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"clusterIP": "None"}}`, nil,
		},
		"a Service with an address": {service, `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"clusterIP": "10.0.0.1"}}`, nil},
		"a suspended Job":           {job, `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}, "spec": {"suspend": true, "backoffLimit": 6, "parallelism": 1}}`, []string{"spec.suspend"}},
		"a Job with the defaults":   {job, `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}, "spec": {"suspend": false, "backoffLimit": 6, "parallelism": 1}}`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := ownership.Unremovable(t.Context(), providers.SnapshotOf(), owned(t, test.declared, test.live), ownership.History{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range found {
				got = append(got, fields.Text(d.At))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMayBeStale checks whether an apply with other images may leave a default that a new object
// would not have.
func TestMayBeStale(t *testing.T) {
	const before = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {"template": {"spec": {"containers": [{"name": "a", "image": "a:1", "imagePullPolicy": "IfNotPresent"}]}}}}`
	tests := map[string]struct {
		after string
		want  bool
	}{
		"another version": {`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {"template": {"spec": {"containers": [{"name": "a", "image": "a:2", "imagePullPolicy": "IfNotPresent"}]}}}}`, false},
		"the latest one":  {`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {"template": {"spec": {"containers": [{"name": "a", "image": "a:latest", "imagePullPolicy": "IfNotPresent"}]}}}}`, true},
		"another label":   {`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "labels": {"a": "b"}}, "spec": {"template": {"spec": {"containers": [{"name": "a", "image": "a:1", "imagePullPolicy": "IfNotPresent"}]}}}}`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ownership.MayBeStale(owned(t, `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}}`, before), object(t, test.after))
			if err != nil || got != test.want {
				t.Errorf("%v, %v; want %v", got, err, test.want)
			}
		})
	}
}

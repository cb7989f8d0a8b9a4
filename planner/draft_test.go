package planner_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

type ownedFields = map[string]any

// served returns a Service as the server stores it.
func served(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	u := thing("v1", "Service", "web")
	u.SetUID("uid-1")
	u.SetResourceVersion("7")
	u.SetFinalizers([]string{"example.org/hold"})
	u.SetLabels(map[string]string{"type": "ClusterIP"})
	u.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}", "example.org/a": "b"})
	u.Object["spec"] = ownedFields{
		"clusterIP": "10.0.0.7", "clusterIPs": []any{"10.0.0.7"}, "ipFamilies": []any{"IPv4"},
		"ipFamilyPolicy": "SingleStack", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster", "type": "ClusterIP",
		"selector": ownedFields{"protocol": "TCP"},
		"ports": []any{
			ownedFields{"name": "a", "port": int64(80), "protocol": "TCP", "targetPort": int64(80)},
			ownedFields{"name": "b", "port": int64(81), "protocol": "TCP", "targetPort": int64(8081)},
		},
	}
	u.Object["status"] = ownedFields{"loadBalancer": ownedFields{}}
	return u
}

// TestDraft checks that a draft leaves out exactly those fields that the server would fill in
// again. If a dry run is refused, the draft keeps all these fields.
func TestDraft(t *testing.T) {
	// The server fills in all fields except the session affinity.
	answer := func(sent *unstructured.Unstructured) *unstructured.Unstructured {
		u := sent.DeepCopy()
		for field, value := range (ownedFields{"type": "ClusterIP", "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster", "sessionAffinity": "ClientIP"}) {
			put(t, u, value, "spec", field)
		}
		ports, _, _ := unstructured.NestedSlice(u.Object, "spec", "ports")
		for _, p := range ports {
			port := p.(ownedFields)
			port["protocol"] = "TCP"
			if port["targetPort"] == nil {
				port["targetPort"] = port["port"]
			}
		}
		put(t, u, ports, "spec", "ports")
		return u
	}
	metadata := ownedFields{"name": "web", "namespace": "openstack", "labels": ownedFields{"type": "ClusterIP"}, "annotations": ownedFields{"example.org/a": "b"}}
	small := ownedFields{
		"sessionAffinity": "None", "selector": ownedFields{"protocol": "TCP"},
		"ports": []any{ownedFields{"name": "a", "port": int64(80)}, ownedFields{"name": "b", "port": int64(81), "targetPort": int64(8081)}},
	}
	full := ownedFields{
		"ipFamilyPolicy": "SingleStack", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster", "type": "ClusterIP",
		"selector": ownedFields{"protocol": "TCP"},
		"ports": []any{
			ownedFields{"name": "a", "port": int64(80), "protocol": "TCP", "targetPort": int64(80)},
			ownedFields{"name": "b", "port": int64(81), "protocol": "TCP", "targetPort": int64(8081)},
		},
	}
	tests := map[string]struct {
		refuses func(providers.DryRunOptions) bool
		want    ownedFields
	}{
		"proven":             {func(providers.DryRunOptions) bool { return false }, small},
		"cannot be asked":    {func(o providers.DryRunOptions) bool { return o.Surrogate }, full},
		"takes from another": {func(o providers.DryRunOptions) bool { return !o.Surrogate }, full},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			live := served(t)
			c := &cluster{answer: func(sent *unstructured.Unstructured, o providers.DryRunOptions) (*unstructured.Unstructured, error) {
				if test.refuses(o) {
					return nil, errors.New("refused")
				}
				return answer(sent), nil
			}}
			got, err := planner.Draft(t.Context(), c, live)
			if err != nil {
				t.Fatal(err)
			}
			want := ownedFields{"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": test.want}
			if diff := cmp.Diff(want, got.Object); diff != "" {
				t.Errorf("draft (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(served(t).Object, live.Object); diff != "" {
				t.Errorf("the live object was changed:\n%s", diff)
			}
		})
	}
}

// TestDraftWithoutAssigned checks that a draft leaves out the fields that controllers assign.
func TestDraftWithoutAssigned(t *testing.T) {
	claim := thing("v1", "PersistentVolumeClaim", "data")
	claim.Object["spec"] = ownedFields{"volumeName": "pv-1", "storageClassName": "fast"}
	claim.SetAnnotations(map[string]string{"pv.kubernetes.io/bind-completed": "yes"})
	namespace := thing("v1", "Namespace", "shop")
	namespace.Object["spec"] = ownedFields{"finalizers": []any{"kubernetes"}}
	namespace.SetLabels(map[string]string{"kubernetes.io/metadata.name": "shop"})
	headless := thing("v1", "Service", "headless")
	headless.Object["spec"] = ownedFields{"clusterIP": "None", "clusterIPs": []any{"None"}}
	job := thing("batch/v1", "Job", "fill")
	job.Object["spec"] = ownedFields{"selector": ownedFields{}, "template": ownedFields{"metadata": ownedFields{"creationTimestamp": nil, "labels": ownedFields{"batch.kubernetes.io/controller-uid": "1", "a": "b"}}}}
	custom := thing("example.org/v1", "Widget", "w")
	custom.Object["spec"] = ownedFields{"protocol": "TCP"}
	meta := func(name string) ownedFields { return ownedFields{"name": name, "namespace": "openstack"} }
	for _, test := range []struct {
		live *unstructured.Unstructured
		want ownedFields
	}{
		{claim, ownedFields{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta("data"), "spec": ownedFields{"storageClassName": "fast"}}},
		{namespace, ownedFields{"apiVersion": "v1", "kind": "Namespace", "metadata": ownedFields{"name": "shop"}}},
		{headless, ownedFields{"apiVersion": "v1", "kind": "Service", "metadata": meta("headless"), "spec": ownedFields{"clusterIP": "None"}}},
		{job, ownedFields{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("fill"), "spec": ownedFields{"template": ownedFields{"metadata": ownedFields{"labels": ownedFields{"a": "b"}}}}}},
		{custom, ownedFields{"apiVersion": "example.org/v1", "kind": "Widget", "metadata": meta("w"), "spec": ownedFields{"protocol": "TCP"}}},
	} {
		got, err := planner.Draft(t.Context(), &cluster{}, test.live)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got.Object); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.live.GetKind(), diff)
		}
	}
}

package planner_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

type fields = map[string]any

// served is a Service as the server has it.
func served(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	u := thing("v1", "Service", "web")
	u.SetUID("uid-1")
	u.SetResourceVersion("7")
	u.SetFinalizers([]string{"example.org/hold"})
	u.SetLabels(map[string]string{"type": "ClusterIP"})
	u.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}", "example.org/a": "b"})
	u.Object["spec"] = fields{
		"clusterIP": "10.0.0.7", "clusterIPs": []any{"10.0.0.7"}, "ipFamilies": []any{"IPv4"},
		"ipFamilyPolicy": "SingleStack", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster", "type": "ClusterIP",
		"selector": fields{"protocol": "TCP"},
		"ports": []any{
			fields{"name": "a", "port": int64(80), "protocol": "TCP", "targetPort": int64(80)},
			fields{"name": "b", "port": int64(81), "protocol": "TCP", "targetPort": int64(8081)},
		},
	}
	u.Object["status"] = fields{"loadBalancer": fields{}}
	return u
}

// What the server would fill in again is left out of a draft, and nothing else; and all
// of it stays where the server does not say so.
func TestDraft(t *testing.T) {
	// The server gives everything but the session affinity.
	answer := func(sent *unstructured.Unstructured) *unstructured.Unstructured {
		u := sent.DeepCopy()
		for field, value := range (fields{"type": "ClusterIP", "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster", "sessionAffinity": "ClientIP"}) {
			put(t, u, value, "spec", field)
		}
		ports, _, _ := unstructured.NestedSlice(u.Object, "spec", "ports")
		for _, p := range ports {
			port := p.(fields)
			port["protocol"] = "TCP"
			if port["targetPort"] == nil {
				port["targetPort"] = port["port"]
			}
		}
		put(t, u, ports, "spec", "ports")
		return u
	}
	metadata := fields{"name": "web", "namespace": "openstack", "labels": fields{"type": "ClusterIP"}, "annotations": fields{"example.org/a": "b"}}
	small := fields{
		"sessionAffinity": "None", "selector": fields{"protocol": "TCP"},
		"ports": []any{fields{"name": "a", "port": int64(80)}, fields{"name": "b", "port": int64(81), "targetPort": int64(8081)}},
	}
	full := fields{
		"ipFamilyPolicy": "SingleStack", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster", "type": "ClusterIP",
		"selector": fields{"protocol": "TCP"},
		"ports": []any{
			fields{"name": "a", "port": int64(80), "protocol": "TCP", "targetPort": int64(80)},
			fields{"name": "b", "port": int64(81), "protocol": "TCP", "targetPort": int64(8081)},
		},
	}
	tests := map[string]struct {
		refuses func(providers.DryRunOptions) bool
		want    fields
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
			want := fields{"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": test.want}
			if diff := cmp.Diff(want, got.Object); diff != "" {
				t.Errorf("draft (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(served(t).Object, live.Object); diff != "" {
				t.Errorf("the live object was changed:\n%s", diff)
			}
		})
	}
}

// What a controller assigns is no part of a declaration.
func TestDraftWithoutAssigned(t *testing.T) {
	claim := thing("v1", "PersistentVolumeClaim", "data")
	claim.Object["spec"] = fields{"volumeName": "pv-1", "storageClassName": "fast"}
	claim.SetAnnotations(map[string]string{"pv.kubernetes.io/bind-completed": "yes"})
	namespace := thing("v1", "Namespace", "shop")
	namespace.Object["spec"] = fields{"finalizers": []any{"kubernetes"}}
	namespace.SetLabels(map[string]string{"kubernetes.io/metadata.name": "shop"})
	headless := thing("v1", "Service", "headless")
	headless.Object["spec"] = fields{"clusterIP": "None", "clusterIPs": []any{"None"}}
	job := thing("batch/v1", "Job", "fill")
	job.Object["spec"] = fields{"selector": fields{}, "template": fields{"metadata": fields{"creationTimestamp": nil, "labels": fields{"batch.kubernetes.io/controller-uid": "1", "a": "b"}}}}
	custom := thing("example.org/v1", "Widget", "w")
	custom.Object["spec"] = fields{"protocol": "TCP"}
	meta := func(name string) fields { return fields{"name": name, "namespace": "openstack"} }
	for _, test := range []struct {
		live *unstructured.Unstructured
		want fields
	}{
		{claim, fields{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta("data"), "spec": fields{"storageClassName": "fast"}}},
		{namespace, fields{"apiVersion": "v1", "kind": "Namespace", "metadata": fields{"name": "shop"}}},
		{headless, fields{"apiVersion": "v1", "kind": "Service", "metadata": meta("headless"), "spec": fields{"clusterIP": "None"}}},
		{job, fields{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("fill"), "spec": fields{"template": fields{"metadata": fields{"labels": fields{"a": "b"}}}}}},
		{custom, fields{"apiVersion": "example.org/v1", "kind": "Widget", "metadata": meta("w"), "spec": fields{"protocol": "TCP"}}},
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

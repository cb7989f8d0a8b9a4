package status_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/present/status"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// reader lists the same objects each time.
type reader struct {
	providers.Reader
	objects []*unstructured.Unstructured
}

func (r reader) List(_ context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, u := range r.objects {
		if u.GroupVersionKind() == kind && (namespace == "" || u.GetNamespace() == namespace) {
			out = append(out, u)
		}
	}
	return out, nil
}

// inspector knows the reasons of the workloads that are not ready, and the pods of all.
type inspector struct {
	reasons map[string]string
	pods    map[string][]*corev1.Pod
}

func (i inspector) Health(_ context.Context, w *unstructured.Unstructured) (providers.Health, error) {
	reason, unready := i.reasons[w.GetName()]
	return providers.Health{Ready: !unready, Reason: reason}, nil
}

func (i inspector) PodsOf(_ context.Context, w *unstructured.Unstructured) ([]*corev1.Pod, error) {
	return i.pods[w.GetName()], nil
}

func live(apiVersion, kind, namespace, name string, fields map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	for key, value := range fields {
		u.Object[key] = value
	}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	u.SetUID("uid-1")
	return u
}

func pod(restarts int32, images ...string) *corev1.Pod {
	p := &corev1.Pod{}
	for _, image := range images {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Image: image})
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: restarts}}
	return p
}

func TestOf(t *testing.T) {
	object := func(address, apiVersion, namespace string) state.Object {
		parsed, err := addrs.ParseObject(address)
		if err != nil {
			t.Fatal(err)
		}
		return state.Object{Address: address, APIVersion: apiVersion, Kind: parsed.Kind, Namespace: namespace, Name: parsed.Name, UID: "uid-1", Ready: true}
	}
	st := &state.State{Cloud: "prod", Cluster: state.Cluster{Server: "https://c"}, Objects: []state.Object{
		object("cloud.prod/Namespace/os", "v1", ""),
		object("service.a/DaemonSet/a-agent", "apps/v1", "os"),
		object("service.a/Deployment/a-api", "apps/v1", "os"),
		object("service.a/Deployment/a-gone", "apps/v1", "os"),
		object("service.a/Deployment/a-leaving", "apps/v1", "os"),
		object("service.a/Deployment/a-other", "apps/v1", "os"),
		object("service.a/HTTPRoute/a", "gateway.networking.k8s.io/v1", "os"),
		object("service.a/Ingress/a", "networking.k8s.io/v1", "os"),
		object("service.a/Job/a-db", "batch/v1", "os"),
		object("service.a/Job/a-done", "batch/v1", "os"),
		object("service.a/Job/a-expired", "batch/v1", "os"),
		object("service.a/Secret/a", "v1", "os"),
		object("service.a/Service/a", "v1", "os"),
		object("service.a/Service/a-balanced", "v1", "os"),
		object("service.a/Service/a-waiting", "v1", "os"),
	}}
	st.Objects[4].Deleting = true
	st.Objects[5].UID = "uid-0"
	service := live("v1", "Service", "os", "a", map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"name": "api", "port": int64(5000)}, map[string]any{"name": "web", "port": int64(8080)}}}})
	service.SetAnnotations(map[string]string{providers.AnnotationPublic: "cloud.example.org (192.0.2.10)", providers.AnnotationPublicPorts: "web=80"})
	ingress := live("networking.k8s.io/v1", "Ingress", "os", "a", nil)
	ingress.SetAnnotations(map[string]string{providers.AnnotationPublic: "http://a.example.org, http://a-b.example.org", providers.AnnotationAwaitsAddress: "true"})
	route := live("gateway.networking.k8s.io/v1", "HTTPRoute", "os", "a", nil)
	route.SetAnnotations(map[string]string{providers.AnnotationPublic: "http://a.example.com"})
	namespace := live("v1", "Namespace", "", "os", nil)
	namespace.SetAnnotations(map[string]string{providers.AnnotationRelease: "2025.1-rocky-9"})
	sidecar := pod(1, "q/a-api:2", "q/haproxy:3.0")
	sidecar.Spec.InitContainers = []corev1.Container{{Image: "q/init:9"}, {Image: "q/log:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
	snapshot := providers.NewSnapshot(reader{objects: []*unstructured.Unstructured{
		namespace, service, ingress, route,
		live("v1", "Service", "os", "a-balanced", map[string]any{"spec": map[string]any{"type": "LoadBalancer"}}),
		live("v1", "Service", "os", "a-waiting", map[string]any{"spec": map[string]any{"type": "LoadBalancer"}}),
		live("apps/v1", "DaemonSet", "os", "a-agent", map[string]any{"status": map[string]any{"desiredNumberScheduled": int64(3), "numberReady": int64(2)}}),
		live("apps/v1", "Deployment", "os", "a-api", map[string]any{"spec": map[string]any{"replicas": int64(2)}, "status": map[string]any{"readyReplicas": int64(2)}}),
		live("apps/v1", "Deployment", "os", "a-other", nil),
		live("batch/v1", "Job", "os", "a-db", nil),
		live("batch/v1", "Job", "os", "a-done", nil),
	}})
	var objects []*state.Object
	for i := range st.Objects {
		objects = append(objects, &st.Objects[i])
	}
	got, err := status.Of(t.Context(), st, objects, snapshot, inspector{
		reasons: map[string]string{"a-agent": "node c1 is down", "a-db": "the job failed", "a-waiting": "no address", "a": "nobody serves it"},
		pods: map[string][]*corev1.Pod{
			"a-agent": {pod(0, "q/agent@sha256:0123456789abcdef"), pod(4, "q/agent:1")},
			"a-api":   {pod(0, "q/a-api:1"), sidecar},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	address := func(kind, name string) addrs.Object { return addrs.Object{Block: "service.a", Kind: kind, Name: name} }
	want := &status.Look{Cloud: "prod", Server: "https://c", Namespace: "os", Release: "2025.1-rocky-9", Services: []status.Service{{
		Address: "service.a",
		Public:  []string{"http://a.example.com", "http://a.example.org", "http://a-b.example.org", "cloud.example.org:5000 (192.0.2.10)", "cloud.example.org:80 (192.0.2.10)"},
		Workloads: []status.Workload{
			{
				Address: address("DaemonSet", "a-agent"), Namespace: "os", Health: providers.Health{Reason: "node c1 is down"}, Pods: &status.Pods{Ready: 2, Desired: 3}, Restarts: 4,
				Images: []status.Image{{Name: "q/agent:1", Pods: 1}, {Name: "q/agent@sha256:0123456789abcdef", Pods: 1}},
			},
			{
				Address: address("Deployment", "a-api"), Namespace: "os", Health: providers.Health{Ready: true}, Pods: &status.Pods{Ready: 2, Desired: 2}, Restarts: 1,
				Images: []status.Image{{Name: "q/a-api:1", Pods: 1}, {Name: "q/a-api:2", Pods: 1}, {Name: "q/haproxy:3.0", Pods: 1}, {Name: "q/log:1", Pods: 1}},
			},
			{Address: address("Deployment", "a-gone"), Namespace: "os", Health: providers.Health{Reason: "it is not in the cluster"}},
			{Address: address("Deployment", "a-other"), Namespace: "os", Health: providers.Health{Reason: "others replaced it by another object of this name"}},
			{Address: address("HTTPRoute", "a"), Namespace: "os", Health: providers.Health{Reason: "nobody serves it"}},
			{Address: address("Ingress", "a"), Namespace: "os", Health: providers.Health{Reason: "nobody serves it"}},
			{Address: address("Job", "a-db"), Namespace: "os", Health: providers.Health{Reason: "the job failed"}, Images: []status.Image{}},
			{Address: address("Service", "a-waiting"), Namespace: "os", Health: providers.Health{Reason: "no address"}},
		},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := got.Summary(), "7 of 8 workloads are not ready."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestVersionsOfImages(t *testing.T) {
	for want, images := range map[string][]string{
		"":                             nil,
		"2025.1-rocky-9":               {"quay.io:443/kolla/nova-api:2025.1-rocky-9", "quay.io:443/kolla/nova-ssh:2025.1-rocky-9"},
		"2024.2, 2025.1":               {"nova-api:2024.2", "nova-api:2025.1"},
		"haproxy:3.0, nova-api:2025.1": {"q/nova-api:2025.1", "q/haproxy:3.0"},
		"latest":                       {"quay.io:443/kolla/nova-api"},
		"2025.1, sha256:0123456789ab":  {"q/nova-api:2025.1", "q/nova-api:x@sha256:0123456789abcdef"},
		"sha256:01":                    {"q/nova-api@sha256:01"},
	} {
		var w status.Workload
		for _, image := range images {
			w.Images = append(w.Images, status.Image{Name: image})
		}
		if got := w.Versions(); got != want {
			t.Errorf("%v: %q, want %q", images, got, want)
		}
	}
}

func TestBehind(t *testing.T) {
	workload := func(name, stage string, images ...string) status.Workload {
		w := status.Workload{Stage: stage, Address: addrs.Object{Block: "service.a", Kind: "Deployment", Name: name}}
		for _, image := range images {
			w.Images = append(w.Images, status.Image{Name: image})
		}
		return w
	}
	look := &status.Look{Release: "2026.1-rocky-10", Services: []status.Service{{Workloads: []status.Workload{
		workload("new", "control", "q/new:2026.1-rocky-10"),
		workload("distribution", "control", "q/new:2026.1-debian-trixie"),
		workload("own", "control", "q/own:3.0", "q/own"),
		workload("rolls", "nodes", "q/new:2026.1-rocky-10", "q/new:2025.1-rocky-9"),
		workload("old", "control", "q/old:2025.1-rocky-9"),
	}}}}
	var behind []string
	for _, w := range look.Behind() {
		behind = append(behind, w.Address.Name)
	}
	if diff := cmp.Diff([]string{"old", "rolls"}, behind); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	look.Release = "" // not known
	if got := look.Behind(); got != nil {
		t.Errorf("behind an unknown release: %v", got)
	}
}

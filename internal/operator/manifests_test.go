package operator_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"kolla.openstack.org/kolla/internal/operator"
)

// installed returns the objects of an installation by their kinds.
func installed(t *testing.T, in operator.Installation) map[string]*unstructured.Unstructured {
	t.Helper()
	text, err := operator.Manifests(in)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*unstructured.Unstructured{}
	for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var o unstructured.Unstructured
		switch err := d.Decode(&o); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatal(err)
		}
		out[o.GetKind()] = &o
	}
}

// TestMetricsAreFound checks that the Service and the PodMonitor select the pods of the operator, and the port at
// which these serve metrics. The PodMonitor is there only on request, as not every cluster knows the kind.
func TestMetricsAreFound(t *testing.T) {
	in := operator.Installation{Namespace: "kolla-operator", Image: "registry.example.org/kolla:1", Replicas: 2}
	if o := installed(t, in)["PodMonitor"]; o != nil {
		t.Errorf("without a request there is %v", o)
	}
	in.Monitor, in.MonitorLabels = true, map[string]string{"release": "stack"}
	objects := installed(t, in)
	var pods appsv1.Deployment
	var service corev1.Service
	for kind, into := range map[string]any{"Deployment": &pods, "Service": &service} {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(objects[kind].Object, into); err != nil {
			t.Fatal(err)
		}
	}
	container := pods.Spec.Template.Spec.Containers[0]
	i := slices.IndexFunc(container.Ports, func(p corev1.ContainerPort) bool { return p.Name == "metrics" })
	if i < 0 || !slices.Contains(container.Args, "-metrics=:8080") || container.Ports[i].ContainerPort != 8080 {
		t.Fatalf("the pods serve metrics at %v, with %v", container.Ports, container.Args)
	}
	of := labels.Set(pods.Spec.Template.Labels)
	port := service.Spec.Ports[0]
	if !labels.SelectorFromSet(service.Spec.Selector).Matches(of) || port.TargetPort.StrVal != "metrics" || port.Port != 8080 || service.Annotations["prometheus.io/port"] != "8080" {
		t.Errorf("the Service is %+v", service)
	}
	monitor := objects["PodMonitor"]
	selector, _, _ := unstructured.NestedStringMap(monitor.Object, "spec", "selector", "matchLabels")
	endpoints, _, _ := unstructured.NestedSlice(monitor.Object, "spec", "podMetricsEndpoints")
	if len(selector) == 0 || !labels.SelectorFromSet(selector).Matches(of) || len(endpoints) != 1 || endpoints[0].(map[string]any)["port"] != "metrics" {
		t.Errorf("the PodMonitor is %v", monitor.Object)
	}
	if monitor.GetLabels()["release"] != "stack" || monitor.GetNamespace() != service.Namespace {
		t.Errorf("the PodMonitor has the labels %v, in %s", monitor.GetLabels(), monitor.GetNamespace())
	}
}

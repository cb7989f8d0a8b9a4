package usage_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/present/usage"
)

// container returns a container; an empty text is no quantity.
func container(name, cpuRequest, memoryLimit string) corev1.Container {
	c := corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}}
	if cpuRequest != "" {
		c.Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpuRequest)
	}
	if memoryLimit != "" {
		c.Resources.Limits[corev1.ResourceMemory] = resource.MustParse(memoryLimit)
	}
	return c
}

// metrics returns PodMetrics: container, CPU, memory and so on.
func metrics(values ...string) *unstructured.Unstructured {
	var containers []any
	for i := 0; i < len(values); i += 3 {
		containers = append(containers, map[string]any{"name": values[i], "usage": map[string]any{"cpu": values[i+1], "memory": values[i+2]}})
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "metadata": map[string]any{"name": "p"}, "containers": containers}}
}

func TestOf(t *testing.T) {
	const mebibyte = 1 << 20
	for name, test := range map[string]struct {
		change  func(*corev1.Pod)
		metrics *unstructured.Unstructured
		want    []usage.Pod
	}{
		"below the limit, of a container with one": {
			metrics: metrics("a", "1500u", "899Mi", "b", "1", "5Gi"),
			want: []usage.Pod{{Measured: true, Sum: usage.Sum{
				CPU: usage.Amount{Used: 1002, Request: 100}, Memory: usage.Amount{Used: (899 + 5120) * mebibyte},
			}}},
		},
		"a sidecar near its limit, in a pod with enough": {
			change: func(p *corev1.Pod) {
				side := container("side", "50m", "10Mi")
				side.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
				p.Spec.Containers = p.Spec.Containers[:1]
				p.Spec.InitContainers = []corev1.Container{container("first", "4", "4Gi"), side}
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{RestartCount: 2}}
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 3}}
			},
			metrics: metrics("a", "5m", "100Mi", "side", "5m", "9Mi"),
			want: []usage.Pod{{Measured: true, Sum: usage.Sum{
				CPU: usage.Amount{Used: 10, Request: 150}, Memory: usage.Amount{Used: 109 * mebibyte, Limit: 1010 * mebibyte}, Restarts: 5,
			}, Near: []usage.Near{{Container: "side", Used: 9 * mebibyte, Limit: 10 * mebibyte}}}},
		},
		"not measured yet": {
			want: []usage.Pod{{Sum: usage.Sum{CPU: usage.Amount{Request: 100}}}},
		},
		"failed":    {change: func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, metrics: metrics("a", "1", "1Gi")},
		"succeeded": {change: func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, metrics: metrics("a", "1", "1Gi")},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{container("a", "100m", "1000Mi"), container("b", "", "")}}}
			if test.change != nil {
				test.change(pod)
			}
			for i := range test.want {
				test.want[i].Name, test.want[i].Node = "p", "n"
			}
			got, err := usage.Of([]*corev1.Pod{pod}, func(*corev1.Pod) *unstructured.Unstructured { return test.metrics })
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestUnreadable checks that a value that is no quantity is an error that names the object.
func TestUnreadable(t *testing.T) {
	_, err := usage.Of([]*corev1.Pod{{}}, func(*corev1.Pod) *unstructured.Unstructured { return metrics("a", "much", "1Mi") })
	if err == nil || !strings.Contains(err.Error(), "PodMetrics") {
		t.Errorf("the error is %v", err)
	}
}

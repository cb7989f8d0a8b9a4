package placement

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/scheduling"
)

// NewPods returns the number of pods that a new workload starts. The server's answer for a new
// DaemonSet has a count of 0 in its status, which means nothing: its pods are the nodes on which
// they may run. They are not known without the nodes of the cluster.
func NewPods(workload *unstructured.Unstructured, nodes Nodes) (n int, known bool) {
	if workload == nil || workload.GroupVersionKind().GroupKind() != kinds.DaemonSet {
		return inventory.Replicas(workload)
	}
	pod, ok := scheduling.PodOf(workload)
	if !ok || len(nodes) == 0 {
		return 0, false
	}
	for _, u := range nodes {
		var node corev1.Node
		taints, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "taints")
		spec := map[string]any{"spec": map[string]any{"taints": taints}}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &node); err != nil {
			return 0, false
		}
		node.Name, node.Labels = u.GetName(), u.GetLabels()
		if scheduling.RunsOn(pod, &node) {
			n++
		}
	}
	return n, true
}

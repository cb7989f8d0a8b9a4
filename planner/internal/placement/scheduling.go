package placement

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/klog/v2"

	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/providers/kinds"
)

// NewPods returns the number of pods that a new workload starts. The server's answer for a new
// DaemonSet has a count of 0 in its status, which means nothing: its pods are the nodes on which
// they may run. They are not known without the nodes of the cluster.
func NewPods(workload *unstructured.Unstructured, nodes Nodes) (n int, known bool) {
	if workload == nil || workload.GroupVersionKind().GroupKind() != kinds.DaemonSet {
		return inventory.Replicas(workload)
	}
	pod, ok := podOf(workload)
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
		if runsOn(pod, &node) {
			n++
		}
	}
	return n, true
}

// podOf returns the specification of a workload's pods, with the tolerations that the controller
// of DaemonSets adds.
func podOf(workload *unstructured.Unstructured) (*corev1.PodSpec, bool) {
	template, _, _ := unstructured.NestedMap(workload.Object, "spec", "template", "spec")
	pod := &corev1.PodSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, pod); err != nil {
		return nil, false
	}
	if workload.GroupVersionKind().GroupKind() == kinds.DaemonSet {
		pod.Tolerations = append(pod.Tolerations, tolerationsOfDaemons(pod.HostNetwork)...)
	}
	return pod, true
}

// tolerationsOfDaemons returns the tolerations that the controller adds to each pod of a
// DaemonSet.
func tolerationsOfDaemons(hostNetwork bool) []corev1.Toleration {
	exists := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	added := []corev1.Toleration{
		exists(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
	}
	if hostNetwork {
		added = append(added, exists(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule))
	}
	return added
}

// runsOn reports whether the pod of a DaemonSet may start on a node, by the rules of the
// controller: the name of the node, its labels, and its taints.
func runsOn(pod *corev1.PodSpec, node *corev1.Node) bool {
	if pod.NodeName != "" && pod.NodeName != node.Name || !covers(node.Labels, pod.NodeSelector) {
		return false
	}
	if a := pod.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		if !slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool { return selects(t, node) }) {
			return false
		}
	}
	return !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(pod, &taint)
	})
}

// tolerates reports whether a pod tolerates a taint.
func tolerates(pod *corev1.PodSpec, taint *corev1.Taint) bool {
	return slices.ContainsFunc(pod.Tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(klog.Background(), taint, false) })
}

// operators has the operators of a node selector.
var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn:           selection.In,
	corev1.NodeSelectorOpNotIn:        selection.NotIn,
	corev1.NodeSelectorOpExists:       selection.Exists,
	corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt:           selection.GreaterThan,
	corev1.NodeSelectorOpLt:           selection.LessThan,
}

// selects reports whether a node meets all requirements of a term. An empty term selects none.
func selects(term corev1.NodeSelectorTerm, node *corev1.Node) bool {
	meets := func(requirements []corev1.NodeSelectorRequirement, values labels.Set) bool {
		return !slices.ContainsFunc(requirements, func(r corev1.NodeSelectorRequirement) bool {
			requirement, err := labels.NewRequirement(r.Key, operators[r.Operator], r.Values)
			return err != nil || !requirement.Matches(values)
		})
	}
	return len(term.MatchExpressions)+len(term.MatchFields) > 0 &&
		meets(term.MatchExpressions, node.Labels) &&
		meets(term.MatchFields, labels.Set{metav1.ObjectNameField: node.Name})
}

// Package scheduling knows the rules by which Kubernetes chooses nodes for pods: names, labels,
// affinity to nodes, and taints.
package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/klog/v2"

	"kolla.openstack.org/kolla/providers/kinds"
)

// PodOf returns the specification of an object's pods, with the tolerations that the controller of
// DaemonSets adds. ok is false if the object has no pods, or if a part of them is not known yet.
func PodOf(object *unstructured.Unstructured) (pod *corev1.PodSpec, ok bool) {
	kind := object.GroupVersionKind().GroupKind()
	path, runs := kinds.Pods(kind)
	template, _, _ := unstructured.NestedMap(object.Object, append(slices.Clone(path), "spec")...)
	pod = &corev1.PodSpec{}
	if !runs || runtime.DefaultUnstructuredConverter.FromUnstructured(template, pod) != nil {
		return nil, false
	}
	if kind == kinds.DaemonSet {
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

// RunsOn reports whether the pod of a DaemonSet may start on a node, by the rules of the
// controller: the name of the node, its labels, and its taints.
func RunsOn(pod *corev1.PodSpec, node *corev1.Node) bool {
	return Chooses(pod, node) && len(Barring(pod, node)) == 0
}

// Chooses reports whether a pod may run on a node by the name of the node and its labels.
func Chooses(pod *corev1.PodSpec, node *corev1.Node) bool {
	if pod.NodeName != "" && pod.NodeName != node.Name || !labels.SelectorFromSet(pod.NodeSelector).Matches(labels.Set(node.Labels)) {
		return false
	}
	if a := pod.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		return slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool { return selects(t, node) })
	}
	return true
}

// Barring returns the taints of a node that keep a pod from starting there.
func Barring(pod *corev1.PodSpec, node *corev1.Node) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(taint corev1.Taint) bool {
		return taint.Effect == corev1.TaintEffectPreferNoSchedule || Tolerates(pod, &taint)
	})
}

// Tolerates reports whether a pod tolerates a taint.
func Tolerates(pod *corev1.PodSpec, taint *corev1.Taint) bool {
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

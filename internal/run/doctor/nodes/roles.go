// Package nodes has the checks of nodes: their labels, resources, versions, kernels and images.
package nodes

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/scheduling"
)

// Roles checks that the pods of each role find nodes, and members that must be apart enough of
// them.
func Roles(f *cluster.Facts) ([]cluster.Finding, error) {
	nodes, err := f.Nodes()
	if err != nil {
		return nil, err
	}
	var out []cluster.Finding
	for _, g := range f.Groups() {
		out = append(out, findUnscheduled(g, nodes)...)
	}
	return out, nil
}

// obstacle is a reason why no pod of a workload can start. Workloads with the same one share a
// finding.
type obstacle struct{ problem, next string }

// findUnscheduled checks the workloads of one role.
func findUnscheduled(g cluster.Group, nodes []corev1.Node) []cluster.Finding {
	var kept cluster.Grouped[obstacle] // addresses of workloads
	var out []cluster.Finding
	for _, w := range g.Workloads {
		usable, why := usableBy(w.Pod, nodes)
		switch {
		case len(usable) == 0:
			kept.Add(why, w.Address())
		case !w.Daemon:
			out = append(out, findSpread(w, g.Name, usable)...)
		}
	}
	var all []cluster.Finding
	for _, why := range kept.Keys {
		all = append(all, cluster.Finding{
			Severity: cluster.Error, Subject: g.Name, Problem: why.problem,
			Reason: fmt.Sprintf("No pod of %s can start.", words.Few(kept.Of[why], 4)), Next: why.next,
		})
	}
	return append(all, out...)
}

// usableBy returns the nodes on which a pod can start now. If there are none, it returns the reason.
func usableBy(pod *corev1.PodSpec, nodes []corev1.Node) (usable []corev1.Node, why obstacle) {
	var chosen, closed, barred []string
	var taints []string
	for i := range nodes {
		node := &nodes[i]
		if !scheduling.Chooses(pod, node) {
			continue
		}
		chosen = append(chosen, node.Name)
		bars := slices.DeleteFunc(scheduling.Barring(pod, node), ofCondition)
		switch {
		case !cluster.Ready(node) && !tolerated(pod, node):
			closed = append(closed, node.Name)
		case len(bars) > 0:
			barred = append(barred, node.Name)
			for i := range bars {
				taints = append(taints, bars[i].ToString())
			}
		default:
			usable = append(usable, *node)
		}
	}
	switch {
	case len(usable) > 0:
		return usable, why
	case len(chosen) == 0 && len(pod.NodeSelector) > 0:
		return nil, obstacle{"no node has the label " + labels.FormatLabels(pod.NodeSelector) + ", or gets it with an apply", "Give the role nodes, or add nodes to the cluster. " + autoscaled}
	case len(chosen) == 0:
		return nil, obstacle{"no node fits the affinity of the pods", "Compare the affinity with the labels of the nodes: kubectl get nodes --show-labels."}
	case len(barred) > 0:
		return nil, obstacle{
			fmt.Sprintf("its nodes have taints that the pods do not tolerate: %s (%s)", words.Sorted(taints), words.Few(barred, 5)),
			"Remove the taint, or write it into `taints` of the role, so that its pods tolerate it.",
		}
	}
	return nil, obstacle{
		"none of its nodes is ready and takes new pods: " + words.Few(closed, 5),
		"kubectl describe node shows the reason. To open a cordoned node: kubectl uncordon NODE. " + autoscaled,
	}
}

// ofCondition reports whether Kubernetes sets a taint for a condition of the node.
func ofCondition(taint corev1.Taint) bool {
	return strings.HasPrefix(taint.Key, "node.kubernetes.io/") && taint.Key != corev1.TaintNodeOutOfService
}

// tolerated reports whether a pod may start on a node that is cordoned or not ready.
func tolerated(pod *corev1.PodSpec, node *corev1.Node) bool {
	if cluster.Condition(node, corev1.NodeReady) != corev1.ConditionTrue {
		return false // a pod of a DaemonSet may be bound there, but nothing starts it
	}
	return scheduling.Tolerates(pod, &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
}

// findSpread checks that a workload finds enough nodes for pods that must be apart.
func findSpread(w cluster.Workload, role string, usable []corev1.Node) []cluster.Finding {
	key := apart(w)
	if key == "" {
		return nil
	}
	domains := map[string]bool{}
	for i := range usable {
		if value, has := usable[i].Labels[key]; has {
			domains[value] = true
		}
	}
	if len(domains) >= w.Replicas {
		return nil
	}
	noun := "node"
	if key != corev1.LabelHostname {
		noun = "place with a label " + key
	}
	return []cluster.Finding{{
		Severity: cluster.Error, Subject: w.Address(),
		Problem: fmt.Sprintf("has %s that must be apart, and %s has %s for them", words.Count(w.Replicas, "pod"), role, words.Count(len(domains), noun)),
		Reason:  fmt.Sprintf("%s until there are more, and so does an apply.", words.Plural(w.Replicas-len(domains), "One pod waits", fmt.Sprintf("%d pods wait", w.Replicas-len(domains)))),
		Next:    "Add nodes to the role, make its closed nodes ready, or set fewer replicas. " + autoscaled,
	}}
}

// apart returns the node label whose value has to differ between the pods of a workload. It is empty if
// no label has to.
func apart(w cluster.Workload) string {
	a := w.Pod.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return ""
	}
	template, _ := kinds.Pods(w.Object.Ref().GVK.GroupKind())
	own, _, _ := unstructured.NestedStringMap(w.Object.Manifest.Object, append(slices.Clone(template), "metadata", "labels")...)
	for _, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err == nil && selector.Matches(labels.Set(own)) {
			return term.TopologyKey
		}
	}
	return ""
}

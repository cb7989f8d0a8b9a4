package readiness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// onDeadNode finds a pod of a workload on a node that is down or gone. Kubernetes does not replace a
// pod of a StatefulSet before it knows that the pod has ended.
func (q Inquiry) onDeadNode(ctx context.Context, workload *unstructured.Unstructured) *Finding {
	pods, err := q.Source.PodsOf(ctx, workload)
	set := workload.GroupVersionKind().GroupKind() == kinds.StatefulSet
	if err != nil || !set && !slices.ContainsFunc(pods, silent) {
		return nil
	}
	nodes, err := q.Source.Nodes(ctx)
	if err != nil { // the user may lack the permission to list nodes
		return nil
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	for _, pod := range pods {
		state, remedy := stateOf(pod.Spec.NodeName, nodes)
		if state == "" || !set && !silent(pod) {
			continue
		}
		consequence := fmt.Sprintf("pod %s cannot be made anew", pod.Name)
		switch {
		case !set && pod.DeletionTimestamp == nil:
			consequence = fmt.Sprintf("pod %s does not answer, and is replaced after some minutes", pod.Name)
		case !set:
			consequence = fmt.Sprintf("pod %s cannot end", pod.Name)
		}
		return &Finding{Cause: causeUnready, Pod: pod.Name, Reason: fmt.Sprintf("%s: node %s is %s; %s", consequence, pod.Spec.NodeName, state, remedy)}
	}
	return nil
}

// silent reports whether the node of a pod may be down: the pod is being deleted, or Kubernetes no
// longer counts it as ready although its containers were.
func silent(pod *corev1.Pod) bool {
	unready := slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status != corev1.ConditionTrue
	})
	stopped := slices.ContainsFunc(pod.Status.ContainerStatuses, func(container corev1.ContainerStatus) bool { return !container.Ready })
	return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodRunning && unready && !stopped
}

// stateOf says in what state a node that does not run its pods is, and how to go on. The state is
// empty if the node is up, and for a pod without a node.
func stateOf(name string, nodes []*corev1.Node) (state, remedy string) {
	if name == "" {
		return "", ""
	}
	at := slices.IndexFunc(nodes, func(node *corev1.Node) bool { return node.Name == name })
	switch {
	case at < 0:
		return "no longer in the cluster", "Kubernetes deletes its pods within a minute"
	case IsUp(nodes[at]):
		return "", ""
	case slices.ContainsFunc(nodes[at].Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeOutOfService }):
		return "down and out of service", "Kubernetes deletes its pods within a minute"
	}
	return "down", "bring it back, or, if it is certainly off: " + providers.OutOfService(name)
}

// volumeOnDeadNode says that a volume of a pod is on a node that is down or gone, if that may be why
// the scheduler finds no node, as its message says; empty: it is not. The node of a volume is the
// one that was chosen when the volume was made.
func (q Inquiry) volumeOnDeadNode(ctx context.Context, pod *corev1.Pod, message string) string {
	if !strings.Contains(message, "node affinity") || !strings.Contains(strings.ToLower(message), "volume") {
		return ""
	}
	nodes, err := q.Source.Nodes(ctx)
	if err != nil {
		return ""
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		claim, err := q.Source.Claim(ctx, pod.Namespace, volume.PersistentVolumeClaim.ClaimName)
		if err != nil {
			continue
		}
		node := claim.Annotations["volume.kubernetes.io/selected-node"]
		if state, _ := stateOf(node, nodes); state != "" {
			return fmt.Sprintf("the volume of claim %s is on node %s, which is %s; the pod waits until the node is back", claim.Name, node, state)
		}
	}
	return ""
}

package readiness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// Pods lists the pods of a StatefulSet or DaemonSet, by node and name.
func Pods(ctx context.Context, from Source, workload *unstructured.Unstructured) ([]providers.Pod, error) {
	all, err := from.PodsOf(ctx, workload)
	if err != nil {
		return nil, err
	}
	nodes, err := from.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	up := map[string]bool{}
	for _, node := range nodes {
		up[node.Name] = IsUp(node)
	}
	isNew, err := newest(ctx, from, workload, all)
	if err != nil {
		return nil, err
	}
	wait := time.Duration(number(workload, 0, "spec", "minReadySeconds")) * time.Second
	pods := make([]providers.Pod, 0, len(all))
	for _, pod := range all {
		node := nodeOf(pod)
		pods = append(pods, providers.Pod{
			Name: pod.Name, UID: pod.UID, Node: node,
			Down:     node != "" && !up[node],
			Ready:    available(pod, wait),
			Running:  running(pod),
			Outdated: !isNew(pod),
			Leaving:  pod.DeletionTimestamp != nil,
		})
	}
	slices.SortFunc(pods, func(a, b providers.Pod) int {
		return strings.Compare(a.Node+"\x00"+a.Name, b.Node+"\x00"+b.Name)
	})
	return pods, nil
}

// ReadyNodes returns the nodes on which a workload has ready pods that nobody deletes.
func ReadyNodes(ctx context.Context, from Source, workload *unstructured.Unstructured) ([]string, error) {
	pods, err := from.PodsOf(ctx, workload)
	var nodes []string
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil && available(pod, 0) {
			nodes = append(nodes, pod.Spec.NodeName)
		}
	}
	return nodes, err
}

// running returns the names of the running containers of a pod, including sidecars.
func running(pod *corev1.Pod) []string {
	var names []string
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if status.State.Running != nil {
			names = append(names, status.Name)
		}
	}
	return names
}

// IsUp reports whether the kubelet of a node answers.
func IsUp(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// nodeOf returns the node of a pod; before scheduling, the node that its DaemonSet wants.
func nodeOf(pod *corev1.Pod) string {
	affinity := pod.Spec.Affinity
	if pod.Spec.NodeName != "" || affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return pod.Spec.NodeName
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == metav1.ObjectNameField && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

// available reports whether the pod has been ready for the given time.
func available(pod *corev1.Pod, wait time.Duration) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return time.Since(condition.LastTransitionTime.Time) >= wait
		}
	}
	return false
}

// newest returns a function that reports whether a pod has the present specification of its
// workload.
func newest(ctx context.Context, from Source, workload *unstructured.Unstructured, pods []*corev1.Pod) (func(*corev1.Pod) bool, error) {
	hash := Field(workload, "status", "updateRevision")
	generation := "none"
	if workload.GroupVersionKind().GroupKind() == kinds.DaemonSet {
		generation = workload.GetAnnotations()[appsv1.DeprecatedTemplateGeneration]
	}
	isNew := func(pod *corev1.Pod) bool {
		return pod.Labels["pod-template-generation"] == generation || pod.Labels[appsv1.ControllerRevisionHashLabelKey] == hash
	}
	// A specification that is restored gets a new generation. Only its revision shows that
	// it is the same.
	if hash == "" && slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return !isNew(pod) }) {
		var err error
		if hash, err = lastRevision(ctx, from, workload); err != nil {
			return nil, err
		}
	}
	return isNew, nil
}

// lastRevision returns the hash of the newest ControllerRevision of a DaemonSet.
func lastRevision(ctx context.Context, from Source, daemonSet *unstructured.Unstructured) (string, error) {
	all, err := from.Revisions(ctx, daemonSet.GetNamespace())
	if err != nil {
		return "", fmt.Errorf("list the revisions of %s: %w", providers.RefOf(daemonSet), err)
	}
	hash, last := "", int64(0)
	for _, revision := range all {
		owner := metav1.GetControllerOf(revision)
		if n := number(revision, 0, "revision"); owner != nil && owner.UID == daemonSet.GetUID() && n > last {
			hash, last = revision.GetLabels()[appsv1.ControllerRevisionHashLabelKey], n
		}
	}
	return hash, nil
}

// DownNodes assesses a DaemonSet that is not ready by its pods on nodes that are up. names
// are the nodes that are down: their pods stay until the node is back or deleted, and cannot
// become ready. stuck is the reason why the rollout does not go on.
func (q Inquiry) DownNodes(ctx context.Context, daemonSet *unstructured.Unstructured) (ready bool, names []string, stuck *Finding, err error) {
	pods, err := Pods(ctx, q.Source, daemonSet)
	if err != nil || !observed(daemonSet) {
		return false, nil, nil, err
	}
	rolling := Field(daemonSet, "spec", "updateStrategy", "type") != string(appsv1.OnDeleteDaemonSetStrategyType)
	var good, unready, outdated int
	for _, pod := range pods {
		switch {
		case pod.Down:
			if !slices.Contains(names, pod.Node) {
				names = append(names, pod.Node)
			}
		case pod.Leaving || !pod.Ready:
			unready++
		case pod.Outdated && rolling:
			outdated++
		default:
			good++
		}
	}
	want := int(number(daemonSet, 0, "status", "desiredNumberScheduled"))
	ready = len(names) > 0 && unready+outdated == 0 && good+len(names) >= want
	if len(names) > 0 && unready == 0 && outdated > 0 {
		stuck = &Finding{Cause: causeUnready, Reason: fmt.Sprintf(
			"the rollout stands still: %s, and Kubernetes counts that as unavailable (at most %s may be); delete the node from the cluster, or bring it back", AreDown(names), maxUnavailable(daemonSet))}
	}
	return ready, names, stuck, nil
}

// maxUnavailable returns how many pods may be unavailable during the rollout of a DaemonSet.
func maxUnavailable(daemonSet *unstructured.Unstructured) string {
	value, ok, _ := unstructured.NestedFieldNoCopy(daemonSet.Object, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable")
	if !ok {
		return "1"
	}
	return fmt.Sprint(value)
}

// AreDown returns "node a is down", or the same for several nodes.
func AreDown(nodes []string) string { return nodesAre(nodes, "down") }

// nodesAre returns "node a is STATE", or the same for several nodes.
func nodesAre(nodes []string, state string) string {
	if len(nodes) == 1 {
		return fmt.Sprintf("node %s is %s", nodes[0], state)
	}
	return fmt.Sprintf("nodes %s are %s", words.Few(nodes, 3), state)
}

// observedPause is the pause between reads of a workload that its controller has not seen
// yet.
const observedPause = 500 * time.Millisecond

// ObservedWorkload reads a StatefulSet or DaemonSet once its controller has seen its present
// specification. It is not known before which pods are outdated.
func ObservedWorkload(ctx context.Context, a *resources.Access, ref providers.Ref) (*unstructured.Unstructured, error) {
	for start := time.Now(); ; {
		target, err := a.Target(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", ref, err)
		}
		workload, err := a.Get(ctx, target, ref.Name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", ref, err)
		case observed(workload):
			return workload, nil
		case time.Since(start) > connect.ShortPatience:
			return nil, &providers.NotReadyError{Ref: ref, Reason: rolloutUnseen}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(observedPause):
		}
	}
}

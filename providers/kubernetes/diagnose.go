package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kolla.openstack.org/kolla/providers"
)

// logLines is how much of a container's log goes into a diagnosis.
const logLines = 10

// finding is one thing that keeps an object from being ready.
type finding struct {
	cause  cause
	reason string   // one line
	detail []string // what else there is to know

	// hopeless: nothing but another declaration, or somebody elsewhere, mends it.
	hopeless bool

	pod       string // name; empty when it is not about a pod
	container string // whose log helps to understand; may be empty
	restarts  int32  // of the container
	previous  bool   // the log of the container before its restart
}

// cause orders findings: the first is the best explanation.
type cause int

const (
	_ cause = iota
	causeUnschedulable
	causeConfiguration
	causeImage
	causeCrash
	causeExit
	causeEvent
	causeUnready
	causeStarting // normal for a while; worth a word only with an event
)

// inquiry finds out what is wrong with an object.
type inquiry struct {
	source source
	// log returns the end of the log that explains a finding; see readLog.
	log func(ctx context.Context, namespace string, found *finding) []string
}

// diagnose finds out why an object is not ready; nil when nothing is known to be
// wrong.
func (q inquiry) diagnose(ctx context.Context, object *unstructured.Unstructured) (*finding, error) {
	switch object.GroupVersionKind().GroupKind() {
	case deploymentKind, statefulSetKind, daemonSetKind, providers.JobKind:
		return q.diagnoseWorkload(ctx, object)
	case providers.ClaimKind:
		return q.diagnoseClaim(ctx, object.GetNamespace(), object.GetName())
	}
	return nil, nil
}

func (q inquiry) diagnoseWorkload(ctx context.Context, workload *unstructured.Unstructured) (*finding, error) {
	pods, err := q.podsOf(ctx, workload)
	if err != nil {
		return nil, err
	}
	found, others := q.explainPods(ctx, pods)
	if found == nil && workload.GetKind() == "StatefulSet" {
		found = q.onDeadNode(ctx, workload)
	}
	if found == nil {
		return q.diagnoseCreation(ctx, workload)
	}
	about := "pod " + found.pod
	if others > 0 {
		about += fmt.Sprintf(" (and %d more)", others)
	}
	found.detail = append([]string{about}, found.detail...)
	if stuck := stuckRevision(workload, pods); stuck != "" {
		found.detail = append(found.detail, stuck)
	}
	if found.container != "" {
		found.detail = append(found.detail, q.log(ctx, workload.GetNamespace(), found)...)
	}
	return found, nil
}

// deepest is how many pods are looked into further than their own status.
const deepest = 5

// explainPods examines the pods, and returns the best explanation with how many
// other pods have trouble of the same kind.
func (q inquiry) explainPods(ctx context.Context, pods []*corev1.Pod) (best *finding, others int) {
	type suspect struct {
		pod   *corev1.Pod
		found *finding
	}
	var suspects []suspect
	counts := map[cause]int{}
	for _, pod := range pods {
		if found := examine(pod); found != nil {
			suspects = append(suspects, suspect{pod, found})
			counts[found.cause]++
		}
	}
	slices.SortStableFunc(suspects, func(a, b suspect) int { return int(a.found.cause - b.found.cause) })
	for _, s := range suspects[:min(len(suspects), deepest)] {
		others = counts[s.found.cause] - 1
		if found := q.deepen(ctx, s.pod, s.found); found != nil {
			return found, others
		}
	}
	return nil, 0
}

// podsOf lists the pods of a workload that are to stay, the youngest first.
func (q inquiry) podsOf(ctx context.Context, workload *unstructured.Unstructured) ([]*corev1.Pod, error) {
	pods, err := q.source.everyPodOf(ctx, workload)
	pods = slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
	return pods, err
}

// owns reports whether the workload made the pod. A Deployment does so through a
// ReplicaSet whose name ends with a hash that the pod has as a label.
func owns(workload *unstructured.Unstructured, pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return false
	}
	if workload.GetKind() == "Deployment" {
		return owner.Kind == "ReplicaSet" && owner.Name == workload.GetName()+"-"+pod.Labels["pod-template-hash"]
	}
	return owner.UID == workload.GetUID()
}

// stuckRevision notices pods that a StatefulSet will not replace by itself: one
// that never became ready under an old revision blocks the rollout of the new one.
func stuckRevision(workload *unstructured.Unstructured, pods []*corev1.Pod) string {
	revision := field(workload, "status", "updateRevision")
	if workload.GetKind() != "StatefulSet" || revision == "" || field(workload, "spec", "podManagementPolicy") == "Parallel" {
		return ""
	}
	for _, pod := range pods {
		if pod.Labels["controller-revision-hash"] != revision && examine(pod) != nil {
			return fmt.Sprintf("pod %s still has the specification from before, and Kubernetes waits for it rather than replace it: delete the pod", pod.Name)
		}
	}
	return ""
}

// diagnoseCreation finds out why there are fewer pods than there should be.
func (q inquiry) diagnoseCreation(ctx context.Context, workload *unstructured.Unstructured) (*finding, error) {
	if failure := conditionOf(workload, "ReplicaFailure"); failure != nil {
		return &finding{cause: causeEvent, reason: "pods cannot be created: " + oneLine(fmt.Sprint(failure["message"]))}, nil
	}
	event, err := q.lastEvent(ctx, workload.GetNamespace(), workload.GetUID(), func(event *corev1.Event) bool {
		return event.Type == corev1.EventTypeWarning && event.Reason == "FailedCreate"
	})
	if event == nil {
		return nil, err
	}
	return &finding{cause: causeEvent, reason: "pods cannot be created: " + oneLine(event.Message)}, nil
}

// diagnoseClaim finds out why a claim has no volume.
func (q inquiry) diagnoseClaim(ctx context.Context, namespace, name string) (*finding, error) {
	claim, err := q.source.claim(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	if claim.Status.Phase == corev1.ClaimBound {
		return nil, nil
	}
	event, err := q.lastEvent(ctx, namespace, claim.UID, func(event *corev1.Event) bool { return true })
	if event == nil || event.Reason == "WaitForFirstConsumer" {
		return nil, err
	}
	class := "no storage class"
	if name := ptr.Deref(claim.Spec.StorageClassName, ""); name != "" {
		class = "storage class " + name
	}
	return &finding{cause: causeUnschedulable, reason: fmt.Sprintf("volume claim %s (%s) is not bound: %s", name, class, oneLine(event.Message))}, nil
}

// deepen adds to what the pod itself says what is known elsewhere; nil when there
// turns out to be nothing wrong.
func (q inquiry) deepen(ctx context.Context, pod *corev1.Pod, found *finding) *finding {
	switch found.cause {
	case causeUnschedulable:
		if reason := q.unmatchedSelector(ctx, pod); reason != "" {
			found.detail = append(found.detail, found.reason)
			found.reason = reason
		} else if claim := q.unboundClaim(ctx, pod); claim != nil {
			found.detail = append(found.detail, found.reason)
			found.reason = claim.reason
		}
	case causeUnready, causeStarting:
		event, _ := q.lastEvent(ctx, pod.Namespace, pod.UID, func(event *corev1.Event) bool {
			return event.Type == corev1.EventTypeWarning
		})
		switch {
		case event != nil && found.cause == causeStarting:
			return &finding{cause: causeEvent, pod: pod.Name, reason: "the pod cannot start: " + oneLine(event.Message)}
		case event != nil:
			found.reason += ": " + oneLine(event.Message)
		case found.cause == causeStarting:
			return nil
		}
	}
	return found
}

// unmatchedSelector says which labels of the pod's node selector no node has.
func (q inquiry) unmatchedSelector(ctx context.Context, pod *corev1.Pod) string {
	if len(pod.Spec.NodeSelector) == 0 {
		return ""
	}
	nodes, err := q.source.nodes(ctx)
	if err != nil {
		return ""
	}
	return unmatched(pod.Spec.NodeSelector, nodes)
}

func (q inquiry) unboundClaim(ctx context.Context, pod *corev1.Pod) *finding {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		if found, err := q.diagnoseClaim(ctx, pod.Namespace, volume.PersistentVolumeClaim.ClaimName); err == nil && found != nil {
			return found
		}
	}
	return nil
}

// lastEvent returns the latest event about an object that is wanted, or nil.
func (q inquiry) lastEvent(ctx context.Context, namespace string, uid types.UID, wanted func(*corev1.Event) bool) (*corev1.Event, error) {
	events, err := q.source.eventsAbout(ctx, namespace, uid)
	if err != nil {
		return nil, err
	}
	var last *corev1.Event
	for _, event := range events {
		if wanted(event) && (last == nil || !happened(event).Before(happened(last))) {
			last = event
		}
	}
	return last, nil
}

// happened is when an event was last seen; which field tells depends on the
// version of the API that it was written with.
func happened(event *corev1.Event) *metav1.Time {
	switch {
	case event.Series != nil:
		return &metav1.Time{Time: event.Series.LastObservedTime.Time}
	case !event.LastTimestamp.IsZero():
		return &event.LastTimestamp
	}
	return &metav1.Time{Time: event.EventTime.Time}
}

// readLog returns the end of the container log that explains a finding.
func readLog(ctx context.Context, c *connection, namespace string, found *finding) []string {
	raw, err := c.core.Pods(namespace).GetLogs(found.pod, &corev1.PodLogOptions{
		Container: found.container,
		TailLines: ptr.To(int64(logLines)),
		Previous:  found.previous,
	}).Do(ctx).Raw()
	text := strings.TrimSpace(string(raw))
	if err != nil || text == "" {
		return nil
	}
	lines := []string{fmt.Sprintf("last lines of container %s:", found.container)}
	for line := range strings.Lines(text) {
		lines = append(lines, "  "+clip(strings.TrimRight(line, "\r\n")))
	}
	return lines
}

package readiness

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
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
)

// logLines is the number of log lines in a diagnosis.
const logLines = 10

// Finding is one reason why an object is not ready.
type Finding struct {
	Cause  Cause
	Reason string   // one line
	Detail []string // further facts

	// Hopeless: only another declaration, or a change elsewhere, can solve the problem.
	Hopeless bool

	Pod       string // name; empty: the finding is not about a pod
	Container string // the container with the log that explains the finding; may be empty
	Restarts  int32  // of the container
	Previous  bool   // the log of the container before its restart
}

// Cause is the kind of a finding.
type Cause int

// Causes, the best explanation first.
const (
	_ Cause = iota
	causeUnschedulable
	causeConfiguration
	causeImage
	CauseCrash
	CauseExit
	causeEvent
	causeUnready
	causeStarting // normal for a while; reported only with an event
)

// Inquiry finds out why an object is not ready.
type Inquiry struct {
	Source Source
	// Log returns the end of the container log that explains a finding; see ReadLog.
	Log func(ctx context.Context, namespace string, found *Finding) []string
}

// Examination is the result of Inquiry.Examine.
type Examination struct {
	// Ready: the object lacks only pods of nodes that are down, or the growth of a file system that
	// goes on when a pod starts.
	Ready   bool
	Down    []string // nodes that are not waited for
	Finding *Finding // the reason why the object is not ready, or lacks something; nil: none is known
}

// Examine finds out why an object does not pass Assess.
func (q Inquiry) Examine(ctx context.Context, object *unstructured.Unstructured) (Examination, error) {
	var (
		now   Examination
		stuck *Finding
	)
	switch object.GroupVersionKind().GroupKind() {
	case kinds.DaemonSet:
		now.Ready, now.Down, stuck, _ = q.DownNodes(ctx, object) // the user may lack the permission to list nodes
	case kinds.PersistentVolumeClaim:
		if conditionOf(object, string(corev1.PersistentVolumeClaimFileSystemResizePending)) != nil {
			return q.fileSystemGrowth(ctx, object), nil
		}
	}
	if now.Ready {
		return now, nil
	}
	var err error
	if now.Finding, err = q.Diagnose(ctx, object); err == nil && now.Finding == nil {
		now.Finding = stuck
	}
	return now, err
}

// Reason says in one line why an object is not ready. status is that of its Assessment.
func (e Examination) Reason(status string) string {
	switch {
	case e.Finding != nil:
		return e.Finding.Reason
	case len(e.Down) > 0:
		return status + "; " + AreDown(e.Down) + ", and not waited for"
	}
	return status
}

// Diagnose returns the reason why an object is not ready; nil: none is known.
func (q Inquiry) Diagnose(ctx context.Context, object *unstructured.Unstructured) (*Finding, error) {
	switch object.GroupVersionKind().GroupKind() {
	case kinds.Deployment, kinds.StatefulSet, kinds.DaemonSet, kinds.Job:
		return q.diagnoseWorkload(ctx, object)
	case kinds.PersistentVolumeClaim:
		if Field(object, "status", "phase") == string(corev1.ClaimBound) {
			return q.diagnoseGrowth(ctx, object)
		}
		return q.diagnoseClaim(ctx, object.GetNamespace(), object.GetName())
	}
	if providers.IsWayIn(object) {
		return q.diagnoseWayIn(ctx, object)
	}
	return nil, nil
}

// diagnoseWayIn says why a program of the cluster does not bring clients to an object.
func (q Inquiry) diagnoseWayIn(ctx context.Context, object *unstructured.Unstructured) (*Finding, error) {
	return q.lastWarning(ctx, object, "", providers.WayInProblem(object))
}

// lastWarning returns the last warning about an object; nil: there is none. reason is that of the event; empty: any.
func (q Inquiry) lastWarning(ctx context.Context, object *unstructured.Unstructured, reason, problem string) (*Finding, error) {
	event, err := q.lastEvent(ctx, object.GetNamespace(), object.GetUID(), func(event *corev1.Event) bool {
		return event.Type == corev1.EventTypeWarning && (reason == "" || event.Reason == reason)
	})
	if event == nil {
		return nil, err
	}
	return &Finding{Cause: causeEvent, Reason: problem + ": " + oneLine(event.Message)}, nil
}

func (q Inquiry) diagnoseWorkload(ctx context.Context, workload *unstructured.Unstructured) (*Finding, error) {
	pods, err := q.podsOf(ctx, workload)
	if err != nil {
		return nil, err
	}
	found, others := q.ExplainPods(ctx, pods)
	var dead *Finding
	if workload.GetKind() != kinds.DaemonSet.Kind && (found == nil || found.Cause == causeEvent || found.Cause == causeUnschedulable) {
		dead = q.onDeadNode(ctx, workload)
	}
	switch {
	case found == nil && dead == nil:
		return q.diagnoseCreation(ctx, workload)
	case found == nil:
		found = dead
	case dead != nil:
		found.Detail = append(found.Detail, dead.Reason)
	}
	about := "pod " + found.Pod
	if others > 0 {
		about += fmt.Sprintf(" (and %d more)", others)
	}
	found.Detail = append([]string{about}, found.Detail...)
	if stuck := stuckRevision(workload, pods); stuck != "" {
		found.Detail = append(found.Detail, stuck)
	}
	if found.Container != "" {
		found.Detail = append(found.Detail, q.Log(ctx, workload.GetNamespace(), found)...)
	}
	return found, nil
}

// maxSuspects is the number of pods about which events and claims are read.
const maxSuspects = 5

// ExplainPods returns the best explanation that the pods give, and the number of other pods
// with the same cause.
func (q Inquiry) ExplainPods(ctx context.Context, pods []*corev1.Pod) (best *Finding, others int) {
	type suspect struct {
		pod   *corev1.Pod
		found *Finding
	}
	var suspects []suspect
	counts := map[Cause]int{}
	for _, pod := range pods {
		if found := examine(pod); found != nil {
			suspects = append(suspects, suspect{pod, found})
			counts[found.Cause]++
		}
	}
	slices.SortStableFunc(suspects, func(a, b suspect) int { return int(a.found.Cause - b.found.Cause) })
	for _, s := range suspects[:min(len(suspects), maxSuspects)] {
		same := counts[s.found.Cause]
		found := q.deepen(ctx, s.pod, s.found)
		if found != nil && (best == nil || found.Cause < best.Cause) {
			best, others = found, same-1
		}
		if best != nil && best.Cause < causeUnready {
			break
		}
	}
	return best, others
}

// podsOf lists the pods of a workload that are not being deleted, the youngest first.
func (q Inquiry) podsOf(ctx context.Context, workload *unstructured.Unstructured) ([]*corev1.Pod, error) {
	pods, err := q.Source.PodsOf(ctx, workload)
	pods = slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
	return pods, err
}

// Owns reports whether the pod belongs to the workload. The pods of a Deployment belong to a
// ReplicaSet whose name ends with a hash, which the pods have as a label.
func Owns(workload *unstructured.Unstructured, pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return false
	}
	if workload.GetKind() == "Deployment" {
		return owner.Kind == "ReplicaSet" && owner.Name == workload.GetName()+"-"+pod.Labels["pod-template-hash"]
	}
	return owner.UID == workload.GetUID()
}

// stuckRevision finds a pod that a StatefulSet does not replace by itself: a pod that never
// became ready under an old revision blocks the rollout.
func stuckRevision(workload *unstructured.Unstructured, pods []*corev1.Pod) string {
	revision := Field(workload, "status", "updateRevision")
	if workload.GetKind() != "StatefulSet" || revision == "" || Field(workload, "spec", "podManagementPolicy") == "Parallel" {
		return ""
	}
	for _, pod := range pods {
		if pod.Labels["controller-revision-hash"] != revision && examine(pod) != nil {
			return fmt.Sprintf("pod %s still has the specification from before, and Kubernetes waits for it rather than replace it: delete the pod", pod.Name)
		}
	}
	return ""
}

// diagnoseCreation finds out why a workload has too few pods.
func (q Inquiry) diagnoseCreation(ctx context.Context, workload *unstructured.Unstructured) (*Finding, error) {
	if failure := conditionOf(workload, "ReplicaFailure"); failure != nil {
		return &Finding{Cause: causeEvent, Reason: "pods cannot be created: " + oneLine(fmt.Sprint(failure["message"]))}, nil
	}
	return q.lastWarning(ctx, workload, "FailedCreate", "pods cannot be created")
}

// diagnoseClaim finds out why a claim has no volume.
func (q Inquiry) diagnoseClaim(ctx context.Context, namespace, name string) (*Finding, error) {
	claim, err := q.Source.Claim(ctx, namespace, name)
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
	return &Finding{Cause: causeUnschedulable, Reason: fmt.Sprintf("volume claim %s (%s) is not bound: %s", name, class, oneLine(event.Message))}, nil
}

// deepen adds facts about the pod from other objects to a finding; nil: nothing is wrong.
func (q Inquiry) deepen(ctx context.Context, pod *corev1.Pod, found *Finding) *Finding {
	switch found.Cause {
	case causeUnschedulable:
		if reason := q.noNode(ctx, pod); reason != "" {
			found.Detail = append(found.Detail, found.Reason)
			found.Reason = reason
		} else if claim := q.unboundClaim(ctx, pod); claim != nil {
			found.Detail = append(found.Detail, found.Reason)
			found.Reason = claim.Reason
		} else if reason := q.volumeOnDeadNode(ctx, pod, found.Reason); reason != "" {
			found.Detail = append(found.Detail, found.Reason)
			found.Reason = reason
		}
	case causeUnready, causeStarting:
		event, _ := q.lastEvent(ctx, pod.Namespace, pod.UID, func(event *corev1.Event) bool {
			return event.Type == corev1.EventTypeWarning
		})
		switch {
		case event != nil && found.Cause == causeStarting:
			return &Finding{Cause: causeEvent, Pod: pod.Name, Reason: "the pod cannot start: " + oneLine(event.Message)}
		case event != nil:
			found.Cause, found.Reason = causeEvent, found.Reason+": "+oneLine(event.Message)
		case found.Cause == causeStarting:
			return nil
		}
	}
	return found
}

// noNode says why no node of the cluster may take the pod; empty: by labels and taints, a node may.
func (q Inquiry) noNode(ctx context.Context, pod *corev1.Pod) string {
	nodes, err := q.Source.Nodes(ctx)
	if err != nil {
		return ""
	}
	if reason := unmatched(pod.Spec.NodeSelector, nodes); reason != "" {
		return reason
	}
	if reason := barred(pod, nodes); reason != "" {
		return unschedulable + reason
	}
	return ""
}

func (q Inquiry) unboundClaim(ctx context.Context, pod *corev1.Pod) *Finding {
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

// lastEvent returns the latest matching event about an object; nil: none.
func (q Inquiry) lastEvent(ctx context.Context, namespace string, uid types.UID, wanted func(*corev1.Event) bool) (*corev1.Event, error) {
	events, err := q.Source.EventsAbout(ctx, namespace, uid)
	if err != nil {
		return nil, err
	}
	var last *corev1.Event
	for _, event := range events {
		if wanted(event) && (last == nil || !providers.EventTime(event).Before(providers.EventTime(last))) {
			last = event
		}
	}
	return last, nil
}

// ReadLog returns the end of the container log that explains a finding.
func ReadLog(ctx context.Context, c *connect.Connection, namespace string, found *Finding) []string {
	raw, err := c.Core.Pods(namespace).GetLogs(found.Pod, &corev1.PodLogOptions{
		Container: found.Container,
		TailLines: new(int64(logLines)),
		Previous:  found.Previous,
	}).Do(ctx).Raw()
	text := strings.TrimSpace(string(raw))
	if err != nil || text == "" {
		return nil
	}
	lines := []string{fmt.Sprintf("last lines of container %s:", found.Container)}
	for line := range strings.Lines(text) {
		lines = append(lines, "  "+clip(strings.TrimRight(line, "\r\n")))
	}
	return lines
}

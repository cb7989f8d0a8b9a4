package probe

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kolla.openstack.org/kolla/providers"
)

// hopeless are the reasons of containers that a later attempt of the kubelet does not start either, or
// only after minutes.
var hopeless = []string{
	"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable",
	"SignatureValidationFailed", "CreateContainerConfigError", "CreateContainerError", "RunContainerError",
}

// settled reports whether each container has ended or cannot start.
func settled(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return true
	}
	for i := range pod.Spec.Containers {
		status := Status(pod, pod.Spec.Containers[i].Name)
		if status == nil || status.State.Terminated == nil && !stuck(status) {
			return false
		}
	}
	return true
}

func stuck(status *corev1.ContainerStatus) bool {
	return status.State.Waiting != nil && slices.Contains(hopeless, status.State.Waiting.Reason)
}

// Status returns the status of a container; nil: the kubelet has not reported it.
func Status(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == container {
			return &pod.Status.ContainerStatuses[i]
		}
	}
	return nil
}

func ended(pod *corev1.Pod, container string) bool {
	status := Status(pod, container)
	return status != nil && status.State.Terminated != nil
}

// problemOf says why a pod has not ended, or why a container did not start.
func problemOf(pod *corev1.Pod) string {
	if pod == nil {
		return "the cluster made no pod: a quota or a policy of the namespace may refuse it"
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return strings.TrimSpace(fmt.Sprintf("the pod gets no node: %s", c.Message))
		}
	}
	for i := range pod.Spec.Containers {
		name := pod.Spec.Containers[i].Name
		status := Status(pod, name)
		switch {
		case status == nil && pod.Status.Message != "":
			return pod.Status.Message
		case status == nil:
			return "the kubelet does not start the pod"
		case status.State.Waiting != nil:
			return strings.TrimSuffix(fmt.Sprintf("container %s does not start: %s: %s", name, status.State.Waiting.Reason, status.State.Waiting.Message), ": ")
		case status.State.Running != nil:
			return fmt.Sprintf("container %s does not end", name)
		case status.State.Terminated != nil && status.State.Terminated.ExitCode != 0:
			t := status.State.Terminated
			return strings.TrimSuffix(fmt.Sprintf("container %s ended with %d: %s", name, t.ExitCode, strings.TrimSpace(t.Message)), ": ")
		}
	}
	return ""
}

// unfinished reports whether a pod was made or wanted, and has not ended.
func (o Outcome) unfinished() bool { return o.Problem != "" && (o.Pod == nil || !settled(o.Pod)) }

// lastWarning returns the message of the last warning about a Job, its pod, or a claim of the pod. The names of
// all of them begin with that of the Job.
func lastWarning(events []*unstructured.Unstructured, job string) string {
	var last corev1.Event
	for _, u := range events {
		var event corev1.Event
		if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &event) != nil || event.Type != corev1.EventTypeWarning {
			continue
		}
		about := event.InvolvedObject.Name
		if (about == job || strings.HasPrefix(about, job+"-")) && !providers.EventTime(&event).Before(providers.EventTime(&last)) {
			last = event
		}
	}
	return last.Message
}

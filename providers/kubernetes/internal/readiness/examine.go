package readiness

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

const unschedulable = "no node can take the pod: "

// examine returns the problem that the status of a pod shows; nil: none.
func examine(pod *corev1.Pod) *Finding {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			message, _, _ := strings.Cut(condition.Message, " preemption:")
			return &Finding{Cause: causeUnschedulable, Pod: pod.Name, Reason: unschedulable + oneLine(message)}
		}
	}
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for i := range statuses {
		if found := examineContainer(&statuses[i]); found != nil {
			found.Pod, found.Restarts = pod.Name, statuses[i].RestartCount
			return found
		}
	}
	switch {
	case pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "": // for example evicted
		return &Finding{Cause: CauseExit, Pod: pod.Name, Reason: fmt.Sprintf("the pod failed (%s): %s", pod.Status.Reason, oneLine(pod.Status.Message))}
	case pod.Status.Phase == corev1.PodPending:
		return &Finding{Cause: causeStarting, Pod: pod.Name}
	case pod.Status.Phase == corev1.PodRunning:
		return unready(pod)
	}
	return nil
}

// unready finds a container that runs but does not pass its readiness probe. It skips the
// pods of a Job: nothing waits for them to be ready.
func unready(pod *corev1.Pod) *Finding {
	for _, owner := range pod.OwnerReferences {
		if owner.Kind == "Job" {
			return nil
		}
	}
	for _, container := range pod.Status.ContainerStatuses {
		if container.State.Running != nil && !container.Ready {
			return &Finding{Cause: causeUnready, Pod: pod.Name, Container: container.Name, Reason: fmt.Sprintf("container %s runs but is not ready", container.Name)}
		}
	}
	return nil
}

func examineContainer(container *corev1.ContainerStatus) *Finding {
	if waiting := container.State.Waiting; waiting != nil {
		return examineWaiting(container, waiting)
	}
	if ended := container.State.Terminated; ended != nil && ended.ExitCode != 0 {
		if container.RestartCount > 0 {
			return &Finding{Cause: CauseCrash, Container: container.Name, Reason: keepsCrashing(container, ended)}
		}
		return &Finding{Cause: CauseExit, Container: container.Name, Reason: fmt.Sprintf("container %s %s", container.Name, exited(ended))}
	}
	last := container.LastTerminationState.Terminated
	if now := container.State.Running; now != nil && !container.Ready && last != nil && last.ExitCode != 0 && time.Since(now.StartedAt.Time) < crashWindow {
		return &Finding{Cause: CauseCrash, Container: container.Name, Previous: true, Reason: keepsCrashing(container, last)}
	}
	return nil
}

// crashWindow is the time that a restarted container must run before its crash counts as over, the
// same as for the kubelet's back-off.
const crashWindow = 10 * time.Minute

// keepsCrashing describes a container that has crashed and that Kubernetes starts again; last is
// the end of its last run, or nil.
func keepsCrashing(container *corev1.ContainerStatus, last *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("container %s keeps crashing", container.Name)
	if last != nil {
		text += ": it " + exited(last)
	}
	return text
}

func examineWaiting(container *corev1.ContainerStatus, waiting *corev1.ContainerStateWaiting) *Finding {
	switch waiting.Reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
		message := pullMessage(waiting)
		return &Finding{
			Cause:    causeImage,
			Reason:   strings.TrimSuffix(fmt.Sprintf("image %s cannot be pulled: %s", container.Image, message), ": "),
			Hopeless: waiting.Reason == "InvalidImageName" || refusedByRegistry(message),
		}
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PreStartHookError", "PostStartHookError":
		return &Finding{Cause: causeConfiguration, Reason: fmt.Sprintf("container %s cannot be started: %s", container.Name, oneLine(waiting.Message))}
	case "CrashLoopBackOff":
		return &Finding{Cause: CauseCrash, Container: container.Name, Previous: true, Reason: keepsCrashing(container, container.LastTerminationState.Terminated)}
	}
	return nil
}

// refusedByRegistry reports whether a registry has answered that it does not have the image,
// or refuses to give it. The words are those of the OCI distribution specification and of
// container runtimes.
func refusedByRegistry(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{"not found", "manifest unknown", "name unknown", "unauthorized", "access denied", "access is denied", "403 forbidden"},
		func(words string) bool { return strings.Contains(message, words) })
}

// pullMessage returns the report of the container runtime, without the prefixes of the
// layers above it.
func pullMessage(waiting *corev1.ContainerStateWaiting) string {
	message := oneLine(waiting.Message)
	if at := strings.LastIndex(message, "desc = "); at >= 0 {
		message = message[at+len("desc = "):]
	}
	if waiting.Reason == "InvalidImageName" {
		message = "its name is not valid: " + message
	}
	return message
}

// exited describes the end of a container.
func exited(ended *corev1.ContainerStateTerminated) string {
	switch {
	case ended.Reason == "OOMKilled":
		return "ran out of memory and was killed"
	case ended.Signal != 0:
		return fmt.Sprintf("was ended by signal %d", ended.Signal)
	}
	text := fmt.Sprintf("exited with code %d", ended.ExitCode)
	if message := lastError(ended.Message); message != "" {
		text += ": " + message
	}
	return text
}

// lastError returns the line with the reason of an end: the exception after the last traceback of
// Python, because uWSGI writes more after it, or else the last line.
func lastError(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if !strings.HasPrefix(lines[i], "Traceback (most recent call last)") {
			continue
		}
		for _, line := range lines[i+1:] {
			if line != "" && !strings.HasPrefix(line, " ") {
				return oneLine(line)
			}
		}
	}
	return oneLine(lines[len(lines)-1])
}

// unmatched names the labels of a selector that no node has; empty: nodes match the
// selector.
func unmatched(selector map[string]string, nodes []*corev1.Node) string {
	var missing, wanted []string
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		label := key + "=" + selector[key]
		wanted = append(wanted, label)
		if !anyNode(nodes, map[string]string{key: selector[key]}) {
			missing = append(missing, label)
		}
	}
	switch {
	case len(nodes) == 0:
		return "the cluster has no nodes"
	case len(missing) == 1:
		return "no node has the label " + missing[0]
	case len(missing) > 1:
		return "no node has the labels " + strings.Join(missing, ", ")
	case !anyNode(nodes, selector):
		return "no node has all of the labels " + strings.Join(wanted, ", ")
	}
	return ""
}

func anyNode(nodes []*corev1.Node, labels map[string]string) bool {
	return slices.ContainsFunc(nodes, func(node *corev1.Node) bool { return hasLabels(node, labels) })
}

func hasLabels(node *corev1.Node, labels map[string]string) bool {
	for key, value := range labels {
		if node.Labels[key] != value {
			return false
		}
	}
	return true
}

// conditions has the meaning of the taints by which Kubernetes reports the condition of a node.
var conditions = map[string]string{
	corev1.TaintNodeDiskPressure:       "low on disk space",
	corev1.TaintNodeMemoryPressure:     "low on memory",
	corev1.TaintNodePIDPressure:        "low on process ids",
	corev1.TaintNodeNetworkUnavailable: "without a network",
	corev1.TaintNodeNotReady:           "down",
	corev1.TaintNodeUnreachable:        "down",
	corev1.TaintNodeOutOfService:       "out of service",
	corev1.TaintNodeUnschedulable:      "cordoned",
}

// barred says which taints keep the pod from the nodes of its selector; empty: one of the nodes has
// no such taint. (The scheduler only counts such nodes, without their names and taints.)
func barred(pod *corev1.Pod, nodes []*corev1.Node) string {
	byReason := map[string][]string{}
	for _, node := range nodes {
		if !hasLabels(node, pod.Spec.NodeSelector) || !slices.Contains([]string{"", node.Name}, nodeOf(pod)) {
			continue
		}
		bar := slices.IndexFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
			return taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(&pod.Spec, &taint)
		})
		if bar < 0 {
			return ""
		}
		reason := "tainted with " + node.Spec.Taints[bar].ToString()
		if condition := conditions[node.Spec.Taints[bar].Key]; condition != "" {
			reason = condition
		}
		byReason[reason] = append(byReason[reason], node.Name)
	}
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		reasons = append(reasons, nodesAre(byReason[reason], reason))
	}
	return strings.Join(reasons, "; ")
}

func tolerates(pod *corev1.PodSpec, taint *corev1.Taint) bool {
	return slices.ContainsFunc(pod.Tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(klog.Background(), taint, false) })
}

// oneLine makes one line of a message, and shortens it.
func oneLine(message string) string {
	return clip(strings.Join(strings.Fields(message), " "))
}

// clip shortens a long line.
func clip(line string) string {
	const maxLength = 400
	runes := []rune(line)
	if len(runes) <= maxLength {
		return line
	}
	return string(runes[:maxLength]) + "..."
}

package nodes

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The states a stage can bring a pod or node into.
const (
	podReady     = "ready"
	podNotReady  = "not-ready"
	podSucceeded = "succeeded"
	podFailed    = "failed"
	podRestarted = "restarted"
	podCrashing  = "crashing"
	podImagePull = "image-pull"
	podUnknown   = "unknown-outcome"

	nodeReady    = "ready"
	nodeNotReady = "not-ready"
)

const (
	reasonCrash     = "CrashLoopBackOff"
	reasonImagePull = "ImagePullBackOff"
	reasonUnknown   = "UnknownOutcome"
)

// manyRestarts is more than any Job's backoffLimit: the restarts that take a
// kubelet minutes are over at once.
const manyRestarts = 1000

// templateFuncs returns the functions that the stages' templates call.
func templateFuncs() map[string]any {
	return map[string]any{"PodStatus": podStatusJSON, "NodeStatus": nodeStatusJSON}
}

func podStatusJSON(object any, state string, podIPs, hostIPs []string) (string, error) {
	var pod corev1.Pod
	if err := convert(object, &pod); err != nil {
		return "", fmt.Errorf("read pod: %w", err)
	}
	status, err := podStatus(&pod, state, metav1.NewTime(time.Now()))
	if err != nil {
		return "", err
	}
	for _, ip := range podIPs {
		status.PodIPs = append(status.PodIPs, corev1.PodIP{IP: ip})
	}
	for _, ip := range hostIPs {
		status.HostIPs = append(status.HostIPs, corev1.HostIP{IP: ip})
	}
	if len(podIPs) > 0 {
		status.PodIP = podIPs[0]
	}
	if len(hostIPs) > 0 {
		status.HostIP = hostIPs[0]
	}
	data, err := json.Marshal(status)
	return string(data), err
}

func convert(object, target any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, target)
}

// podStatus returns what a kubelet would report of the pod in a state, without the
// addresses. It is merged into the status that the pod has.
func podStatus(pod *corev1.Pod, state string, now metav1.Time) (*corev1.PodStatus, error) {
	status := &corev1.PodStatus{Phase: corev1.PodRunning, ObservedGeneration: pod.Generation}
	if pod.Status.StartTime == nil {
		status.StartTime = &now
	}
	message := pod.Annotations[MessageAnnotation]
	var containers corev1.ContainerStatus
	isReady, why := false, "ContainersNotReady"
	switch state {
	case podReady:
		isReady, why = true, ""
		containers = running(now)
	case podNotReady:
		containers = running(now)
		containers.Ready = false
	case podSucceeded:
		status.Phase, why = corev1.PodSucceeded, "PodCompleted"
		containers = terminated(now, 0, "Completed", message)
	case podFailed:
		status.Phase, why = corev1.PodFailed, "PodFailed"
		containers = terminated(now, 1, "Error", message)
	case podRestarted:
		containers = terminated(now, 1, "Error", message)
		containers.LastTerminationState = containers.State
		containers.RestartCount = manyRestarts
	case podCrashing:
		containers = waitingFor(reasonCrash, "back-off 5m0s restarting failed container")
		containers.LastTerminationState = terminated(now, 1, "Error", message).State
		containers.RestartCount = 5
	case podImagePull:
		status.Phase = corev1.PodPending
		containers = waitingFor(reasonImagePull, message)
	case podUnknown:
		status.Phase = corev1.PodPending
		containers = waitingFor(reasonUnknown, fmt.Sprintf("the annotation %s is %q; it may be %s, %s, %s, %s, %s or %s", OutcomeAnnotation,
			pod.Annotations[OutcomeAnnotation], OutcomeOK, OutcomeFail, OutcomeCrash, OutcomeImagePull, OutcomeNotReady, OutcomeSilent))
	default:
		return nil, fmt.Errorf("report pod: there is no state %q", state)
	}
	status.ContainerStatuses = containerStatuses(pod, containers, message)
	status.InitContainerStatuses = initStatuses(pod, status.Phase, now)
	status.Conditions = podConditions(pod, isReady, why, status.Phase, now)
	return status, nil
}

func running(now metav1.Time) corev1.ContainerStatus {
	started := true
	return corev1.ContainerStatus{
		Ready:   true,
		Started: &started,
		State:   corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
	}
}

func terminated(now metav1.Time, code int32, reason, message string) corev1.ContainerStatus {
	started := false
	return corev1.ContainerStatus{
		Started: &started,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Reason: reason, Message: message, StartedAt: now, FinishedAt: now,
		}},
	}
}

func waitingFor(reason, message string) corev1.ContainerStatus {
	started := false
	return corev1.ContainerStatus{
		Started: &started,
		State:   corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}
}

// containerStatuses gives every container of the pod the same state.
func containerStatuses(pod *corev1.Pod, like corev1.ContainerStatus, message string) []corev1.ContainerStatus {
	statuses := make([]corev1.ContainerStatus, 0, len(pod.Spec.Containers))
	for _, container := range pod.Spec.Containers {
		status := *like.DeepCopy()
		named(&status, pod, container)
		if waiting := status.State.Waiting; waiting != nil && waiting.Reason == reasonImagePull && message == "" {
			waiting.Message = fmt.Sprintf("Back-off pulling image %q", container.Image)
		}
		statuses = append(statuses, status)
	}
	return statuses
}

func named(status *corev1.ContainerStatus, pod *corev1.Pod, container corev1.Container) {
	status.Name = container.Name
	status.Image = container.Image
	if status.State.Waiting == nil || status.LastTerminationState.Terminated != nil {
		status.ImageID = container.Image
		status.ContainerID = "simulated://" + string(pod.UID) + "/" + container.Name
	}
}

// initStatuses: init containers have ended well in every pod whose containers
// have been started; a sidecar among them runs.
func initStatuses(pod *corev1.Pod, phase corev1.PodPhase, now metav1.Time) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for _, container := range pod.Spec.InitContainers {
		sidecar := container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
		var status corev1.ContainerStatus
		switch {
		case phase == corev1.PodPending:
			status = waitingFor("PodInitializing", "")
		case sidecar && phase == corev1.PodRunning:
			status = running(now)
		default:
			status = terminated(now, 0, "Completed", "")
			status.Ready = true
		}
		named(&status, pod, container)
		statuses = append(statuses, status)
	}
	return statuses
}

func podConditions(pod *corev1.Pod, isReady bool, why string, phase corev1.PodPhase, now metav1.Time) []corev1.PodCondition {
	begun := corev1.ConditionTrue
	if phase == corev1.PodPending {
		begun = corev1.ConditionFalse
	}
	readiness := corev1.ConditionFalse
	if isReady {
		readiness = corev1.ConditionTrue
	}
	conditions := []corev1.PodCondition{
		{Type: corev1.PodReadyToStartContainers, Status: begun},
		{Type: corev1.PodInitialized, Status: begun},
		{Type: corev1.ContainersReady, Status: readiness, Reason: why},
		{Type: corev1.PodReady, Status: readiness, Reason: why},
	}
	for _, gate := range pod.Spec.ReadinessGates {
		conditions = append(conditions, corev1.PodCondition{Type: gate.ConditionType, Status: readiness})
	}
	before := map[corev1.PodConditionType]corev1.PodCondition{}
	for _, condition := range pod.Status.Conditions {
		before[condition.Type] = condition
	}
	for i := range conditions {
		conditions[i].ObservedGeneration = pod.Generation
		conditions[i].LastTransitionTime = now
		if old, ok := before[conditions[i].Type]; ok && old.Status == conditions[i].Status {
			conditions[i].LastTransitionTime = old.LastTransitionTime
		}
	}
	return conditions
}

func nodeStatusJSON(object any, state string) (string, error) {
	var node corev1.Node
	if err := convert(object, &node); err != nil {
		return "", fmt.Errorf("read node: %w", err)
	}
	data, err := json.Marshal(map[string]any{"conditions": nodeConditions(state, metav1.NewTime(time.Now()))})
	return string(data), err
}

func nodeConditions(state string, now metav1.Time) []corev1.NodeCondition {
	condition := corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue,
		Reason: "KubeletReady", Message: "simulated kubelet is posting ready status",
	}
	if state == nodeNotReady {
		condition.Status = corev1.ConditionFalse
		condition.Reason = "KubeletNotReady"
		condition.Message = "the annotation " + OutcomeAnnotation + " says so"
	}
	conditions := []corev1.NodeCondition{condition}
	for _, pressure := range []corev1.NodeConditionType{
		corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeNetworkUnavailable,
	} {
		conditions = append(conditions, corev1.NodeCondition{
			Type: pressure, Status: corev1.ConditionFalse, Reason: "Simulated", Message: "a simulated node lacks nothing",
		})
	}
	for i := range conditions {
		conditions[i].LastHeartbeatTime = now
		conditions[i].LastTransitionTime = now
	}
	return conditions
}

package objects

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/run/probe"
)

// TestUnmounted checks that only failures before the mount of a volume are faults of its class.
func TestUnmounted(t *testing.T) {
	waiting := func(reason string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
	}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"no pod":        {nil, "p"},
		"no node":       {&corev1.Pod{}, "p"},
		"no volume":     {of(waiting("ContainerCreating")), "p"},
		"no image":      {of(waiting("ErrImagePull")), ""},
		"no program":    {of(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 128}}), ""},
		"still running": {of(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), ""},
	} {
		if got := unmounted(probe.Outcome{Pod: c.pod, Problem: "p"}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// of returns a pod whose container is in a state.
func of(state corev1.ContainerState) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: volumeName, State: state}}}}
}

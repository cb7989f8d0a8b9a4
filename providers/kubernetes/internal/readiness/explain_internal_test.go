package readiness

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// events is a source that has an event about some pods.
type events struct {
	Source
	about map[types.UID]string
}

func (e events) EventsAbout(_ context.Context, _ string, uid types.UID) ([]*corev1.Event, error) {
	if e.about[uid] == "" {
		return nil, nil
	}
	return []*corev1.Event{{Type: corev1.EventTypeWarning, Message: e.about[uid]}}, nil
}

// TestExplainPods checks that a pod with an event explains more than a pod without one, though it
// comes later in the list.
func TestExplainPods(t *testing.T) {
	pod := func(name types.UID, running bool) *corev1.Pod {
		container := corev1.ContainerStatus{Name: "api"}
		status := corev1.PodStatus{Phase: corev1.PodPending}
		if running {
			container.State.Running = &corev1.ContainerStateRunning{}
			status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{container}}
		}
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: string(name), UID: name}, Status: status}
	}
	for name, test := range map[string]struct {
		pods       []*corev1.Pod
		events     map[types.UID]string
		pod        string
		reason     string
		withOthers int
	}{
		"no pods":         {},
		"without events":  {[]*corev1.Pod{pod("a", true), pod("b", true)}, nil, "a", "container api runs but is not ready", 1},
		"the second says": {[]*corev1.Pod{pod("a", true), pod("b", true)}, map[types.UID]string{"b": "probe failed"}, "b", "container api runs but is not ready: probe failed", 1},
		"both say":        {[]*corev1.Pod{pod("a", true), pod("b", true)}, map[types.UID]string{"a": "timeout", "b": "probe failed"}, "a", "container api runs but is not ready: timeout", 1},
		"one cannot start": {
			[]*corev1.Pod{pod("a", true), pod("b", false)}, map[types.UID]string{"b": "no such volume"}, "b", "the pod cannot start: no such volume", 0,
		},
		"one starts": {[]*corev1.Pod{pod("a", false), pod("b", true)}, nil, "b", "container api runs but is not ready", 0},
	} {
		t.Run(name, func(t *testing.T) {
			found, others := Inquiry{Source: events{about: test.events}}.ExplainPods(t.Context(), test.pods)
			if test.pod == "" {
				if found != nil {
					t.Errorf("got %+v, want nothing", found)
				}
				return
			}
			if found == nil || found.Pod != test.pod || !strings.HasSuffix(found.Reason, test.reason) || others != test.withOthers {
				t.Errorf("got %+v and %d others, want %q of pod %s and %d", found, others, test.reason, test.pod, test.withOthers)
			}
		})
	}
}

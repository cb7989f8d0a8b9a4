package readiness

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestExamine(t *testing.T) {
	waiting := func(reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "api", Image: "example.org/api:1", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
		}}
	}
	ended := func(state corev1.ContainerStateTerminated) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &state}
	}
	crashed := waiting("CrashLoopBackOff", "back-off 5m0s")
	crashed.LastTerminationState = ended(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
	runsAgain := func(since time.Duration) corev1.ContainerStatus {
		return corev1.ContainerStatus{
			Name: "api", RestartCount: 1, LastTerminationState: ended(corev1.ContainerStateTerminated{ExitCode: 1, Message: "start\nno driver\n"}),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(time.Now().Add(-since))}},
		}
	}
	cases := []struct {
		name   string
		status corev1.PodStatus
		want   string
		log    bool
	}{
		{"ready", corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "api", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}, "", false},
		{"over", corev1.PodStatus{Phase: corev1.PodSucceeded}, "", false},
		{
			"unschedulable",
			corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available: 3 Insufficient cpu. preemption: none."}}},
			"no node can take the pod: 0/3 nodes are available: 3 Insufficient cpu.",
			false,
		},
		{
			"image",
			corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("ErrImagePull", "failed to pull: rpc error: code = NotFound desc = failed to resolve reference:\n not found")}},
			"image example.org/api:1 cannot be pulled: failed to resolve reference: not found",
			false,
		},
		{"image without a reason", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("ImagePullBackOff", "")}}, "image example.org/api:1 cannot be pulled", false},
		{"image name", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("InvalidImageName", "bad reference")}}, "image example.org/api:1 cannot be pulled: its name is not valid: bad reference", false},
		{"configuration", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("CreateContainerConfigError", `secret "x" not found`)}}, `container api cannot be started: secret "x" not found`, false},
		{"crash", corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{crashed}}, "container api keeps crashing: it ran out of memory and was killed", true},
		{
			"init container first",
			corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{Name: "init", State: ended(corev1.ContainerStateTerminated{ExitCode: 3, Message: "Traceback:\n  in main\nno  database\n"})}}, ContainerStatuses: []corev1.ContainerStatus{waiting("PodInitializing", "")}},
			"container init exited with code 3: no database",
			true,
		},
		{"crash, and runs again", corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{runsAgain(time.Minute)}}, "container api keeps crashing: it exited with code 1: no driver", true},
		{"crash long ago", corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{runsAgain(time.Hour)}}, "container api runs but is not ready", true},
		{"crash again", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "api", RestartCount: 1, State: ended(corev1.ContainerStateTerminated{ExitCode: 1})}}}, "container api keeps crashing: it exited with code 1", true},
		{
			"exception under uWSGI",
			corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "api", State: ended(corev1.ContainerStateTerminated{
				ExitCode: 22, Message: "start\nTraceback (most recent call last):\n  File \"a.py\", line 1\n    a()\nNoDriver: qos needs a driver\nunable to load app 0\n*** no app loaded. GAME OVER ***\n",
			})}}},
			"container api exited with code 22: NoDriver: qos needs a driver",
			true,
		},
		{"signal", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "api", State: ended(corev1.ContainerStateTerminated{ExitCode: 143, Signal: 15})}}}, "container api was ended by signal 15", true},
		{"evicted", corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on memory"}, "the pod failed (Evicted): low on memory", false},
		{"unready", corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "api", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}, "container api runs but is not ready", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found := examine(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "api-0"}, Status: c.status})
			if found == nil {
				found = &Finding{Pod: "api-0"}
			}
			if found.Reason != c.want || (found.Container != "") != c.log || found.Pod != "api-0" {
				t.Errorf("got %+v, want %q", found, c.want)
			}
		})
	}
}

// TestHopeless checks that only an answer of the registry makes a wait hopeless.
func TestHopeless(t *testing.T) {
	for message, want := range map[string]bool{
		"rpc error: code = NotFound desc = failed to resolve image: example.org/api:2: not found":                   true,
		"failed to authorize: failed to fetch anonymous token: 401 Unauthorized":                                    true,
		`failed to resolve reference: dial tcp: lookup example.org: no such host`:                                   false,
		`failed to do request: Head "https://example.org/v2/": dial tcp 192.0.2.1:443: connect: connection refused`: false,
	} {
		status := corev1.ContainerStatus{Image: "example.org/api:2", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: message},
		}}
		if found := examineContainer(&status); found == nil || found.Hopeless != want {
			t.Errorf("%s: hopeless is not %v", message, want)
		}
	}
}

func TestUnmatched(t *testing.T) {
	node := func(labels map[string]string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
	}
	nodes := []*corev1.Node{node(map[string]string{"a": "1"}), node(map[string]string{"b": "1"})}
	for _, c := range []struct {
		selector map[string]string
		nodes    []*corev1.Node
		want     string
	}{
		{map[string]string{"a": "1"}, nodes, ""},
		{map[string]string{"a": "2"}, nodes, "no node has the label a=2"},
		{map[string]string{"a": "1", "c": "1"}, nodes, "no node has the label c=1"},
		{map[string]string{"d": "1", "c": "1"}, nodes, "no node has the labels c=1, d=1"},
		{map[string]string{"a": "1", "b": "1"}, nodes, "no node has all of the labels a=1, b=1"},
		{map[string]string{"a": "1"}, nil, "the cluster has no nodes"},
	} {
		if got := unmatched(c.selector, c.nodes); got != c.want {
			t.Errorf("%v: got %q, want %q", c.selector, got, c.want)
		}
	}
}

func TestBarred(t *testing.T) {
	node := func(name string, taints ...corev1.Taint) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"in": name[:1]}}, Spec: corev1.NodeSpec{Taints: taints}}
	}
	full := corev1.Taint{Key: corev1.TaintNodeDiskPressure, Effect: corev1.TaintEffectNoSchedule}
	theirs := corev1.Taint{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoExecute}
	preferred := corev1.Taint{Key: "old", Effect: corev1.TaintEffectPreferNoSchedule}
	nodes := []*corev1.Node{node("a1", full), node("a2", full), node("b1", theirs), node("c1", preferred), node("d1", theirs, full), node("d2", full)}
	for _, c := range []struct {
		in         string
		tolerating string
		want       string
	}{
		{"a", "", "nodes a1, a2 are low on disk space"},
		{"b", "", "node b1 is tainted with gpu=yes:NoExecute"},
		{"b", "gpu", ""},
		{"c", "", ""},
		{"d", "", "node d2 is low on disk space; node d1 is tainted with gpu=yes:NoExecute"},
		{"d", "gpu", "nodes d1, d2 are low on disk space"},
		{"", "", ""}, // one node is free
	} {
		pod := &corev1.Pod{}
		if c.in != "" {
			pod.Spec.NodeSelector = map[string]string{"in": c.in}
		}
		if c.tolerating != "" {
			pod.Spec.Tolerations = []corev1.Toleration{{Key: c.tolerating, Operator: corev1.TolerationOpExists}}
		}
		if got := barred(pod, nodes); got != c.want {
			t.Errorf("in %q, tolerating %q: got %q, want %q", c.in, c.tolerating, got, c.want)
		}
	}
}

func TestClip(t *testing.T) {
	if got := oneLine("a\n\tb  c "); got != "a b c" {
		t.Errorf("got %q", got)
	}
	if got := oneLine(strings.Repeat("ä", 1000)); len([]rune(got)) != 403 {
		t.Errorf("it has %d characters", len([]rune(got)))
	}
}

package nodes

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

// world plays stages on objects like the simulator, but without a cluster.
type world struct {
	lifecycle lifecycle.Lifecycle
	renderer  gotpl.Renderer
}

func newWorld(t *testing.T, ref internalversion.StageResourceRef) world {
	t.Helper()
	life, err := lifecycle.NewLifecycle(stages()[ref])
	if err != nil {
		t.Fatal(err)
	}
	funcs := templateFuncs()
	funcs["PodIPsWith"] = func(string, bool, string, string, string) []string { return []string{"10.244.0.1"} }
	funcs["NodeIPsWith"] = func(string) []string { return []string{"198.18.0.1"} }
	return world{lifecycle: life, renderer: gotpl.NewRenderer(funcs)}
}

// played is a stage that was played, with its delay.
type played struct {
	Stage string
	Delay time.Duration
}

// play plays stages until none matches. It fails if the stages do not end, and if two stages match
// at once, because the simulator would choose one of them at random.
func play[T any](t *testing.T, w world, object *T, meta *metav1.ObjectMeta) []played {
	t.Helper()
	var all []played
	for range 5 {
		event := &lifecycle.Event{Labels: meta.Labels, Annotations: meta.Annotations, Data: object}
		possible, err := w.lifecycle.ListAllPossible(t.Context(), event)
		if err != nil {
			t.Fatal(err)
		}
		if len(possible) == 0 {
			return all
		}
		if len(possible) > 1 {
			t.Fatalf("after %v both %s and %s match", all, possible[0].Name(), possible[1].Name())
		}
		delay, _, err := possible[0].Delay(t.Context(), event, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, played{possible[0].Name(), delay})
		if w.apply(t, possible[0], object) {
			return all
		}
	}
	t.Fatalf("the stages go on for ever: %v", all)
	return nil
}

// apply runs the steps of a stage and reports whether they deleted the object.
func (w world) apply(t *testing.T, stage *lifecycle.Stage, object any) (deleted bool) {
	t.Helper()
	_, err := stage.DoSteps(0, nil, object, w.renderer,
		func(*internalversion.StageEvent) error { return nil },
		func() error { deleted = true; return nil },
		func(patch *lifecycle.Patch) error {
			before, err := json.Marshal(object)
			if err != nil {
				return err
			}
			after, err := strategicpatch.StrategicMergePatch(before, patch.Data, object)
			if err != nil {
				return err
			}
			// The target must be new, because json.Unmarshal keeps fields that the patch removed.
			result := reflect.New(reflect.TypeOf(object).Elem())
			if err := json.Unmarshal(after, result.Interface()); err != nil {
				return err
			}
			reflect.ValueOf(object).Elem().Set(result.Elem())
			return nil
		},
		func(*lifecycle.Apply) error { return nil },
	)
	if err != nil {
		t.Fatal(err)
	}
	return deleted
}

func TestPodStages(t *testing.T) {
	tests := []struct {
		name           string
		job            bool
		policy         corev1.RestartPolicy
		outcome, delay string
		want           []played
		wantPhase      corev1.PodPhase
		wantReady      bool
	}{
		{"plain", false, "Always", "", "", []played{{"pod-ready", 0}}, "Running", true},
		{"explicitly ok", false, "Always", "ok", "", []played{{"pod-ready", 0}}, "Running", true},
		{"slow", false, "Always", "", "3s", []played{{"pod-starting", 0}, {"pod-ready", 3 * time.Second}}, "Running", true},
		{"delay that is none", false, "Always", "", "soon", []played{{"pod-starting", 0}, {"pod-ready", 0}}, "Running", true},
		{"crash", false, "Always", "crash", "", []played{{"pod-crash", 0}}, "Running", false},
		{"late crash", false, "Always", "crash", "2s", []played{{"pod-crash", 2 * time.Second}}, "Running", false},
		{"fail, restarted for ever", false, "Always", "fail", "", []played{{"pod-crash", 0}}, "Running", false},
		{"image pull", false, "Always", "image-pull", "", []played{{"pod-image-pull", 0}}, "Pending", false},
		{"not ready", false, "Always", "not-ready", "", []played{{"pod-not-ready", 0}}, "Running", false},
		{"misspelt", false, "Always", "crsh", "", []played{{"pod-unknown-outcome", 0}}, "Pending", false},
		{"bare pod that never restarts", false, "Never", "", "", []played{{"pod-ready", 0}}, "Running", true},
		{"bare pod that fails", false, "Never", "fail", "1s", []played{{"pod-running", 0}, {"pod-fail", time.Second}}, "Failed", false},
		{"job", true, "Never", "", "", []played{{"pod-running", 0}, {"pod-complete", 0}}, "Succeeded", false},
		{"slow job", true, "OnFailure", "ok", "1m", []played{{"pod-running", 0}, {"pod-complete", time.Minute}}, "Succeeded", false},
		{"failing job", true, "Never", "fail", "2s", []played{{"pod-running", 0}, {"pod-fail", 2 * time.Second}}, "Failed", false},
		{"failing job, restarted", true, "OnFailure", "fail", "", []played{{"pod-running", 0}, {"pod-restart", 0}}, "Running", false},
		{"job whose pod hangs", true, "OnFailure", "not-ready", "", []played{{"pod-not-ready", 0}}, "Running", false},
		{"job without an image", true, "OnFailure", "image-pull", "", []played{{"pod-image-pull", 0}}, "Pending", false},
		{"job that crashes", true, "OnFailure", "crash", "", []played{{"pod-crash", 0}}, "Running", false},
	}
	w := newWorld(t, podRef)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := newPod(test.job, test.policy, test.outcome, test.delay)
			if got := play(t, w, pod, &pod.ObjectMeta); !slices.Equal(got, test.want) {
				t.Errorf("stages are %v, want %v", got, test.want)
			}
			if pod.Status.Phase != test.wantPhase || podIsReady(pod) != test.wantReady {
				t.Errorf("phase is %s and readiness %t, want %s and %t", pod.Status.Phase, podIsReady(pod), test.wantPhase, test.wantReady)
			}
			if pod.Status.PodIP != "10.244.0.1" || pod.Status.HostIP != "198.18.0.1" {
				t.Errorf("addresses are %q and %q", pod.Status.PodIP, pod.Status.HostIP)
			}
			if len(pod.Status.ContainerStatuses) != 1 || len(pod.Status.InitContainerStatuses) != 1 {
				t.Errorf("container statuses are %+v and %+v", pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses)
			}
		})
	}
}

// TestSilentPod checks that nothing happens to a pod whose node is gone, until its node is back.
func TestSilentPod(t *testing.T) {
	w := newWorld(t, podRef)
	pod := newPod(false, corev1.RestartPolicyAlways, OutcomeOK, "")
	play(t, w, pod, &pod.ObjectMeta)
	pod.Annotations[OutcomeAnnotation] = OutcomeSilent
	for i := range pod.Status.Conditions {
		pod.Status.Conditions[i].Status = corev1.ConditionFalse // as Kubernetes does
	}
	if got := play(t, w, pod, &pod.ObjectMeta); got != nil {
		t.Errorf("nobody knows how it is: got %v", got)
	}
	pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	if got := play(t, w, pod, &pod.ObjectMeta); got != nil {
		t.Errorf("nobody ends it: got %v", got)
	}
	delete(pod.Annotations, OutcomeAnnotation)
	if got := play(t, w, pod, &pod.ObjectMeta); len(got) != 1 || got[0].Stage != "pod-delete" {
		t.Errorf("its node ends it: got %v", got)
	}
}

// TestPodChangesItsMind changes the annotation of a pod after its last stage.
func TestPodChangesItsMind(t *testing.T) {
	w := newWorld(t, podRef)
	for _, outcome := range []string{OutcomeCrash, OutcomeImagePull, OutcomeNotReady, "misspelt"} {
		pod := newPod(false, corev1.RestartPolicyAlways, outcome, "")
		for range 2 {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, OutcomeAnnotation, outcome)
			play(t, w, pod, &pod.ObjectMeta)
			if podIsReady(pod) {
				t.Errorf("%s: the pod is ready", outcome)
			}
			delete(pod.Annotations, OutcomeAnnotation)
			play(t, w, pod, &pod.ObjectMeta)
			if !podIsReady(pod) || pod.Status.Phase != corev1.PodRunning {
				t.Errorf("%s: the pod does not become ready again", outcome)
			}
		}
	}
}

func TestPodIsDeleted(t *testing.T) {
	w := newWorld(t, podRef)
	for _, outcome := range []string{"", OutcomeCrash, OutcomeFail} {
		pod := newPod(true, corev1.RestartPolicyNever, outcome, "5s")
		now := metav1.Now()
		pod.DeletionTimestamp = &now
		if got := play(t, w, pod, &pod.ObjectMeta); len(got) != 1 || got[0].Stage != "pod-delete" {
			t.Errorf("outcome %q: stages are %v, want only the deletion", outcome, got)
		}
	}
}

func TestNodeStages(t *testing.T) {
	w := newWorld(t, nodeRef)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{}}}
	isReady := func() corev1.ConditionStatus {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady {
				return condition.Status
			}
		}
		return ""
	}
	for _, test := range []struct {
		outcome string
		want    corev1.ConditionStatus
	}{{"", "True"}, {OutcomeNotReady, "False"}, {"", "True"}} {
		metav1.SetMetaDataAnnotation(&node.ObjectMeta, OutcomeAnnotation, test.outcome)
		play(t, w, node, &node.ObjectMeta)
		if isReady() != test.want {
			t.Errorf("outcome %q: Ready is %s, want %s", test.outcome, isReady(), test.want)
		}
	}
}

func newPod(job bool, policy corev1.RestartPolicy, outcome, delay string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", UID: "u", Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			NodeName:       "node-1",
			RestartPolicy:  policy,
			InitContainers: []corev1.Container{{Name: "init", Image: "i"}},
			Containers:     []corev1.Container{{Name: "main", Image: "m"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	kind := "ReplicaSet"
	if job {
		kind = "Job"
	}
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "owner"}}
	if outcome != "" {
		pod.Annotations[OutcomeAnnotation] = outcome
	}
	if delay != "" {
		pod.Annotations[DelayAnnotation] = delay
	}
	return pod
}

func podIsReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

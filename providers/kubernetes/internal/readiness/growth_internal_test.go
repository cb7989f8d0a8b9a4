package readiness

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// around is a source with the pods, nodes and claims around an object.
type around struct {
	Source
	pods   []*corev1.Pod
	nodes  []*corev1.Node
	claims []*corev1.PersistentVolumeClaim
	err    error
}

func (a around) PodsOf(context.Context, *unstructured.Unstructured) ([]*corev1.Pod, error) {
	return a.pods, a.err
}
func (a around) AllPods(context.Context, string) ([]*corev1.Pod, error) { return a.pods, a.err }
func (a around) Nodes(context.Context) ([]*corev1.Node, error)          { return a.nodes, a.err }

func (a around) Claim(_ context.Context, _, name string) (*corev1.PersistentVolumeClaim, error) {
	for _, claim := range a.claims {
		if claim.Name == name {
			return claim, nil
		}
	}
	return nil, errors.New("there is no claim " + name)
}

// withClaim returns a pod that mounts a claim.
func withClaim(name, claim string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "os"},
		Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}},
		Status: corev1.PodStatus{Phase: phase},
	}
}

// TestFileSystemGrowth checks when a claim counts as ready although its file system is smaller than
// its volume, and the reason.
func TestFileSystemGrowth(t *testing.T) {
	for name, test := range map[string]struct {
		around around
		since  time.Duration
		want   string
		ready  bool
	}{
		"a pod runs":           {around{pods: []*corev1.Pod{withClaim("db-0", "data", corev1.PodRunning)}}, time.Minute, "the node of pod db-0 grows the file system of its volume", false},
		"a pod runs, for long": {around{pods: []*corev1.Pod{withClaim("db-0", "data", corev1.PodRunning)}}, time.Hour, "its file system does not grow while pod db-0 runs; restart the pod: kubectl delete pod -n os db-0", true},
		"no pod":               {around{}, time.Minute, "its file system grows when the next pod starts with it", true},
		"a pod that waits":     {around{pods: []*corev1.Pod{withClaim("db-0", "data", corev1.PodPending)}}, time.Minute, "its file system grows when the next pod starts with it", true},
		"a pod of another":     {around{pods: []*corev1.Pod{withClaim("db-0", "other", corev1.PodRunning)}}, time.Minute, "its file system grows when the next pod starts with it", true},
		"unknown pods":         {around{err: errors.New("forbidden")}, time.Minute, "its file system grows while a pod uses it, or when the next pod starts with it", true},
	} {
		t.Run(name, func(t *testing.T) {
			claim := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "data", "namespace": "os"},
				"status": map[string]any{"conditions": []any{map[string]any{
					"type": "FileSystemResizePending", "status": "True", "lastTransitionTime": time.Now().Add(-test.since).UTC().Format(time.RFC3339),
				}}},
			}}
			got, err := Inquiry{Source: test.around}.Examine(t.Context(), claim)
			if err != nil || got.Ready != test.ready || got.Reason("") != test.want {
				t.Errorf("got %+v with %q, %v; want ready %t, %q", got, got.Reason(""), err, test.ready, test.want)
			}
		})
	}
}

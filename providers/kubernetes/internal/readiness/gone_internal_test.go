package readiness

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func nodeThatIs(name string, ready corev1.ConditionStatus, taints ...corev1.Taint) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Taints: taints},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}},
	}
}

// TestOnDeadNode checks what is said about pods on nodes that are down, and that it is not said about
// pods that only start.
func TestOnDeadNode(t *testing.T) {
	const taint = "bring it back, or, if it is certainly off: kubectl taint node n1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
	off := corev1.Taint{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute}
	down, up := []*corev1.Node{nodeThatIs("n1", corev1.ConditionUnknown)}, []*corev1.Node{nodeThatIs("n1", corev1.ConditionTrue)}
	pod := func(ready bool, leaving bool, node string) *corev1.Pod {
		p := withClaim("db-0", "data", corev1.PodRunning)
		p.Spec.NodeName = node
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Ready: ready}}
		if leaving {
			p.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		}
		return p
	}
	for name, test := range map[string]struct {
		kind  string // empty: StatefulSet
		pod   *corev1.Pod
		nodes []*corev1.Node
		err   error
		want  string
	}{
		"down":                          {pod: pod(true, false, "n1"), nodes: down, want: "pod db-0 cannot be made anew: node n1 is down; " + taint},
		"down, deleted":                 {pod: pod(true, true, "n1"), nodes: down, want: "pod db-0 cannot be made anew: node n1 is down; " + taint},
		"up":                            {pod: pod(true, true, "n1"), nodes: up},
		"without a node":                {pod: pod(true, true, ""), nodes: down},
		"out of service":                {pod: pod(true, true, "n1"), nodes: []*corev1.Node{nodeThatIs("n1", corev1.ConditionFalse, off)}, want: "pod db-0 cannot be made anew: node n1 is down and out of service; Kubernetes deletes its pods within a minute"},
		"no longer in the cluster":      {pod: pod(true, true, "n0"), nodes: down, want: "pod db-0 cannot be made anew: node n0 is no longer in the cluster; Kubernetes deletes its pods within a minute"},
		"unknown nodes":                 {pod: pod(true, true, "n1"), err: errors.New("forbidden")},
		"down, of a Deployment":         {kind: "Deployment", pod: pod(true, false, "n1"), nodes: down, want: "pod db-0 does not answer, and is replaced after some minutes: node n1 is down; " + taint},
		"down, deleted, of one":         {kind: "Deployment", pod: pod(true, true, "n1"), nodes: down, want: "pod db-0 cannot end: node n1 is down; " + taint},
		"that starts, of a Deployment":  {kind: "Deployment", pod: pod(false, false, "n1"), nodes: down},
		"up, deleted, of a Deployment":  {kind: "Deployment", pod: pod(true, true, "n1"), nodes: up},
		"of a Deployment without nodes": {kind: "Deployment", pod: pod(true, true, "n1"), err: errors.New("forbidden")},
	} {
		t.Run(name, func(t *testing.T) {
			kind := "StatefulSet"
			if test.kind != "" {
				kind = test.kind
			}
			workload := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": kind}}
			found := Inquiry{Source: around{pods: []*corev1.Pod{test.pod}, nodes: test.nodes, err: test.err}}.onDeadNode(t.Context(), workload)
			switch {
			case test.want == "" && found == nil:
			case test.want == "", found == nil, found.Reason != test.want, found.Pod != "db-0":
				t.Errorf("got %+v, want %q", found, test.want)
			}
		})
	}
}

// TestVolumeOnDeadNode checks that a pod which waits for a volume of a node that is down says so. The
// messages are those of the scheduler, in two versions.
func TestVolumeOnDeadNode(t *testing.T) {
	const conflict, newer = "0/2 nodes are available: 1 node(s) had volume node affinity conflict.", "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity."
	claim := func(node string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-db-0", Annotations: map[string]string{"volume.kubernetes.io/selected-node": node}}}
	}
	nodes := []*corev1.Node{nodeThatIs("n1", corev1.ConditionFalse), nodeThatIs("n2", corev1.ConditionTrue)}
	for name, test := range map[string]struct{ message, node, want string }{
		"down":                     {conflict, "n1", "the volume of claim data-db-0 is on node n1, which is down; the pod waits until the node is back"},
		"down, in other words":     {newer, "n1", "the volume of claim data-db-0 is on node n1, which is down; the pod waits until the node is back"},
		"no longer in the cluster": {conflict, "n0", "the volume of claim data-db-0 is on node n0, which is no longer in the cluster; the pod waits until the node is back"},
		"up":                       {conflict, "n2", ""},
		"of no node":               {conflict, "", ""},
		"another cause":            {"0/2 nodes are available: 2 Insufficient cpu.", "n1", ""},
		"affinity of the pod":      {"0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.", "n1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			q := Inquiry{Source: around{nodes: nodes, claims: []*corev1.PersistentVolumeClaim{claim(test.node)}}}
			if got := q.volumeOnDeadNode(t.Context(), withClaim("db-0", "data-db-0", corev1.PodPending), test.message); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers"
)

// bareNode makes a node without a kubelet, so the test itself sets the status of its pods. The node
// takes no pods of other tests. But other tests count nodes, so parallel tests must not use it.
func bareNode(t *testing.T, name, label string) {
	t.Helper()
	manifest := filepath.Join(t.TempDir(), "node.json")
	text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": %q, "labels": {"only-for": %q}}, "spec": {"taints": [{"key": "only-for", "effect": "NoSchedule"}]}}`, name, label)
	if err := os.WriteFile(manifest, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	clustertest.Kubectl(t, "create", "-f", manifest)
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "node", name, "--ignore-not-found") })
	heartbeat(t, name)
	nodeIs(t, name, "True")
}

// heartbeat renews the lease of a node until the test ends. Otherwise Kubernetes would take the node
// for down after some time.
func heartbeat(t *testing.T, node string) {
	t.Helper()
	client, err := coordinationv1client.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	leases := client.Leases(corev1.NamespaceNodeLease)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &node}}
	if _, err = leases.Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	go wait.UntilWithContext(t.Context(), func(ctx context.Context) {
		patch := fmt.Sprintf(`{"spec": {"renewTime": %q}}`, time.Now().UTC().Format(metav1.RFC3339Micro))
		_, err := leases.Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil && ctx.Err() == nil {
			t.Errorf("the heartbeat of node %s: %v", node, err)
		}
	}, 5*time.Second)
}

func nodeIs(t *testing.T, name, ready string) {
	t.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	clustertest.Kubectl(t, "patch", "node", name, "--subresource=status", "--type=merge", "-p", fmt.Sprintf(
		`{"status": {"capacity": {"pods": "10"}, "allocatable": {"pods": "10"}, "conditions": [{"type": "Ready", "status": %q, "reason": "Test", "lastHeartbeatTime": %q, "lastTransitionTime": %q}]}}`, ready, now, now))
}

// podOn waits for a pod of the namespace on a node, and returns its name. It ignores pods that are
// being deleted.
func podOn(t *testing.T, namespace, node string) string {
	t.Helper()
	var pod string
	clustertest.Eventually(t, "a pod on "+node, func() bool {
		pod = clustertest.Kubectl(t, "-n", namespace, "get", "pods", "--field-selector", "spec.nodeName="+node,
			"-o", `go-template={{range .items}}{{if not .metadata.deletionTimestamp}}{{.metadata.name}}{{end}}{{end}}`)
		return pod != ""
	})
	return pod
}

func podIs(t *testing.T, namespace, pod, ready string) {
	t.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	clustertest.Kubectl(t, "-n", namespace, "patch", "pod", pod, "--subresource=status", "--type=merge", "-p", fmt.Sprintf(
		`{"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": %q, "lastTransitionTime": %q}]}}`, ready, now))
}

// agentOn returns a DaemonSet for the nodes of a test. It tolerates all taints, as agents do, so
// Kubernetes still counts nodes that are down.
func agentOn(label string) string {
	return strings.Replace(daemonSet, "    spec: {", "    spec: {terminationGracePeriodSeconds: 0, tolerations: [{operator: Exists}], nodeSelector: {only-for: "+label+"}, ", 1)
}

// TestNodesThatAreDownAreNotWaitedFor checks that a DaemonSet is ready when its pods are ready on
// all nodes that are up.
func TestNodesThatAreDownAreNotWaitedFor(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	up, down := namespace+"-up", namespace+"-down"
	bareNode(t, up, namespace)
	bareNode(t, down, namespace)
	made := applied(t, client, namespace, agentOn(namespace), nil)
	ref := providers.RefOf(made)
	podOn(t, namespace, down)
	nodeIs(t, down, "False")

	// Wait must still wait for the pod on the other node.
	got, err := waitUntil(t, client, ref, fmt.Sprintf("0 of 2 pods ready; node %s is down, and not waited for", down))
	var failure *providers.NotReadyError
	if !errors.As(err, &failure) {
		t.Fatalf("no pod is ready: got %v after %q", err, got.said)
	}
	podIs(t, namespace, podOn(t, namespace, up), "True")
	if got, err = waitFor(t, client, ref); err != nil {
		t.Fatalf("the pod on the node that is up is ready: got %v after %q", err, got.said)
	}
	if last := got.said[len(got.said)-1]; !strings.Contains(last, down+" is down") {
		t.Errorf("in the end it said %q", last)
	}

	// After a change, Wait does not wait for the outdated pod on the node that is down. It waits
	// for the pod on the other node.
	second := strings.Replace(agentOn(namespace), "agent:1", "agent:2", 1)
	applied(t, client, namespace, second, nil)
	stands := down + " is down, and Kubernetes counts that as unavailable (at most 1 may be)"
	if got, err = waitUntil(t, client, ref, stands); !errors.As(err, &failure) || !strings.Contains(failure.Reason, stands) {
		t.Errorf("the rollout stands still: got %v after %q", err, got.said)
	}
	applied(t, client, namespace, strings.Replace(second, "spec:\n", "spec:\n  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}\n", 1), nil)
	clustertest.Eventually(t, "the pod is replaced", func() bool {
		pod := podOn(t, namespace, up)
		return strings.Contains(clustertest.Kubectl(t, "-n", namespace, "get", "pod", pod, "-o", "jsonpath={.spec.containers[0].image}"), "agent:2")
	})
	if got, err := waitUntil(t, client, ref, "pods ready"); !errors.As(err, &failure) {
		t.Errorf("the new pod is not ready: got %v after %q", err, got.said)
	}
	podIs(t, namespace, podOn(t, namespace, up), "True")
	if got, err = waitFor(t, client, ref); err != nil {
		t.Errorf("the new pod is ready: got %v after %q", err, got.said)
	}

	// Wait treats a deleted node as a node that is down.
	clustertest.Kubectl(t, "delete", "node", down)
	if got, err = waitFor(t, client, ref); err != nil {
		t.Errorf("the node is gone: got %v after %q", err, got.said)
	}
}

// TestNodesDownOnDelete checks a DaemonSet whose pods are replaced on request: outdated pods count
// as ready on nodes that are up, and pods on nodes that are down do not count.
func TestNodesDownOnDelete(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	up, down := namespace+"-up", namespace+"-down"
	bareNode(t, up, namespace)
	bareNode(t, down, namespace)
	manifest := strings.Replace(agentOn(namespace), "spec:\n", "spec:\n  updateStrategy: {type: OnDelete}\n", 1)
	applied(t, client, namespace, manifest, nil)
	podIs(t, namespace, podOn(t, namespace, up), "True")
	podOn(t, namespace, down)
	nodeIs(t, down, "Unknown")
	changed := applied(t, client, namespace, strings.Replace(manifest, "agent:1", "agent:2", 1), nil)
	if got, err := waitFor(t, client, providers.RefOf(changed)); err != nil {
		t.Errorf("got %v after %q", err, got.said)
	}
}

// TestPodsThatCannotEnd checks that a pod of a Deployment that cannot end does not count once
// another pod has replaced it.
func TestPodsThatCannotEnd(t *testing.T) {
	t.Parallel()
	client, namespace := connect(t), clustertest.Namespace(t)
	made := applied(t, client, namespace, deployment, nil)
	if _, err := waitFor(t, client, providers.RefOf(made)); err != nil {
		t.Fatal(err)
	}
	pod, _, _ := strings.Cut(clustertest.Kubectl(t, "-n", namespace, "get", "pods", "-o", "name"), "\n")
	clustertest.Kubectl(t, "-n", namespace, "patch", pod, "--type=merge", "-p", `{"metadata": {"finalizers": ["example.org/hangs"]}}`)
	t.Cleanup(func() {
		clustertest.Kubectl(t, "-n", namespace, "patch", pod, "--type=merge", "-p", `{"metadata": {"finalizers": null}}`)
	})
	clustertest.Kubectl(t, "-n", namespace, "delete", pod, "--wait=false")
	if got, err := waitFor(t, client, providers.RefOf(made)); err != nil {
		t.Errorf("got %v after %q", err, got.said)
	}
}

// TestStatefulSetOnANodeThatIsDown checks that Wait waits for a pod on a node that is down, because
// Kubernetes does not replace it, and that the error names the node.
func TestStatefulSetOnANodeThatIsDown(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	node := namespace + "-down"
	bareNode(t, node, namespace)
	made := applied(t, client, namespace, strings.Replace(statefulSet, "    spec: {", "    spec: {tolerations: [{operator: Exists}], nodeSelector: {only-for: "+namespace+"}, ", 1), nil)
	pod := podOn(t, namespace, node)
	podIs(t, namespace, pod, "False")
	nodeIs(t, node, "False")
	clustertest.Kubectl(t, "-n", namespace, "delete", "pod", pod, "--wait=false")
	held := fmt.Sprintf("pod %s cannot be made anew: node %s is down", pod, node)
	_, err := waitUntil(t, client, providers.RefOf(made), held)
	var failure *providers.NotReadyError
	if !errors.As(err, &failure) || !strings.Contains(failure.Reason, held) {
		t.Errorf("got %v", err)
	}
}

// TestOutOfService checks that Wait names the command that tells Kubernetes that a node is off, and
// that Kubernetes then makes the pod anew.
func TestOutOfService(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	node := namespace + "-off"
	bareNode(t, node, namespace)
	made := applied(t, client, namespace, strings.NewReplacer("replicas: 2", "replicas: 1", "    spec: {",
		"    spec: {tolerations: [{key: only-for, operator: Exists}], nodeSelector: {only-for: "+namespace+"}, ").Replace(statefulSet), nil)
	pod := podOn(t, namespace, node)
	podIs(t, namespace, pod, "True")
	before := clustertest.Kubectl(t, "-n", namespace, "get", "pod", pod, "-o", "jsonpath={.metadata.uid}")
	nodeIs(t, node, "Unknown")
	clustertest.Kubectl(t, "-n", namespace, "delete", "pod", pod, "--wait=false")
	_, err := waitUntil(t, client, providers.RefOf(made), "if it is certainly off: ")
	var failure *providers.NotReadyError
	if !errors.As(err, &failure) {
		t.Fatalf("got %v", err)
	}
	_, command, _ := strings.Cut(failure.Reason, "if it is certainly off: kubectl ")
	clustertest.Kubectl(t, strings.Fields(command)...)
	clustertest.Eventually(t, "another pod", func() bool {
		now := clustertest.Kubectl(t, "-n", namespace, "get", "pod", pod, "--ignore-not-found", "-o", "jsonpath={.metadata.uid}")
		return now != "" && now != before
	})
	if _, err = waitUntil(t, client, providers.RefOf(made), "no node can take the pod: node "+node+" is "); !errors.As(err, &failure) {
		t.Errorf("got %v", err)
	}
}

// TestPodsOfASpecificationThatCameBack checks that pods are not outdated after their workload has
// got its earlier specification back.
func TestPodsOfASpecificationThatCameBack(t *testing.T) {
	t.Parallel()
	client, namespace := connect(t), clustertest.Namespace(t)
	for _, manifest := range []string{statefulSet, daemonSet} {
		manifest = strings.Replace(manifest, "spec:\n", "spec:\n  updateStrategy: {type: OnDelete}\n", 1)
		made := applied(t, client, namespace, manifest, nil)
		if _, err := waitFor(t, client, providers.RefOf(made)); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			manifest string
			outdated bool
		}{
			{strings.Replace(manifest, ":1\"", ":2\"", 1), true},
			{manifest, false},
		} {
			ref := providers.RefOf(applied(t, client, namespace, step.manifest, nil))
			workload, err := client.Workload(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			pods, err := client.Pods(t.Context(), workload)
			if err != nil || len(pods) < 2 {
				t.Fatalf("%s: %d pods, %v", ref, len(pods), err)
			}
			for _, pod := range pods {
				if pod.Outdated != step.outdated || pod.Down || pod.Leaving || !pod.Ready || pod.Node == "" {
					t.Errorf("%s: %+v, want outdated %t", ref, pod, step.outdated)
				}
			}
		}
	}
}

// TestLabelledNodeIsWaitedFor checks that a DaemonSet is not ready before a pod is ready on each node that got a
// label, whatever its status says, and that it need not wait for nodes that take no pod.
func TestLabelledNodeIsWaitedFor(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	first, second, other := namespace+"-1", namespace+"-2", namespace+"-3"
	bareNode(t, first, namespace)
	bareNode(t, second, namespace+"-later")
	bareNode(t, other, namespace+"-other")
	ref := providers.RefOf(applied(t, client, namespace, agentOn(namespace), nil))
	podIs(t, namespace, podOn(t, namespace, first), "True")
	if got, err := waitFor(t, client, ref); err != nil {
		t.Fatalf("the only pod is ready: got %v after %q", err, got.said)
	}
	if err := client.Writer().Wait(t.Context(), ref, providers.WaitOptions{Nodes: []string{first, other, namespace + "-gone"}}); err != nil {
		t.Fatalf("the other nodes take no pod: %v", err)
	}

	said, ended := make(chan string, 100), make(chan error, 1)
	clustertest.Kubectl(t, "label", "node", second, "only-for="+namespace, "--overwrite")
	go func() {
		ended <- client.Writer().Wait(t.Context(), ref, providers.WaitOptions{Nodes: []string{second}, Report: func(status string) { said <- status }})
	}()
	pod := podOn(t, namespace, second)
	select {
	case err := <-ended:
		t.Fatalf("the second pod is not ready, and the wait has ended: %v", err)
	case <-time.After(2 * time.Second):
	}
	podIs(t, namespace, pod, "True")
	if err := <-ended; err != nil {
		t.Fatalf("all pods are ready: %v", err)
	}
	close(said)
	last := "nothing"
	for last = range said {
	}
	if last != "" {
		t.Errorf("in the end it said %q", last)
	}

	// The node goes while the apply waits for it.
	clustertest.Kubectl(t, "label", "node", other, "only-for="+namespace, "--overwrite")
	podOn(t, namespace, other)
	go func() { ended <- client.Writer().Wait(t.Context(), ref, providers.WaitOptions{Nodes: []string{other}}) }()
	clustertest.Kubectl(t, "label", "node", other, "only-for=nothing", "--overwrite")
	if err := <-ended; err != nil {
		t.Errorf("the node lost its label: %v", err)
	}
}

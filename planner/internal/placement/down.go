package placement

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// PodsOnDownNodes warns of pods of StatefulSets on nodes that are down: Kubernetes does not start
// them elsewhere. It lists pods only if a node is down. It leaves out nodes that somebody declared out
// of service, and pods that the user may not list.
func PodsOnDownNodes(ctx context.Context, inv *inventory.Inventory, outcomes []*outcome.Outcome) ([]plans.Problem, error) {
	down := downNodes(inv.Input.Snapshot)
	if len(down) == 0 {
		return nil, nil
	}
	sets := map[types.UID]bool{}
	var scopes []providers.Scope
	for _, o := range outcomes {
		if o.Live != nil && o.Action.Ref.GVK.GroupKind() == kinds.StatefulSet {
			sets[o.Live.GetUID()] = true
			scopes = append(scopes, providers.Scope{GVK: inventory.Pods, Namespace: o.Action.Ref.Namespace})
		}
	}
	var denied *providers.PermissionError
	switch err := inv.Input.Snapshot.Try(ctx, scopes...); {
	case errors.As(err, &denied):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("find the pods on nodes that are down: %w", err)
	}
	waiting := map[string][]string{} // names of pods by node
	for _, pod := range inv.Input.Snapshot.All(inventory.Pods) {
		node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
		if owner := metav1.GetControllerOf(pod); owner != nil && sets[owner.UID] {
			waiting[node] = append(waiting[node], pod.GetName())
		}
	}
	var lines, commands []string
	for _, node := range down {
		if pods := waiting[node.name]; len(pods) > 0 {
			slices.Sort(pods)
			lines = append(lines, fmt.Sprintf("  %s%s: %s", node.name, node.since, words.Few(pods, 4)))
			commands = append(commands, "  "+providers.OutOfService(node.name))
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	advice := "Kubernetes starts a pod of a StatefulSet elsewhere only when it knows that the old one has ended: two pods would write to one volume. " +
		"Bring the node back. If it stays away, first fence it: make sure that it is off, or cut off from network and storage. Then say so:"
	return []plans.Problem{{
		Warning: true, Summary: fmt.Sprintf("Pods wait for %s down", words.Plural(len(lines), "a node that is", "nodes that are")),
		Detail: strings.Join(words.First(lines, maxNodes, "node"), "\n") + "\n\n" + advice + "\n\n" + strings.Join(words.First(commands, maxNodes, "node"), "\n") +
			"\n\nThe pods then start on other nodes. A pod whose volume is on the node itself waits for the node even then.",
	}}, nil
}

// downNode is a node that does not report, or that reports that it is not ready.
type downNode struct {
	name  string
	since string // " (since 2026-11-21 02:11 UTC)"; empty: unknown
}

// downNodes returns the nodes that are down, by name.
func downNodes(snapshot *providers.Snapshot) []downNode {
	var down []downNode
	for _, u := range snapshot.All(inventory.Nodes) {
		var node corev1.Node
		if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &node) != nil {
			continue // the server has a version of Node that kolla cannot decode
		}
		at := slices.IndexFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool { return condition.Type == corev1.NodeReady })
		off := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeOutOfService })
		if at < 0 || off || node.Status.Conditions[at].Status == corev1.ConditionTrue {
			continue
		}
		found := downNode{name: node.Name}
		if since := node.Status.Conditions[at].LastTransitionTime; !since.IsZero() {
			found.since = since.UTC().Format(" (since 2006-01-02 15:04 UTC)")
		}
		down = append(down, found)
	}
	slices.SortFunc(down, func(a, b downNode) int { return cmp.Compare(a.name, b.name) })
	return down
}

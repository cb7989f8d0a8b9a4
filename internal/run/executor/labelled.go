package executor

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/scheduling"
)

// joins reports whether a DaemonSet that exists gets pods on a node that the plan labels. Its own
// specification may stay the same, and its status does not change before its controller sees the label.
func (r *run) joins(index int) bool {
	a := &r.plan.Actions[index]
	exists := a.Verb == plans.None || a.Verb == plans.Update || a.Verb == plans.Adopt
	if a.Ref.GVK.GroupKind() != kinds.DaemonSet || a.Object == nil || !exists {
		return false
	}
	pod, ok := scheduling.PodOf(a.Object.Manifest)
	return ok && slices.ContainsFunc(r.dependencies[index], func(on int) bool {
		node := &r.plan.Actions[on]
		return node.Ref.GVK.GroupKind() == kinds.Node && writes(node) && chosenByChange(pod, node)
	})
}

// chosenByChange reports whether the action gives a node a label for which a pod asks.
func chosenByChange(pod *corev1.PodSpec, node *plans.Action) bool {
	return slices.ContainsFunc(node.Changes, func(c plans.Change) bool {
		for key, value := range pod.NodeSelector {
			if c.After == value && c.Path == fields.Text(fieldpath.MakePathOrDie("metadata", "labels", key)) {
				return true
			}
		}
		return false
	})
}

// podsWanted returns how many pods a DaemonSet has when its controller has seen all nodes.
func (s *step) podsWanted(ctx context.Context) (n int, err error) {
	pod, ok := scheduling.PodOf(s.action.Object.Manifest)
	if !ok {
		return 0, nil
	}
	nodes, err := s.run.options.Reader.List(ctx, kinds.Node.WithVersion("v1"), "")
	if err == nil {
		n, err = scheduling.CountNodes(pod, nodes)
	}
	if err != nil {
		return 0, fmt.Errorf("count the pods of %s: %w", s.action.Ref, err)
	}
	return n, nil
}

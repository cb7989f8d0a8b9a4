package executor

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/scheduling"
	"kolla.openstack.org/kolla/state"
)

// findJoins returns, for each action on a DaemonSet that exists, the nodes on which it gets pods because the plan
// labels them. The specification of the DaemonSet may stay the same.
func (r *run) findJoins() [][]string {
	joins := make([][]string, len(r.plan.Actions))
	for i := range r.plan.Actions {
		a := &r.plan.Actions[i]
		exists := a.Verb == plans.None || a.Verb == plans.Update || a.Verb == plans.Adopt
		if a.Ref.GVK.GroupKind() != kinds.DaemonSet || a.Object == nil || !exists {
			continue
		}
		pod, ok := scheduling.PodOf(a.Object.Manifest)
		for _, on := range r.dependencies[i] {
			if node := &r.plan.Actions[on]; ok && node.Ref.GVK.GroupKind() == kinds.Node && writes(node) && givesLabel(node, pod) {
				joins[i] = append(joins[i], node.Ref.Name)
			}
		}
	}
	return joins
}

// givesLabel reports whether the action on a node sets a label that the node selector of a pod has.
func givesLabel(node *plans.Action, pod *corev1.PodSpec) bool {
	return slices.ContainsFunc(node.Changes, func(c plans.Change) bool {
		for key, value := range pod.NodeSelector {
			if c.After == value && c.Path == fields.Text(fieldpath.MakePathOrDie("metadata", "labels", key)) {
				return true
			}
		}
		return false
	})
}

// recordJoins records that unchanged DaemonSets are not ready, before a label brings them more pods. If the apply
// ends before they are ready, the next one waits for them.
func (r *run) recordJoins() error {
	var records []state.Object
	for i, nodes := range r.joins {
		if len(nodes) == 0 || r.plan.Actions[i].Verb != plans.None {
			continue
		}
		if record, known := confirmed(r.options.Session, &r.plan.Actions[i]); known {
			record.Ready = false
			records = append(records, record)
		}
	}
	return r.options.Session.Record(records...)
}

package planner

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/objects"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// leaving are the names of the nodes that a DaemonSet has a pod on, and would have none by
// this plan: another label is asked for, or the nodes lose theirs. Such pods are deleted at
// once, whatever the update strategy is.
func (d *disturbance) leaving() []string {
	live := d.Snapshot.Get(d.action.Ref)
	if live == nil || d.action.Ref.GVK.GroupKind() != kinds.DaemonSet {
		return nil
	}
	before, after := objects.NodeSelector(live), objects.NodeSelector(live)
	switch d.action.Verb {
	case plans.None, plans.Refresh:
	case plans.Update, plans.Adopt:
		after = objects.NodeSelector(d.subject.after)
	default:
		return nil
	}
	var out []string
	for _, node := range d.Snapshot.All(inventory.Nodes) {
		if covers(node.GetLabels(), before) && !covers(d.nodes[node.GetName()], after) {
			out = append(out, node.GetName())
		}
	}
	slices.Sort(out)
	return out
}

// leaves says which nodes a DaemonSet leaves. Where others need it, that is grave.
func (d *disturbance) leaves() []plans.Effect {
	nodes := d.leaving()
	if len(nodes) == 0 {
		return nil
	}
	loss := d.subject.object.Loss
	return []plans.Effect{{Kind: plans.EffectLeave, Pods: len(nodes), Items: nodes, Data: loss, Grave: loss != ""}}
}

// warnPassing warns of pods that a DaemonSet would start on a node for a moment only: the node
// gets the label that the DaemonSet asks for until this plan changes it. Such a pod registers
// the node where it does not belong.
func (p *planning) warnPassing() {
	nodes := p.nodeLabels()
	for _, s := range p.subjects {
		if s.live == nil || s.after == nil || s.action.Verb != plans.Update || s.action.Ref.GVK.GroupKind() != kinds.DaemonSet {
			continue
		}
		before, after := objects.NodeSelector(s.live), objects.NodeSelector(s.after)
		var names []string
		for _, node := range p.Snapshot.All(inventory.Nodes) {
			then := nodes[node.GetName()]
			if !covers(node.GetLabels(), before) && covers(then, before) && !covers(then, after) {
				names = append(names, node.GetName())
			}
		}
		if len(names) == 0 {
			continue
		}
		slices.Sort(names)
		problem := plans.ProblemOf(s.object, fmt.Sprintf("Pods of %s may start on nodes where they do not belong", s.action.Ref),
			fmt.Sprintf("This plan gives %s the label %s, and then takes %s off the nodes with that label. Pods may start there in between. To avoid that, first apply the new role of %s, and then label the nodes in a second apply.",
				words.Few(names, 10), labels.FormatLabels(before), s.action.Ref, s.object.Address.Block))
		problem.Warning = true
		p.problems = append(p.problems, problem)
	}
}

func covers(labels, selector map[string]string) bool {
	for key, value := range selector {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// nodeLabels are the labels of all nodes after the plan, by name.
func (p *planning) nodeLabels() map[string]map[string]string {
	labels := map[string]map[string]string{}
	for _, node := range p.Snapshot.All(inventory.Nodes) {
		labels[node.GetName()] = node.GetLabels()
	}
	for _, s := range p.subjects {
		if s.action.Ref.GVK == inventory.Nodes && s.after != nil {
			labels[s.action.Ref.Name] = s.after.GetLabels()
		}
	}
	for _, a := range p.actions {
		if live := p.Snapshot.Get(a.Ref); a.Ref.GVK == inventory.Nodes && a.Verb == plans.Delete && live != nil {
			owned := fields.OwnersOf(live, providers.ManagerOf(p.Cloud, true)).Own
			left := maps.Clone(live.GetLabels())
			maps.DeleteFunc(left, func(key, _ string) bool { return owned.Has(fieldpath.MakePathOrDie("metadata", "labels", key)) })
			labels[a.Ref.Name] = left
		}
	}
	return labels
}

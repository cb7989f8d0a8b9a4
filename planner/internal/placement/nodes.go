// Package placement says on which nodes pods run after a plan: the nodes that they leave, and the nodes
// and namespaces that do not take them.
package placement

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Nodes has all nodes as they are after a plan, by name.
type Nodes map[string]*unstructured.Unstructured

// After returns the nodes after a plan with these decisions and actions.
func After(inv *inventory.Inventory, outcomes []*outcome.Outcome, actions []plans.Action) Nodes {
	snapshot := inv.Input.Snapshot
	nodes := Nodes{}
	for _, node := range snapshot.All(inventory.Nodes) {
		nodes[node.GetName()] = node
	}
	for _, o := range outcomes {
		if o.Action.Ref.GVK == inventory.Nodes && o.After != nil {
			nodes[o.Action.Ref.Name] = o.After
		}
	}
	manager := providers.ManagerOf(inv.Input.Cloud, true)
	for _, a := range actions {
		if live := snapshot.Get(a.Ref); a.Ref.GVK == inventory.Nodes && a.Verb == plans.Delete && live != nil {
			nodes[a.Ref.Name] = released(live, manager)
		}
	}
	return nodes
}

// released returns a live node without the labels and taints of the cloud.
func released(live *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	node := live.DeepCopy()
	owned := fields.OwnersOf(live, manager).Own
	left := node.GetLabels()
	maps.DeleteFunc(left, func(key, _ string) bool { return owned.Has(fieldpath.MakePathOrDie("metadata", "labels", key)) })
	node.SetLabels(left)
	none := &unstructured.Unstructured{}
	none.SetGroupVersionKind(inventory.Nodes)
	if taints, changed := providers.TaintingOf(live, none, manager).Remove(node); changed {
		spec, _ := node.Object["spec"].(map[string]any) // it has taints
		spec["taints"] = taints
	}
	return node
}

// Left returns the nodes that a live DaemonSet has pods on and leaves with this plan: it
// asks for other labels, or the nodes lose theirs. The cluster deletes such pods at once,
// whatever the update strategy is. o is the decision about an object that is updated.
func Left(snapshot *providers.Snapshot, a *plans.Action, o *outcome.Outcome, nodes Nodes) []string {
	live := snapshot.Get(a.Ref)
	if live == nil || a.Ref.GVK.GroupKind() != kinds.DaemonSet {
		return nil
	}
	is, will := inventory.NodeSelector(live), inventory.NodeSelector(live)
	switch a.Verb {
	case plans.None, plans.Refresh:
	case plans.Update, plans.Adopt:
		will = inventory.NodeSelector(o.After)
	default:
		return nil
	}
	var out []string
	for _, node := range snapshot.All(inventory.Nodes) {
		if covers(node.GetLabels(), is) && !covers(nodes[node.GetName()].GetLabels(), will) {
			out = append(out, node.GetName())
		}
	}
	slices.Sort(out)
	return out
}

// Joining returns the names of the live DaemonSets that have no pods on a node, and that get pods there
// when the node has its labels after the plan.
func Joining(snapshot *providers.Snapshot, live *unstructured.Unstructured, nodes Nodes) []string {
	after := nodes[live.GetName()]
	var out []string
	for _, workload := range snapshot.All(kinds.DaemonSet.WithVersion("v1")) {
		selector := inventory.NodeSelector(workload)
		if !covers(live.GetLabels(), selector) && covers(after.GetLabels(), selector) {
			out = append(out, workload.GetName())
		}
	}
	slices.Sort(out)
	return out
}

// PassingPods warns of pods that a DaemonSet would start on a node for a moment: the plan
// first gives the node the label that the DaemonSet asks for, and then changes the DaemonSet.
// Such a pod registers a node that it does not belong to.
func PassingPods(inv *inventory.Inventory, outcomes []*outcome.Outcome) []plans.Problem {
	nodes := After(inv, outcomes, nil)
	var warnings []plans.Problem
	for _, o := range outcomes {
		if o.Live == nil || o.After == nil || o.Action.Verb != plans.Update || o.Action.Ref.GVK.GroupKind() != kinds.DaemonSet {
			continue
		}
		before, after := inventory.NodeSelector(o.Live), inventory.NodeSelector(o.After)
		var names []string
		for _, node := range inv.Input.Snapshot.All(inventory.Nodes) {
			then := nodes[node.GetName()].GetLabels()
			if !covers(node.GetLabels(), before) && covers(then, before) && !covers(then, after) {
				names = append(names, node.GetName())
			}
		}
		if len(names) == 0 {
			continue
		}
		slices.Sort(names)
		problem := plans.ProblemOf(o.Object, fmt.Sprintf("Pods of %s may start on nodes where they do not belong", o.Action.Ref),
			fmt.Sprintf("This plan gives %s the label %s, and then takes %s off the nodes with that label. Pods may start there in between. To avoid that, first apply the new role of %s, and then label the nodes in a second apply.",
				words.Few(names, 10), labels.FormatLabels(before), o.Action.Ref, o.Object.Address.Block))
		problem.Warning = true
		warnings = append(warnings, problem)
	}
	return warnings
}

// covers reports whether labels satisfy a selector.
func covers(have, selector map[string]string) bool {
	return labels.SelectorFromSet(selector).Matches(labels.Set(have))
}

package placement

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/scheduling"
)

// maxNodes limits the nodes that a warning lists.
const maxNodes = 8

// ClosedNodes warns of nodes on which others let no pods of this cloud start: they are cordoned, or
// have a taint that the pods do not tolerate. kolla leaves cordons and the taints of others as
// they are. It considers the nodes that workloads choose by labels.
func ClosedNodes(inv *inventory.Inventory, outcomes []*outcome.Outcome) []plans.Problem {
	var lines, cordoned []string
	after := After(inv, outcomes, nil)
	manager := providers.ManagerOf(inv.Input.Cloud, true)
	nodes := slices.Clone(inv.Input.Snapshot.All(inventory.Nodes))
	slices.SortFunc(nodes, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	closed, evicts := 0, false
	for _, node := range nodes {
		before := len(lines)
		for _, bar := range barsOf(node, manager) {
			var kept []string
			for _, o := range outcomes {
				selector := inventory.NodeSelector(o.Object.Manifest)
				if plans.RunsPodsContinuously(o.Object.Ref()) && len(selector) > 0 && covers(after[node.GetName()].GetLabels(), selector) && !bar.passes(o.Object.Manifest) {
					kept = append(kept, o.Object.Address.String())
				}
			}
			if len(kept) == 0 {
				continue
			}
			slices.Sort(kept)
			lines = append(lines, fmt.Sprintf("  %s %s: no new pods of %s", node.GetName(), bar.text, words.Few(kept, 3)))
			evicts = evicts || bar.taint.Effect == corev1.TaintEffectNoExecute
			if bar.cordon {
				cordoned = append(cordoned, node.GetName())
			}
		}
		if len(lines) > before {
			closed++
		}
	}
	if closed == 0 {
		return nil
	}
	advice := "kolla leaves these nodes to whoever closed them. Pods that run there stay"
	if evicts {
		advice += ", but a taint with NoExecute makes the cluster delete them"
	}
	advice += ". Pods that this plan starts or restarts there wait until the node is open again, or run on other nodes of their role."
	if len(cordoned) > 0 {
		advice += " To open a cordoned node:\n\n  kubectl uncordon " + cordoned[0]
	}
	return []plans.Problem{{
		Warning: true, Summary: "Others let no new pods start on " + words.Count(closed, "node"),
		Detail: strings.Join(words.First(lines, maxNodes, "node"), "\n") + "\n\n" + advice,
	}}
}

// bar is a reason why a node takes no new pods.
type bar struct {
	text   string // "is cordoned"
	cordon bool
	taint  corev1.Taint
}

// barsOf returns the cordon of a node, and the taints that this cloud did not put there. It leaves
// out taints with which Kubernetes reports the condition of a node: nobody decided them.
func barsOf(node *unstructured.Unstructured, manager string) []bar {
	var live corev1.Node
	if runtime.DefaultUnstructuredConverter.FromUnstructured(node.Object, &live) != nil {
		return nil // the server has a version of Node that kolla cannot decode
	}
	owners := fields.OwnersOf(node, manager)
	by := func(field string) string {
		owner, ok := owners.Other(fieldpath.MakePathOrDie("spec", field))
		if !ok {
			return ""
		}
		return " (by " + owner.Manager + owner.Time.Format(", 2006-01-02 15:04 UTC") + ")"
	}
	var bars []bar
	if live.Spec.Unschedulable {
		bars = append(bars, bar{
			text: "is cordoned" + by("unschedulable"), cordon: true,
			taint: corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule},
		})
	}
	ours := providers.TaintsOfCloud(node, manager)
	for _, taint := range live.Spec.Taints {
		text := taint.ToString()
		if taint.Effect == corev1.TaintEffectPreferNoSchedule || strings.HasPrefix(taint.Key, "node.kubernetes.io/") && taint.Key != corev1.TaintNodeOutOfService || slices.Contains(ours, text) {
			continue
		}
		bars = append(bars, bar{text: "has the taint " + text + by("taints"), taint: taint})
	}
	return bars
}

// passes reports whether the pods of a workload may start nevertheless.
func (b bar) passes(workload *unstructured.Unstructured) bool {
	pod, ok := scheduling.PodOf(workload)
	return ok && scheduling.Tolerates(pod, &b.taint)
}

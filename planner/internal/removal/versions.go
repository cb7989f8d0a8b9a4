package removal

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/selection"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// block has the facts about a block that decide about old versions in it.
type block struct {
	// keepsOldPods: a workload keeps its pods until somebody deletes them. Each pod may
	// mount an earlier version, and could not start again without it.
	keepsOldPods bool
	// busy are the objects that an apply writes or waits for.
	busy []addrs.Object
}

// blocksOf returns the blocks with declared objects.
func blocksOf(outcomes []*outcome.Outcome) map[string]*block {
	blocks := map[string]*block{}
	for _, o := range outcomes {
		of := blocks[o.Object.Address.Block]
		if of == nil {
			of = &block{}
			blocks[o.Object.Address.Block] = of
		}
		strategy, _, _ := unstructured.NestedString(o.Object.Manifest.Object, "spec", "updateStrategy", "type")
		if kinds.RunsPods(o.Object.Ref().GVK.GroupKind()) && strategy == string(appsv1.OnDeleteDaemonSetStrategyType) {
			of.keepsOldPods = true
		}
		if !o.Withheld && (o.Action.Verb != plans.None || o.Action.Pending) {
			of.busy = append(of.busy, o.Object.Address)
		}
	}
	return blocks
}

// removeVersions deletes the former versions of an object after everything in its block is
// done. The previous version stays, in case the operator goes back to it. With keepAll,
// every version that exists stays, because old pods may mount it. No version of a Job stays: a
// state that still knows an old run would count it as done when its inputs return. Nothing is
// deleted while the new version is not known.
func (m *remover) removeVersions(current *outcome.Outcome, versions inventory.Versions, of *block, keepAll bool) {
	run := current.Object.IsJob()
	var outdated []removable
	for _, r := range versions.Members {
		if current.Deferred() || keepAll && !run && m.inv.Input.Snapshot.Get(r.Ref) != nil {
			continue
		}
		if r != versions.Previous || run {
			outdated = append(outdated, removableOf(m.inv, r))
		}
	}
	first := len(m.result.Actions)
	m.removeAll(outdated, plans.ReasonSuperseded)
	for i := first; i < len(m.result.Actions); i++ {
		if m.result.Actions[i].Verb == plans.Delete {
			m.result.Actions[i].DependsOn = slices.Clone(of.busy)
		}
	}
}

// OtherNamespace refuses a plan that would lose objects whose addresses now belong to others:
// objects with the same name in another namespace. What the server says of those others, such as
// that their node ports are taken, follows from this.
func OtherNamespace(inv *inventory.Inventory, set selection.Set) []plans.Problem {
	var names []string
	var first *providers.Object
	for i := range inv.Records {
		r := &inv.Records[i]
		if !set.Has(inv.Successor(r)) || inv.DeclarationByRef(r.Ref) != nil || inv.Declared[r.RecordedAddress()] == nil {
			continue
		}
		if live := inv.Input.Snapshot.Get(r.Ref); live != nil && string(live.GetUID()) == r.State.UID {
			names = append(names, r.Ref.String())
			if first == nil {
				first = inv.Declared[r.RecordedAddress()]
			}
		}
	}
	if first == nil {
		return nil
	}
	return []plans.Problem{plans.ProblemOf(first,
		fmt.Sprintf("%d applied objects are declared in another namespace now, such as %s", len(names), first.Ref()),
		fmt.Sprintf("In the cluster there is %s. kolla does not move objects between namespaces: put the namespace back, or destroy what is there first, with the configuration that it was applied from.", words.Few(names, 4)))}
}

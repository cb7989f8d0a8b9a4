package removal

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// StayingVolumes returns the volumes that a StatefulSet leaves behind when it is deleted. It
// leaves out the volumes that a loss names: the advice to delete them would be wrong.
func StayingVolumes(snapshot *providers.Snapshot, set *unstructured.Unstructured, actions []plans.Action, losses []plans.Loss) []providers.Ref {
	if set.GroupVersionKind().GroupKind() != kinds.StatefulSet || inventory.TakesVolumesAlong(set) {
		return nil
	}
	deleted := map[providers.Ref]bool{}
	for _, a := range actions {
		if a.Verb == plans.Delete {
			deleted[a.Ref] = true
		}
	}
	return slices.DeleteFunc(inventory.VolumesOf(snapshot, set), func(ref providers.Ref) bool {
		return deleted[ref] || slices.ContainsFunc(losses, func(l plans.Loss) bool { return l.Kept && slices.Contains(l.Refs, ref) })
	})
}

// KeptVolumes returns the volumes that deleted StatefulSets leave behind.
func KeptVolumes(inv *inventory.Inventory, actions []plans.Action, losses []plans.Loss) []plans.Kept {
	snapshot := inv.Input.Snapshot
	var kept []plans.Kept
	for _, a := range actions {
		if a.Verb != plans.Delete || a.Ref.GVK.GroupKind() != kinds.StatefulSet {
			continue
		}
		refs := StayingVolumes(snapshot, snapshot.Get(a.Ref), actions, losses)
		fate := "takes it up again if it comes back"
		if block := successorOf(inv, a.Address); block != "" && len(refs) > 0 {
			fate = block + " does not take up"
		}
		for _, ref := range refs {
			live := snapshot.Get(ref)
			kept = append(kept, plans.Kept{
				Address: inv.AddressFor(ref, live.GetAnnotations(), live.GetLabels()),
				Ref:     ref,
				UID:     live.GetUID(),
				Holds:   fmt.Sprintf("the data of %s, which %s", a.Ref.Name, fate),
			})
		}
	}
	return kept
}

// successorOf returns the block with the object that replaces the recorded one; empty: there
// is none.
func successorOf(inv *inventory.Inventory, address addrs.Object) string {
	for i := range inv.Records {
		if r := &inv.Records[i]; (r.Moved || r.Renamed) && r.RecordedAddress() == address {
			return r.Address.Block
		}
	}
	return ""
}

package removal

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/selection"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Destroy plans to delete all recorded objects, and the volumes of their StatefulSets, also
// of StatefulSets that no longer exist. Objects with data stay unless the operator named
// them.
func Destroy(inv *inventory.Inventory, set selection.Set) Result {
	m := newRemover(inv, nil)
	cloud := inv.Input.Cloud
	var candidates, unowned []removable
	for i := range inv.Records {
		candidates = append(candidates, removableOf(inv, &inv.Records[i]))
	}
	volumes := volumesOfKolla(inv)
	for _, c := range append(unrecorded(inv), unlabelledVolumes(inv, volumes)...) {
		id := inventory.Identify(c.ref)
		mine, asked := volumes[id]
		if r := inv.Left[id]; r != nil && !asked && trust.Same(r.State, c.live) {
			mine, c.address = true, r.Address
		}
		switch {
		case mine, namedVolume(inv, c) && !asked:
			c.ours, c.bare = true, !inventory.Labelled(c.live, cloud)
			candidates = append(candidates, c)
		case !asked:
			unowned = append(unowned, c)
		}
	}
	excluded := func(c removable) bool { return !set.Has(c.address) }
	candidates = slices.DeleteFunc(append(candidates, goneVolumes(inv)...), excluded)
	for i, c := range candidates {
		candidates[i].because = whyTaken(set, c)
	}
	m.removeAll(candidates, plans.ReasonDestroy)
	LinkDeletes(inv, m.result.Actions)
	m.leaveUnowned(slices.DeleteFunc(unowned, excluded))
	return m.result
}

// whyTaken returns the reason for which a destroy deletes an object that the operator did not
// name: it depends on a deleted object. The reason is empty for an object that the operator named.
func whyTaken(set selection.Set, c removable) string {
	by, ok := set.AddedBy(c.address)
	switch {
	case !ok:
		return ""
	case by.Kind == kinds.Namespace.Kind && by.Name == c.ref.Namespace:
		return "is in namespace " + by.Name
	}
	return "depends on " + by.String()
}

// goneVolumes returns the volumes that an earlier apply left behind and that no longer
// exist. The state forgets them.
func goneVolumes(inv *inventory.Inventory) []removable {
	var gone []removable
	for _, r := range inv.Left {
		if inv.Input.Snapshot.Get(r.Ref) == nil {
			gone = append(gone, removableOf(inv, r))
		}
	}
	slices.SortFunc(gone, func(a, b removable) int { return a.address.Compare(b.address) })
	return gone
}

// unrecorded returns the live objects with the cloud's label that the state does not know.
func unrecorded(inv *inventory.Inventory) []removable {
	var candidates []removable
	for _, u := range inventory.UnrecordedObjects(inv) {
		candidates = append(candidates, removable{address: u.Address, ref: u.Ref, live: u.Live})
	}
	return candidates
}

// volumesOfKolla returns the claims of all live StatefulSets. The value is true if the state
// knows the StatefulSet and no removed block releases it. The labels of a claim prove
// nothing: a released StatefulSet still gives new claims the labels of its templates.
func volumesOfKolla(inv *inventory.Inventory) map[inventory.Identity]bool {
	volumes := map[inventory.Identity]bool{}
	for _, set := range inv.Input.Snapshot.All(inventory.StatefulSets) {
		mine := inv.Owns(set) && inventory.Labelled(set, inv.Input.Cloud)
		if mine {
			_, released := inventory.Released(inv.Input.Removals, inv.RecordByRef(providers.RefOf(set)).RecordedAddress())
			mine = !released
		}
		for _, claim := range inventory.VolumesOf(inv.Input.Snapshot, set) {
			volumes[inventory.Identify(claim)] = mine
		}
	}
	return volumes
}

// unlabelledVolumes returns the volumes of StatefulSets in manifests, also of deleted ones.
// Their templates have no label of kolla's. A claim that the StatefulSet took up without
// creating it lacks the labels that the controller adds.
func unlabelledVolumes(inv *inventory.Inventory, volumes map[inventory.Identity]bool) []removable {
	snapshot, cloud := inv.Input.Snapshot, inv.Input.Cloud
	var candidates []removable
	add := func(live *unstructured.Unstructured) {
		ref := providers.RefOf(live)
		if inv.RecordByRef(ref) == nil && !inventory.Labelled(live, cloud) && len(live.GetOwnerReferences()) == 0 {
			candidates = append(candidates, removable{ref: ref, live: live, address: inv.AddressFor(ref, nil, nil)})
		}
	}
	for _, set := range snapshot.All(inventory.StatefulSets) {
		selected, _, err := unstructured.NestedStringMap(set.Object, "spec", "selector", "matchLabels")
		for _, ref := range inventory.VolumesOf(snapshot, set) {
			claim := snapshot.Get(ref)
			if volumes[inventory.Identify(ref)] && err == nil && len(selected) > 0 && labels.SelectorFromSet(selected).Matches(labels.Set(claim.GetLabels())) {
				add(claim)
			}
		}
	}
	for _, r := range inv.Left {
		unlabelled := r.Address.Block == "cloud."+cloud // otherwise it had a label, which somebody removed
		if live := snapshot.Get(r.Ref); live != nil && unlabelled && trust.Same(r.State, live) && !hasSet(snapshot, live) {
			add(live)
		}
	}
	slices.SortFunc(candidates, func(a, b removable) int { return a.address.Compare(b.address) })
	return candidates
}

// hasSet reports whether a live StatefulSet has the volume.
func hasSet(snapshot *providers.Snapshot, claim *unstructured.Unstructured) bool {
	return slices.ContainsFunc(snapshot.All(inventory.StatefulSets), func(set *unstructured.Unstructured) bool {
		return slices.Contains(inventory.VolumesOf(snapshot, set), providers.RefOf(claim))
	})
}

// namedVolume reports whether the operator gave the address of a volume in a namespace of
// the cloud.
func namedVolume(inv *inventory.Inventory, c removable) bool {
	return c.ref.GVK.GroupKind() == kinds.PersistentVolumeClaim && ownNamespace(inv, c.ref.Namespace) && inv.DeleteData.Has(c.address.String())
}

// ownNamespace reports whether a namespace is that of the cloud, or kolla made it.
func ownNamespace(inv *inventory.Inventory, name string) bool {
	return name == inv.Input.Namespace || inv.Owns(inv.Input.Snapshot.Get(providers.Ref{GVK: inventory.Namespaces, Name: name}))
}

// leaveUnowned reports the objects that a destroy does not delete although they have the
// cloud's label, because the state does not know them. Volumes are kept like other data.
func (m *remover) leaveUnowned(unowned []removable) {
	var names []string
	for _, c := range unowned {
		if c.ref.GVK.GroupKind() == kinds.PersistentVolumeClaim {
			m.result.Kept = append(m.result.Kept, plans.Kept{
				Address: c.address, Ref: c.ref, Alone: true,
				Holds: fmt.Sprintf("the data on its volume; the state does not know it, so that only %s deletes it", words.Option("-delete-data", c.address.String())),
			})
			continue
		}
		names = append(names, c.ref.String())
	}
	if len(names) == 0 {
		return
	}
	summary := fmt.Sprintf("%d objects carry the label of this cloud, and the state does not know them", len(names))
	if len(names) == 1 {
		summary = names[0] + " carries the label of this cloud, and the state does not know it"
	}
	m.result.Problems = append(m.result.Problems, plans.Problem{
		Warning: len(m.inv.Records) > 0 || m.inv.Input.State.Lineage != "",
		Summary: summary,
		Detail: fmt.Sprintf("Left alone: %s. Anybody can set a label, so kolla deletes only objects whose UIDs are in the state. "+outcome.RebuildCommand+" Otherwise, if nothing needs them, delete them with kubectl.",
			words.Few(names, 6), "them"),
	})
}

package planner

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// destroy plans to delete all that the state knows, and the volumes that its
// StatefulSets asked for, or did before they were deleted. What holds data is kept unless
// it was named.
func (p *planning) destroy() {
	var targets []target
	for i := range p.inv.Records {
		targets = append(targets, targetOf(&p.inv.Records[i], p.Snapshot))
	}
	var strangers []target
	volumes := p.volumesOfKolla()
	for _, t := range append(p.unrecorded(), p.unlabelledVolumes(volumes)...) {
		id := inventory.Identify(t.ref)
		mine, asked := volumes[id]
		if r := p.inv.Left[id]; r != nil && !asked && trust.Same(r.State, t.live) {
			mine, t.address = true, r.Address
		}
		switch {
		case mine, p.namedVolume(t) && !asked:
			t.ours, t.bare = true, !inventory.Labelled(t.live, p.Cloud)
			targets = append(targets, t)
		case !asked:
			strangers = append(strangers, t)
		}
	}
	excluded := func(t target) bool { return !p.chosen.Has(t.address) }
	p.remove(slices.DeleteFunc(append(targets, p.goneVolumes()...), excluded), plans.ReasonDestroy)
	p.linkDeletes()
	p.leaveStrangers(slices.DeleteFunc(strangers, excluded))
}

// goneVolumes are those that an earlier apply left behind and that are not there any more:
// the state forgets them.
func (p *planning) goneVolumes() []target {
	var gone []target
	for _, r := range p.inv.Left {
		if p.Snapshot.Get(r.Ref) == nil {
			gone = append(gone, targetOf(r, p.Snapshot))
		}
	}
	slices.SortFunc(gone, func(a, b target) int { return a.address.Compare(b.address) })
	return gone
}

// unrecorded are the live objects with the cloud's label that the state does not know.
func (p *planning) unrecorded() []target {
	var targets []target
	for _, u := range inventory.UnrecordedObjects(p.inv) {
		targets = append(targets, target{address: u.Address, ref: u.Ref, live: u.Live})
	}
	return targets
}

// volumesOfKolla are the claims of the StatefulSets in the cluster: true of those that
// the state knows and no removed block lets go. Their own labels say nothing: what a
// released StatefulSet asks for later still has those that its templates had.
func (p *planning) volumesOfKolla() map[inventory.Identity]bool {
	volumes := map[inventory.Identity]bool{}
	for _, set := range p.Snapshot.All(inventory.StatefulSets) {
		mine := p.inv.Owns(set) && inventory.Labelled(set, p.Cloud)
		if mine {
			_, let := inventory.Released(p.Removals, p.inv.RecordAs(providers.RefOf(set)).RecordedAddress())
			mine = !let
		}
		for _, claim := range inventory.VolumesOf(p.Snapshot, set) {
			volumes[inventory.Identify(claim)] = mine
		}
	}
	return volumes
}

// unlabelledVolumes are those that StatefulSets of manifests asked for, or did before they
// were deleted: their templates give no label of kolla's. A claim that the StatefulSet took
// up without having asked for it lacks the labels that its controller gives.
func (p *planning) unlabelledVolumes(volumes map[inventory.Identity]bool) []target {
	var targets []target
	add := func(live *unstructured.Unstructured) {
		ref := providers.RefOf(live)
		if p.inv.RecordAs(ref) == nil && !inventory.Labelled(live, p.Cloud) && len(live.GetOwnerReferences()) == 0 {
			targets = append(targets, target{ref: ref, live: live, address: p.inv.AddressFor(ref, nil, nil)})
		}
	}
	for _, set := range p.Snapshot.All(inventory.StatefulSets) {
		selected, _, err := unstructured.NestedStringMap(set.Object, "spec", "selector", "matchLabels")
		for _, ref := range inventory.VolumesOf(p.Snapshot, set) {
			claim := p.Snapshot.Get(ref)
			if volumes[inventory.Identify(ref)] && err == nil && len(selected) > 0 && labels.SelectorFromSet(selected).Matches(labels.Set(claim.GetLabels())) {
				add(claim)
			}
		}
	}
	for _, r := range p.inv.Left {
		nobodys := r.Address.Block == "cloud."+p.Cloud // else it had a label, which somebody took away
		if live := p.Snapshot.Get(r.Ref); live != nil && nobodys && trust.Same(r.State, live) && !p.asked(live) {
			add(live)
		}
	}
	slices.SortFunc(targets, func(a, b target) int { return a.address.Compare(b.address) })
	return targets
}

// asked reports whether a StatefulSet that is there has a volume.
func (p *planning) asked(claim *unstructured.Unstructured) bool {
	return slices.ContainsFunc(p.Snapshot.All(inventory.StatefulSets), func(set *unstructured.Unstructured) bool {
		return slices.Contains(inventory.VolumesOf(p.Snapshot, set), providers.RefOf(claim))
	})
}

// namedVolume reports whether the operator named a volume, by its own address, that the
// state does not know and that nothing asks for any more, in a namespace of the cloud.
func (p *planning) namedVolume(t target) bool {
	return t.ref.GVK.GroupKind() == kinds.PersistentVolumeClaim && p.ownNamespace(t.ref.Namespace) && p.inv.DeleteData.Has(t.address.String())
}

// ownNamespace reports whether a namespace is the cloud's own, or one that kolla made.
func (p *planning) ownNamespace(name string) bool {
	return name == p.Namespace || p.inv.Owns(p.Snapshot.Get(providers.Ref{GVK: inventory.Namespaces, Name: name}))
}

// leaveStrangers says what a destroy does not delete although it carries the cloud's
// label: the state does not know it. Volumes are kept like other data.
func (p *planning) leaveStrangers(strangers []target) {
	var names []string
	for _, t := range strangers {
		if t.ref.GVK.GroupKind() == kinds.PersistentVolumeClaim {
			p.kept = append(p.kept, plans.Kept{
				Address: t.address, Ref: t.ref, Alone: true,
				Holds: fmt.Sprintf("the data on its volume; the state does not know it, so that only %s deletes it", words.Option("-delete-data", t.address.String())),
			})
			continue
		}
		names = append(names, t.ref.String())
	}
	if len(names) == 0 {
		return
	}
	summary := fmt.Sprintf("%d objects carry the label of this cloud, and the state does not know them", len(names))
	if len(names) == 1 {
		summary = names[0] + " carries the label of this cloud, and the state does not know it"
	}
	p.problems = append(p.problems, plans.Problem{
		Warning: len(p.inv.Records) > 0 || p.State.Lineage != "",
		Summary: summary,
		Detail: fmt.Sprintf("Left alone: %s. A label proves nothing: anybody can have given it to them, and kolla deletes only what the state knows by its UID. "+rebuildCommand+" Otherwise, if nothing needs them, delete them with kubectl.",
			words.Few(names, 6), "them"),
	})
}

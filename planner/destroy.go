package planner

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
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
	for i := range p.records {
		targets = append(targets, p.records[i].target(p.Snapshot))
	}
	var strangers []target
	volumes := p.volumesOfKolla()
	for _, t := range append(p.unrecorded(), p.unlabelledVolumes(volumes)...) {
		id := identify(t.ref)
		mine, asked := volumes[id]
		if r := p.left[id]; r != nil && !asked && trust.Same(r.Object, t.live) {
			mine, t.address = true, r.address
		}
		switch {
		case mine, p.namedVolume(t) && !asked:
			t.ours, t.bare = true, !p.labelled(t.live)
			targets = append(targets, t)
		case !asked:
			strangers = append(strangers, t)
		}
	}
	excluded := func(t target) bool { return !p.includes(t.address) }
	p.remove(slices.DeleteFunc(append(targets, p.goneVolumes()...), excluded), plans.ReasonDestroy)
	p.linkDeletes()
	p.leaveStrangers(slices.DeleteFunc(strangers, excluded))
}

// goneVolumes are those that an earlier apply left behind and that are not there any more:
// the state forgets them.
func (p *planning) goneVolumes() []target {
	var gone []target
	for _, r := range p.left {
		if p.Snapshot.Get(r.ref) == nil {
			gone = append(gone, r.target(p.Snapshot))
		}
	}
	slices.SortFunc(gone, func(a, b target) int { return a.address.Compare(b.address) })
	return gone
}

// unrecorded finds live objects that carry the cloud's label and that the state
// does not know, among the kinds that were listed: the volumes that StatefulSets
// asked for, what a lost state knew, and what somebody else gave the label to. What
// belongs to another object is left out: it goes with that one.
func (p *planning) unrecorded() []target {
	known := map[identity]bool{}
	for _, r := range p.records {
		known[identify(r.ref)] = true
	}
	var targets []target
	for _, kind := range p.listedKinds() {
		for _, live := range p.Snapshot.All(kind) {
			ref := providers.Ref{GVK: kind, Namespace: live.GetNamespace(), Name: live.GetName()}
			if known[identify(ref)] || !p.labelled(live) || len(live.GetOwnerReferences()) > 0 {
				continue
			}
			known[identify(ref)] = true
			t := target{ref: ref, live: live, address: p.addressOf(ref, live.GetAnnotations(), live.GetLabels())}
			if _, let := p.released(t.address); !let {
				targets = append(targets, t)
			}
		}
	}
	slices.SortFunc(targets, func(a, b target) int { return a.address.Compare(b.address) })
	return targets
}

// volumesOfKolla are the claims of the StatefulSets in the cluster: true of those that
// the state knows and no removed block lets go. Their own labels say nothing: what a
// released StatefulSet asks for later still has those that its templates had.
func (p *planning) volumesOfKolla() map[identity]bool {
	volumes := map[identity]bool{}
	for _, set := range p.Snapshot.All(statefulSets) {
		mine := p.owns(set) && p.labelled(set)
		if mine {
			_, let := p.released(p.known[identify(providers.RefOf(set))].recordedAddress())
			mine = !let
		}
		for _, claim := range p.volumesOf(set) {
			volumes[identify(claim)] = mine
		}
	}
	return volumes
}

// unlabelledVolumes are those that StatefulSets of manifests asked for, or did before they
// were deleted: their templates give no label of kolla's. A claim that the StatefulSet took
// up without having asked for it lacks the labels that its controller gives.
func (p *planning) unlabelledVolumes(volumes map[identity]bool) []target {
	var targets []target
	add := func(live *unstructured.Unstructured) {
		ref := providers.RefOf(live)
		if p.known[identify(ref)] == nil && !p.labelled(live) && len(live.GetOwnerReferences()) == 0 {
			targets = append(targets, target{ref: ref, live: live, address: p.addressOf(ref, nil, nil)})
		}
	}
	for _, set := range p.Snapshot.All(statefulSets) {
		selected, _, err := unstructured.NestedStringMap(set.Object, "spec", "selector", "matchLabels")
		for _, ref := range p.volumesOf(set) {
			claim := p.Snapshot.Get(ref)
			if volumes[identify(ref)] && err == nil && len(selected) > 0 && labels.SelectorFromSet(selected).Matches(labels.Set(claim.GetLabels())) {
				add(claim)
			}
		}
	}
	for _, r := range p.left {
		nobodys := r.address.Block == "cloud."+p.Cloud // else it had a label, which somebody took away
		if live := p.Snapshot.Get(r.ref); live != nil && nobodys && trust.Same(r.Object, live) && !p.asked(live) {
			add(live)
		}
	}
	slices.SortFunc(targets, func(a, b target) int { return a.address.Compare(b.address) })
	return targets
}

// asked reports whether a StatefulSet that is there has a volume.
func (p *planning) asked(claim *unstructured.Unstructured) bool {
	return slices.ContainsFunc(p.Snapshot.All(statefulSets), func(set *unstructured.Unstructured) bool {
		return slices.Contains(p.volumesOf(set), providers.RefOf(claim))
	})
}

// namedVolume reports whether the operator named a volume, by its own address, that the
// state does not know and that nothing asks for any more, in a namespace of the cloud.
func (p *planning) namedVolume(t target) bool {
	return t.ref.GVK.GroupKind() == kinds.PersistentVolumeClaim && p.ownNamespace(t.ref.Namespace) && p.names(t.address.String())
}

// ownNamespace reports whether a namespace is the cloud's own, or one that kolla made.
func (p *planning) ownNamespace(name string) bool {
	return name == p.Namespace || p.owns(p.Snapshot.Get(providers.Ref{GVK: namespaces, Name: name}))
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
		Warning: len(p.records) > 0 || p.State.Lineage != "",
		Summary: summary,
		Detail: fmt.Sprintf("Left alone: %s. A label proves nothing: anybody can have given it to them, and kolla deletes only what the state knows by its UID. "+rebuildCommand+" Otherwise, if nothing needs them, delete them with kubectl.",
			words.Few(names, 6), "them"),
	})
}

// listedKinds are the kinds that the plan has read.
func (p *planning) listedKinds() []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, scope := range slices.Concat(p.needed(), p.compared()) {
		kinds = append(kinds, scope.GVK)
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(kinds)
}

// addressOf is the address of an object that the state does not know. Its block
// is the one that was written on the object, unless that is a copy of another
// one, or else the service that it is labelled with.
func (p *planning) addressOf(ref providers.Ref, annotations, labels map[string]string) addrs.Object {
	address := addrs.Object{Block: "cloud." + p.Cloud, Kind: ref.GVK.Kind, Name: ref.Name}
	if service := labels[providers.LabelService]; service != "" {
		address.Block = cmp.Or(p.services.block[service], "service."+service)
	}
	if ref.Namespace != p.Namespace {
		address.Namespace = ref.Namespace
	}
	written, err := addrs.ParseObject(annotations[providers.AnnotationAddress])
	if err != nil || p.recorded[written] != nil || written.Kind != address.Kind || written.Name != address.Name {
		return address
	}
	address.Block = written.Block
	return address
}

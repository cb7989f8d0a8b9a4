package planner

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
)

// destroy plans to delete all that the state knows, and all that carries the
// cloud's label. What holds data is kept unless it was named.
func (p *planning) destroy() {
	var targets []target
	for i := range p.records {
		targets = append(targets, p.records[i].target(p.Snapshot))
	}
	targets = slices.DeleteFunc(append(targets, p.unrecorded()...), func(t target) bool { return !p.includes(t.address) })
	p.remove(targets, ReasonDestroy)
	p.linkDeletes()
}

// unrecorded finds live objects that carry the cloud's label and that the state
// does not know, among the kinds that were listed: the volumes that StatefulSets
// asked for, and what a lost state knew. What belongs to another object goes with
// that one.
func (p *planning) unrecorded() []target {
	known := map[identity]bool{}
	for _, r := range p.records {
		known[identify(r.ref)] = true
	}
	left := p.volumesOfOthers()
	var targets []target
	for _, kind := range p.listedKinds() {
		for _, live := range p.Snapshot.All(kind) {
			ref := providers.Ref{GVK: kind, Namespace: live.GetNamespace(), Name: live.GetName()}
			if known[identify(ref)] || left[identify(ref)] || !p.labelled(live) || len(live.GetOwnerReferences()) > 0 {
				continue
			}
			known[identify(ref)] = true
			t := target{ref: ref, live: live, address: p.addressOf(ref, live.GetAnnotations(), live.GetLabels())}
			if _, let := p.released(t.address); let {
				continue
			}
			if kind.GroupKind() == providers.SecretKind && live.GetAnnotations()[providers.AnnotationRevision] != "" {
				t.holds = "generated values"
			}
			targets = append(targets, t)
		}
	}
	slices.SortFunc(targets, func(a, b target) int { return a.address.Compare(b.address) })
	return targets
}

// volumesOfOthers are the claims of StatefulSets that are not kolla's any more, or
// that a removed block lets go. Their own labels say nothing: what a released
// StatefulSet asks for later still has those that its templates had.
func (p *planning) volumesOfOthers() map[identity]bool {
	left := map[identity]bool{}
	for _, set := range p.Snapshot.All(statefulSets) {
		ref := providers.RefOf(set)
		address := p.addressOf(ref, set.GetAnnotations(), set.GetLabels())
		if r := p.known[identify(ref)]; r != nil {
			address = r.recordedAddress()
		}
		if _, let := p.released(address); p.labelled(set) && !let {
			continue
		}
		for _, claim := range p.volumesOf(set) {
			left[identify(claim)] = true
		}
	}
	return left
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
func (p *planning) addressOf(ref providers.Ref, annotations, labels map[string]string) lang.Address {
	address := lang.Address{Block: "cloud." + p.Cloud, Kind: ref.GVK.Kind, Name: ref.Name}
	if service := labels[providers.LabelService]; service != "" {
		address.Block = cmp.Or(p.services.block[service], "service."+service)
	}
	if ref.Namespace != p.Namespace {
		address.Namespace = ref.Namespace
	}
	written, err := lang.ParseAddress(annotations[providers.AnnotationAddress])
	if err != nil || p.recorded[written] != nil || written.Kind != address.Kind || written.Name != address.Name {
		return address
	}
	address.Block = written.Block
	return address
}

package planner

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/objects"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// staying are the volumes that a StatefulSet leaves behind when it is deleted.
func (p *planning) staying(set *unstructured.Unstructured) []providers.Ref {
	if set.GroupVersionKind().GroupKind() != kinds.StatefulSet || objects.TakesVolumesAlong(set) {
		return nil
	}
	going := map[providers.Ref]bool{}
	for _, a := range p.actions {
		if a.Verb == plans.Delete {
			going[a.Ref] = true
		}
	}
	return slices.DeleteFunc(inventory.VolumesOf(p.Snapshot, set), func(ref providers.Ref) bool { return going[ref] })
}

// keepVolumes names the volumes that deleted StatefulSets leave behind.
func (p *planning) keepVolumes() {
	for _, a := range p.actions {
		if a.Verb != plans.Delete || a.Ref.GVK.GroupKind() != kinds.StatefulSet {
			continue
		}
		refs := p.unmentioned(p.staying(p.Snapshot.Get(a.Ref)))
		fate := "takes it up again if it comes back"
		if heir := p.heirOf(a.Address); heir != "" && len(refs) > 0 {
			fate = heir + " does not take up"
		}
		for _, ref := range refs {
			live := p.Snapshot.Get(ref)
			p.kept = append(p.kept, plans.Kept{
				Address: p.inv.AddressFor(ref, live.GetAnnotations(), live.GetLabels()),
				Ref:     ref,
				UID:     live.GetUID(),
				Holds:   fmt.Sprintf("the data of %s, which %s", a.Ref.Name, fate),
			})
		}
	}
}

// unmentioned leaves out the volumes that a loss says stay behind: to name them among
// what may be deleted would be the wrong advice.
func (p *planning) unmentioned(refs []providers.Ref) []providers.Ref {
	return slices.DeleteFunc(refs, func(ref providers.Ref) bool {
		return slices.ContainsFunc(p.losses, func(l plans.Loss) bool { return l.Kept && slices.Contains(l.Refs, ref) })
	})
}

// heirOf is the block whose object has the place now of that of a recorded address;
// empty: none has.
func (p *planning) heirOf(address addrs.Object) string {
	for i := range p.inv.Records {
		if r := &p.inv.Records[i]; (r.Moved || r.Renamed) && r.RecordedAddress() == address {
			return r.Address.Block
		}
	}
	return ""
}

func namesOf(refs []providers.Ref) []string {
	var names []string
	for _, ref := range refs {
		names = append(names, ref.Name)
	}
	return names
}

// reuseVolumes says of new StatefulSets that they take up volumes that are there; of
// those made again as well, where what they declare of their volumes may be another
// size or class than these have.
func (p *planning) reuseVolumes(ctx context.Context) error {
	var scopes []providers.Scope
	for _, s := range p.subjects {
		if s.takesUpVolumes() {
			scopes = append(scopes, providers.Scope{GVK: inventory.Claims, Namespace: s.action.Ref.Namespace})
		}
	}
	if err := p.Snapshot.Try(ctx, scopes...); err != nil {
		return fmt.Errorf("read which volumes there are: %w", err)
	}
	for _, s := range p.subjects {
		if !s.takesUpVolumes() {
			continue
		}
		if names := namesOf(inventory.VolumesOf(p.Snapshot, s.object.Manifest)); len(names) > 0 {
			s.action.Reasons = append(s.action.Reasons, plans.Reason{Kind: plans.ReasonReuse, Detail: words.Few(names, 3)})
		}
	}
	return nil
}

// takesUpVolumes reports whether the action makes a StatefulSet that has what volumes
// there are of its name.
func (s *subject) takesUpVolumes() bool {
	switch s.action.Verb {
	case plans.Create:
		return objects.OwnVolumes(s.object.Manifest) != ""
	case plans.Replace:
		return objects.OwnVolumes(s.object.Manifest) != "" && !objects.TakesVolumesAlong(s.live)
	}
	return false
}

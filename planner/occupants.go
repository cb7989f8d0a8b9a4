package planner

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// mayEmpty reports whether a namespace may go with what others have in it: only if the
// operator named it by its address, and kolla itself leaves nothing there.
func (p *planning) mayEmpty(t target) bool {
	return !p.leavesIn(t.ref.Name) && p.inv.DeleteData.Has(t.address.String())
}

// leavesIn reports whether something in a namespace is to stay that is kolla's, or that
// Kubernetes itself needs.
func (p *planning) leavesIn(namespace string) bool {
	if inventory.SystemNamespace(namespace) {
		return true
	}
	if slices.ContainsFunc(p.inv.Records, func(r inventory.Record) bool { return r.Ref.Namespace == namespace && p.inv.Unread(r.Ref) != nil }) {
		return true
	}
	known := map[types.UID]bool{}
	for _, r := range p.inv.Records {
		known[types.UID(r.State.UID)] = true
	}
	going := plans.Going(p.actions)
	return slices.ContainsFunc(p.inv.Inside[namespace].Objects, func(o metav1.PartialObjectMetadata) bool {
		volume := o.GroupVersionKind().GroupKind() == kinds.PersistentVolumeClaim && o.Labels[providers.LabelCloud] == p.Cloud && len(o.OwnerReferences) == 0
		kept := slices.ContainsFunc(p.kept, func(k plans.Kept) bool { return k.UID == o.UID })
		return (known[o.UID] || volume || kept) && !going[o.UID] && o.DeletionTimestamp == nil
	})
}

// occupy says of the deletion of a namespace what goes with it that nothing else of the
// plan deletes.
func (p *planning) occupy(a *plans.Action) {
	if occupants := p.occupants(a.Ref.Name); len(occupants) > 0 {
		a.Occupied = true
		a.Holds = "everything in it, with " + words.Few(occupants, 4)
	}
}

// occupiedRemedy says what to do about a namespace that is to go, and is not empty.
// What others put there may come back as often as it is deleted.
func (p *planning) occupiedRemedy(t target) string {
	remedy := "Put its declaration back; or delete or move what is in it first; or "
	if !p.leavesIn(t.ref.Name) {
		remedy += fmt.Sprintf("delete it with whatever is in it by %s ('*' does not stand for that); or ", words.Option("-delete-data", t.address.String()))
	}
	return remedy + "keep it and have kolla forget it:\n\n" + forgetting(t.address)
}

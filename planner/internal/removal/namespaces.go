package removal

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// occupants lists the objects in a namespace that the removals so far do not delete.
func (m *remover) occupants(namespace string) []string {
	if inventory.SystemNamespace(namespace) {
		return []string{"what Kubernetes itself needs"}
	}
	contents := m.inv.Inside[namespace]
	var names []string
	for _, o := range contents.Occupants(plans.Going(m.result.Actions)) {
		names = append(names, o.Ref.String())
	}
	for _, r := range m.inv.Records {
		if r.Ref.Namespace == namespace && m.inv.Unread(r.Ref) != nil {
			names = append(names, r.Ref.String())
		}
	}
	return append(names, plans.Unlisted(contents, m.result.Actions)...)
}

// keepsIn reports whether objects in a namespace stay that are kolla's, or that Kubernetes
// itself needs.
func (m *remover) keepsIn(namespace string) bool {
	if inventory.SystemNamespace(namespace) {
		return true
	}
	if slices.ContainsFunc(m.inv.Records, func(r inventory.Record) bool { return r.Ref.Namespace == namespace && m.inv.Unread(r.Ref) != nil }) {
		return true
	}
	known := map[types.UID]bool{}
	for _, r := range m.inv.Records {
		known[types.UID(r.State.UID)] = true
	}
	going := plans.Going(m.result.Actions)
	return slices.ContainsFunc(m.inv.Inside[namespace].Objects, func(o metav1.PartialObjectMetadata) bool {
		volume := o.GroupVersionKind().GroupKind() == kinds.PersistentVolumeClaim && o.Labels[providers.LabelCloud] == m.inv.Input.Cloud && len(o.OwnerReferences) == 0
		kept := slices.ContainsFunc(m.result.Kept, func(k plans.Kept) bool { return k.UID == o.UID })
		return (known[o.UID] || volume || kept) && !going[o.UID] && o.DeletionTimestamp == nil
	})
}

// occupiedRemedy says how to go on with a namespace that is not empty. Others may create
// their objects again as often as they are deleted. keeps: kolla itself keeps objects there.
func occupiedRemedy(c removable, keeps bool) string {
	remedy := "To keep it, put its declaration back. To delete it, first delete or move what is in it."
	if !keeps {
		remedy += fmt.Sprintf(" To delete it with all that is in it, plan with %s ('*' is not enough).", words.Option("-delete-data", c.address.String()))
	}
	return remedy + leftWith(removedBlock(c.address), "it")
}

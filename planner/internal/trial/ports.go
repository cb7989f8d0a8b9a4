package trial

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// portTaken is in the API server's message about a node port of another Service.
const portTaken = "provided port is already allocated"

// portAdvice says how to go on if a new Service asks for the node port of another one; empty:
// it does not. The plan may delete the other Service, but only after the actions on its
// dependants, which need the new Service by then.
func portAdvice(inv *inventory.Inventory, selected func(addrs.Object) bool, object *providers.Object, r dryrun.Refusal) string {
	kind := object.Ref().GVK
	if kind.GroupKind() != kinds.Service || !strings.Contains(r.Text(), portTaken) {
		return ""
	}
	wanted := dryrun.NodePorts(object.Manifest)
	for i := range inv.Records {
		old := &inv.Records[i]
		live := inv.Input.Snapshot.Get(old.Ref)
		if old.Ref.GVK != kind || !inv.Owns(live) || !selected(inv.Successor(old)) {
			continue
		}
		_, released := inventory.Released(inv.Input.Removals, old.RecordedAddress())
		ports := slices.DeleteFunc(dryrun.NodePorts(live), func(port int64) bool { return !slices.Contains(wanted, port) })
		if inv.DeclarationByRef(old.Ref) != nil || released || len(ports) == 0 {
			continue
		}
		advice := fmt.Sprintf("%s has node port %d, and this plan deletes it only when the new one is there.", old.Ref, ports[0])
		if was, is := inventory.ServiceOf(live), inventory.ServiceOf(object.Manifest); was != "" && is != "" && was != is {
			advice += fmt.Sprintf(" To keep the name that the service has in the cluster, say in its block:\n\n  name = %q\n\nOtherwise delete", was)
		} else {
			advice += " Delete"
		}
		advice += fmt.Sprintf(" the old one first; nothing answers on that port from then on until the apply:\n\n  kubectl delete service --namespace %s %s", old.Ref.Namespace, old.Ref.Name)
		return advice
	}
	return "Another Service of the cluster has that node port. Choose another one, or find out whose it is:\n\n  kubectl get services --all-namespaces"
}

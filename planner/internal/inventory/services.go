package inventory

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
)

// serviceNames joins blocks and the names of their services in the cluster. A block chooses
// the name, so an address does not contain it. The label of the objects does.
type serviceNames struct {
	block    map[string]string // by the name in the cluster
	declared map[string]string // the name in the cluster, by block
}

// nameServices reads the labels of declared and recorded objects, and marks the records of
// services that have another name now.
func nameServices(inv *Inventory) {
	inv.services = serviceNames{block: map[string]string{}, declared: map[string]string{}}
	for i := range inv.Input.Objects {
		o := &inv.Input.Objects[i]
		if name := calledIn(o.Address.Block, o.Manifest); name != "" {
			inv.services.declared[o.Address.Block] = name
		}
		if name := ServiceOf(o.Manifest); name != "" {
			inv.services.block[name] = o.Address.Block
		}
	}
	for i := range inv.Records {
		r := &inv.Records[i]
		live := inv.Input.Snapshot.Get(r.Ref)
		if !trust.Same(r.State, live) {
			continue
		}
		was := calledIn(r.Address.Block, live)
		if was == "" {
			continue
		}
		if service := ServiceOf(live); service != "" && inv.services.block[service] == "" {
			inv.services.block[service] = r.RecordedAddress().Block
		}
		is := inv.services.declared[r.Address.Block]
		r.Renamed = is != "" && is != was && inv.Declared[r.Address] == nil
	}
}

// ServiceOf returns the name in the cluster of the object's service; empty: it has none. The
// object may be nil.
func ServiceOf(object *unstructured.Unstructured) string {
	if object == nil {
		return ""
	}
	labels, _, _ := unstructured.NestedFieldNoCopy(object.Object, "metadata", "labels")
	values, _ := labels.(map[string]any)
	name, _ := values[providers.LabelService].(string)
	return name
}

// calledIn returns the name in the cluster of the service of an object, or the name of the
// only object of a secret block; empty: the object belongs to neither.
func calledIn(block string, object *unstructured.Unstructured) string {
	const secret = "secret"
	if object != nil && strings.Contains(block, secret) && addrs.TypeOf(block) == secret {
		return object.GetName()
	}
	return ServiceOf(object)
}

// Part identifies an object within its block, whatever the name of the service is.
type Part struct{ Block, Rest string }

// PartOf removes the name of the service, or secret block, from the name of one of its
// objects.
func PartOf(block string, object *unstructured.Unstructured) (of Part, ok bool) {
	name := calledIn(block, object)
	rest, ok := strings.CutPrefix(object.GetName(), name)
	return Part{block, rest}, ok && name != ""
}

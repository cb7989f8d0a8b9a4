package inventory

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
)

// Labelled reports whether an object has the label of the cloud. Anybody can write that
// label.
func Labelled(live *unstructured.Unstructured, cloud string) bool {
	return live.GetLabels()[providers.LabelCloud] == cloud
}

// NamespaceLive reports whether objects can be created in the namespace now.
func NamespaceLive(snapshot *providers.Snapshot, name string) bool {
	if name == "" {
		return true
	}
	live := snapshot.Get(providers.Ref{GVK: Namespaces, Name: name})
	return live != nil && live.GetDeletionTimestamp() == nil
}

// Adopted reports whether the operator named the object to be taken over. An import block
// counts once: a later object in the same place is another object.
func Adopted(inv *Inventory, address addrs.Object) bool {
	if slices.Contains(inv.Input.Adopt, address.String()) {
		return true
	}
	object := inv.Declared[address]
	if object == nil || !Imported(inv.Input.Imports, address) {
		return false
	}
	r := inv.RecordForObject(object)
	return r == nil || r.State.UID == ""
}

// ValuesOf returns the values of a live Secret. A declared Secret that is not kolla's has no
// values: nothing may come from it.
func ValuesOf(inv *Inventory, namespace, name string) map[string][]byte {
	ref := providers.Ref{GVK: Secrets, Namespace: namespace, Name: name}
	live := inv.Input.Snapshot.Get(ref)
	if object := inv.DeclarationByRef(ref); object != nil && live != nil && !Adopted(inv, object.Address) {
		if r := inv.RecordForObject(object); r == nil || !trust.Same(r.State, live) {
			return nil
		}
	}
	return providers.ValuesOf(live)
}

// Unrecorded is a live object that the state does not know.
type Unrecorded struct {
	Address addrs.Object
	Ref     providers.Ref
	Live    *unstructured.Unstructured
}

// UnrecordedObjects returns the listed objects that have the cloud's label and no record:
// volumes of StatefulSets, objects of a lost state, and objects that somebody else labelled.
// Objects with an owner are left out, because the cluster deletes them with their owner.
func UnrecordedObjects(inv *Inventory) []Unrecorded {
	known := map[Identity]bool{}
	for _, r := range inv.Records {
		known[Identify(r.Ref)] = true
	}
	var found []Unrecorded
	for _, kind := range listedKinds(inv) {
		for _, live := range inv.Input.Snapshot.All(kind) {
			ref := providers.Ref{GVK: kind, Namespace: live.GetNamespace(), Name: live.GetName()}
			if known[Identify(ref)] || !Labelled(live, inv.Input.Cloud) || len(live.GetOwnerReferences()) > 0 {
				continue
			}
			known[Identify(ref)] = true
			address := inv.AddressFor(ref, live.GetAnnotations(), live.GetLabels())
			if _, released := Released(inv.Input.Removals, address); !released {
				found = append(found, Unrecorded{address, ref, live})
			}
		}
	}
	slices.SortFunc(found, func(a, b Unrecorded) int { return a.Address.Compare(b.Address) })
	return found
}

// VolumesOf returns the claims in the cluster that the pods of a StatefulSet have, or would
// have. A claim belongs to a StatefulSet by its name, and stays when the StatefulSet is
// deleted.
func VolumesOf(snapshot *providers.Snapshot, set *unstructured.Unstructured) []providers.Ref {
	var refs []providers.Ref
	for _, name := range ClaimNames(set) {
		pattern := regexp.MustCompile("^" + regexp.QuoteMeta(name+"-"+set.GetName()) + "-[0-9]+$")
		for _, claim := range snapshot.All(Claims) {
			if claim.GetNamespace() == set.GetNamespace() && pattern.MatchString(claim.GetName()) {
				refs = append(refs, providers.Ref{GVK: Claims, Namespace: claim.GetNamespace(), Name: claim.GetName()})
			}
		}
	}
	slices.SortFunc(refs, func(a, b providers.Ref) int { return naturalOrder(a.Name, b.Name) })
	return refs
}

// naturalOrder sorts shorter names first, so that numbers at their ends are in order.
func naturalOrder(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	if a < b {
		return -1
	}
	return 1
}

// Dependants returns, for each address, the addresses of the actions on the objects that
// depend on it: as recorded, or, for objects without a record, as declared.
func Dependants(inv *Inventory) map[addrs.Object][]addrs.Object {
	dependants := map[addrs.Object][]addrs.Object{}
	for i := range inv.Records {
		r := &inv.Records[i]
		for _, text := range r.State.DependsOn {
			if on, err := addrs.ParseObject(text); err == nil {
				dependants[on] = append(dependants[on], actedAs(inv, r))
			}
		}
	}
	for address, object := range inv.Declared {
		if inv.RecordByAddress(address) == nil {
			for _, on := range object.DependsOn {
				dependants[on] = append(dependants[on], address)
			}
		}
	}
	return dependants
}

// actedAs returns the address of the action on a recorded object.
func actedAs(inv *Inventory, r *Record) addrs.Object {
	if object := inv.DeclarationByRef(r.Ref); object != nil {
		return object.Address
	}
	return r.RecordedAddress()
}

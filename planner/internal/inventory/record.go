package inventory

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Record is an object of the state.
type Record struct {
	State   *state.Object
	Address addrs.Object // after moved blocks; State has the address before
	Family  addrs.Object
	Ref     providers.Ref
	Moved   bool
	// Renamed: its service has another name in the cluster, so its object has another name
	// too.
	Renamed bool
}

// RecordedAddress returns the address in the state.
func (r *Record) RecordedAddress() addrs.Object {
	if !r.Moved {
		return r.Address
	}
	address, err := addrs.ParseObject(r.State.Address)
	if err != nil {
		return r.Address
	}
	return address
}

// Absence returns why the object is not in the cluster, if it is not: kolla was deleting it,
// or somebody else deleted it.
func (r *Record) Absence() plans.ReasonKind {
	if r.State.Deleting {
		return plans.ReasonUnfinished
	}
	return plans.ReasonGone
}

// NowIn returns the block of the new object if a moved block or a renamed service makes kolla
// create the object under another name and delete the old one. If a moved block changes the name in
// the address, NowIn returns a sentence about the new object instead. Empty: neither is so.
func (r *Record) NowIn() string {
	switch was := r.RecordedAddress(); {
	case !r.Moved && !r.Renamed:
		return ""
	case r.Moved && (was.Name != r.Address.Name || was.Kind != r.Address.Kind):
		return fmt.Sprintf("moved to %s, which is another object: the new one is created, and this one is deleted", r.Address)
	}
	return r.Address.Block
}

// Is reports whether the record belongs to the live object, by its UID. The record may be nil.
func (r *Record) Is(live *unstructured.Unstructured) bool {
	return r != nil && r.State.UID == string(live.GetUID())
}

// MovedFrom reports whether the state has the object at another address. The record may be
// nil.
func (r *Record) MovedFrom(address addrs.Object) bool {
	return r != nil && r.State.Address != address.String()
}

// indexRecords gives the objects of the state their present addresses. The warnings are
// about moved blocks without an effect.
func indexRecords(inv *Inventory) (unusable, warnings []plans.Problem) {
	for i := range inv.Input.State.Objects {
		object := &inv.Input.State.Objects[i]
		r := Record{State: object, Ref: providers.Ref{
			GVK:       schema.FromAPIVersionAndKind(object.APIVersion, object.Kind),
			Namespace: object.Namespace,
			Name:      object.Name,
		}}
		var err error
		if r.Address, err = addrs.ParseObject(object.Address); err == nil && object.Family != "" {
			r.Family, err = addrs.ParseObject(object.Family)
		}
		if err != nil {
			unusable = append(unusable, plans.Problem{Summary: "the state cannot be used", Detail: err.Error()})
			continue
		}
		if object.Left {
			inv.Left[Identify(r.Ref)] = &r
			continue
		}
		inv.Records = append(inv.Records, r)
	}
	warnings = moveRecords(inv)
	for i := range inv.Records {
		r := &inv.Records[i]
		inv.recorded[r.Address] = r
		if id := Identify(r.Ref); inv.known[id] == nil {
			inv.known[id] = r
		}
	}
	return unusable, warnings
}

// Package inventory joins the three sources of an object: its declaration, its record in the state,
// and the live object in the cluster.
//
// Index checks the input and needs no cluster. Observe and ObserveSelected then make most LIST
// requests of a plan; package trial lists the pods of a claim that is to be replaced. Later
// stages look things up. versions.go chooses the old version of an object that stays, and objects.go
// reads facts from one object, declared or live.
package inventory

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/order"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// These kinds have special rules. kolla reads them in these versions.
var (
	Namespaces   = kinds.Namespace.WithVersion("v1")
	Secrets      = kinds.Secret.WithVersion("v1")
	Claims       = kinds.PersistentVolumeClaim.WithVersion("v1")
	StatefulSets = kinds.StatefulSet.WithVersion("v1")
	Nodes        = schema.GroupVersionKind{Version: "v1", Kind: "Node"}
	Pods         = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
)

// Inventory has the declared, recorded and live objects of a plan.
type Inventory struct {
	// Input is the input of Index with all dependencies, and without a nil State or a zero
	// Parallelism.
	Input Input
	// Declared has the declared objects by their addresses.
	Declared map[addrs.Object]*providers.Object
	// Records are the records of the state, in its order, without the volumes in Left.
	Records []Record
	// Left has the volumes that earlier applies left behind.
	Left map[Identity]*Record
	// DeleteData is the operator's permission to delete data.
	DeleteData *Permission

	// Rules are the webhooks and policies of the cluster; nil of a destroy. Observe sets
	// them.
	Rules *proof.Rules
	// Inside has the contents of the namespaces that the plan may delete. ObserveSelected
	// sets it.
	Inside map[string]providers.Contents
	// Former has the former versions of the selected objects. ObserveSelected sets it.
	Former Former

	byIdentity map[Identity]*providers.Object
	recorded   map[addrs.Object]*Record
	known      map[Identity]*Record
	services   serviceNames
	scaling    scaling
}

// Index checks and indexes the input. If no plan can be made from it, Index returns nil and
// the problems; otherwise the problems are warnings. A destroy ignores problems of the
// declarations.
func Index(in Input) (*Inventory, []plans.Problem) {
	inv := newInventory(in)
	problems := checkState(&inv.Input)
	unusable, warnings := indexRecords(inv)
	problems = append(problems, unusable...)
	declared := slices.Concat(indexDeclared(inv), checkDependencies(inv), checkAdopted(inv), checkMoves(inv), checkTriggers(inv))
	if !in.Destroy {
		problems = append(problems, declared...)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return inv, warnings
}

// newInventory returns an inventory without an index.
func newInventory(in Input) *Inventory {
	if in.State == nil {
		in.State = &state.State{}
	}
	in.Objects = order.Complete(in.Objects)
	if in.Parallelism <= 0 {
		in.Parallelism = providers.Parallelism
	}
	return &Inventory{
		Input:      in,
		Declared:   map[addrs.Object]*providers.Object{},
		Left:       map[Identity]*Record{},
		DeleteData: newPermission(in.DeleteData),
		byIdentity: map[Identity]*providers.Object{},
		recorded:   map[addrs.Object]*Record{},
		known:      map[Identity]*Record{},
	}
}

// checkState refuses the state of another cluster or cloud.
func checkState(in *Input) []plans.Problem {
	var problems []plans.Problem
	for _, err := range []error{in.State.CheckCluster(in.Cluster.UID, in.Cluster.Server), in.State.CheckCloud(in.Cloud)} {
		if err != nil {
			summary, advice, _ := strings.Cut(err.Error(), "\n")
			problems = append(problems, plans.Problem{Summary: summary, Detail: advice})
		}
	}
	return problems
}

// DeclarationByRef returns the declaration of the object in the cluster; nil: it has none.
func (inv *Inventory) DeclarationByRef(ref providers.Ref) *providers.Object {
	return inv.byIdentity[Identify(ref)]
}

// RecordByAddress returns the record with the address; nil: there is none.
func (inv *Inventory) RecordByAddress(address addrs.Object) *Record { return inv.recorded[address] }

// RecordByRef returns the record of the object in the cluster; nil: there is none.
func (inv *Inventory) RecordByRef(ref providers.Ref) *Record { return inv.known[Identify(ref)] }

// RecordForObject returns the record of a declared object, whatever its address was when it was
// applied; nil: there is none. A record of another object with the same address does not
// count.
func (inv *Inventory) RecordForObject(object *providers.Object) *Record {
	id := Identify(object.Ref())
	if r := inv.recorded[object.Address]; r != nil && Identify(r.Ref) == id {
		return r
	}
	return inv.known[id]
}

// Accepts reports whether the operator allows to write the object although admission denied its
// dry run.
func (inv *Inventory) Accepts(object *providers.Object) bool {
	return inv.Input.AllowUnverified || object.AllowsUnverified()
}

// Owns reports whether the live object is the recorded one. The object may be nil.
func (inv *Inventory) Owns(live *unstructured.Unstructured) bool {
	if live == nil {
		return false
	}
	r := inv.RecordByRef(providers.RefOf(live))
	return r != nil && trust.Same(r.State, live)
}

// Unread returns why an object could not be read; nil: it was read, or does not exist.
func (inv *Inventory) Unread(ref providers.Ref) error {
	return inv.Input.Snapshot.Unread(providers.Scope{GVK: ref.GVK, Namespace: ref.Namespace})
}

// Successor returns the address that decides about a record without a declaration of its
// own: the new address of the same object, or the present member of its family.
func (inv *Inventory) Successor(r *Record) addrs.Object {
	if object := inv.DeclarationByRef(r.Ref); object != nil {
		return object.Address
	}
	for i := range inv.Input.Objects {
		if o := &inv.Input.Objects[i]; r.Family != (addrs.Object{}) && o.Family == r.Family {
			return o.Address
		}
	}
	return r.Address
}

// AddressFor returns an address for an object that the state does not know. The block comes from
// the object's annotation, unless the annotation was copied from another object, and otherwise from
// the service in the label.
func (inv *Inventory) AddressFor(ref providers.Ref, annotations, labels map[string]string) addrs.Object {
	address := addrs.Object{Block: "cloud." + inv.Input.Cloud, Kind: ref.GVK.Kind, Name: ref.Name}
	if service := labels[providers.LabelService]; service != "" {
		address.Block = cmp.Or(inv.services.block[service], "service."+service)
	}
	if ref.Namespace != inv.Input.Namespace {
		address.Namespace = ref.Namespace
	}
	written, err := addrs.ParseObject(annotations[providers.AnnotationAddress])
	if err != nil || inv.recorded[written] != nil || written.Kind != address.Kind || written.Name != address.Name {
		return address
	}
	address.Block = written.Block
	return address
}

// ServiceName returns the name in the cluster of the service, or secret, of a declared block.
func ServiceName(inv *Inventory, block string) string { return inv.services.declared[block] }

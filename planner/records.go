package planner

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// record is an object of the state.
type record struct {
	*state.Object
	address addrs.Object // as moved blocks say; Address is that of the state
	family  addrs.Object
	ref     providers.Ref
	moved   bool
	// recounted: it moved by a count that came or went, and no moved block says so.
	recounted bool
	// anew: its service has another name in the cluster, and with that its objects have.
	anew bool
}

// recordedAddress is the address that the state has.
func (r *record) recordedAddress() addrs.Object {
	if !r.moved {
		return r.address
	}
	address, err := addrs.ParseObject(r.Address)
	if err != nil {
		return r.address
	}
	return address
}

// absence says why the object is not in the cluster, if it is not: whoever deleted it.
func (r *record) absence() plans.ReasonKind {
	if r.Going {
		return plans.ReasonUnfinished
	}
	return plans.ReasonGone
}

// indexRecords gives the objects of the state the addresses that they have now.
func (p *planning) indexRecords() []plans.Problem {
	var problems []plans.Problem
	for i := range p.State.Objects {
		object := &p.State.Objects[i]
		r := record{Object: object, ref: providers.Ref{
			GVK:       schema.FromAPIVersionAndKind(object.APIVersion, object.Kind),
			Namespace: object.Namespace,
			Name:      object.Name,
		}}
		var err error
		if r.address, err = addrs.ParseObject(object.Address); err == nil && object.Family != "" {
			r.family, err = addrs.ParseObject(object.Family)
		}
		if err != nil {
			problems = append(problems, plans.Problem{Summary: "the state cannot be used", Detail: err.Error()})
			continue
		}
		if object.Left {
			p.left[identify(r.ref)] = &r
			continue
		}
		p.records = append(p.records, r)
	}
	p.moveRecords()
	for i := range p.records {
		r := &p.records[i]
		p.recorded[r.address] = r
		if id := identify(r.ref); p.known[id] == nil {
			p.known[id] = r
		}
	}
	return problems
}

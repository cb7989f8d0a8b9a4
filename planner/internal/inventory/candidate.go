package inventory

import (
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

// Candidate is an object that a plan may act on, by the addresses that name it.
type Candidate struct {
	Address addrs.Object
	Family  addrs.Object // zero: the object has no versions
}

// CandidateOf returns the addresses of a declared object.
func CandidateOf(o *providers.Object) Candidate { return Candidate{o.Address, o.Family} }

// NamedBy reports whether one of the targets is the address of the object, of its family, of
// its block, or of a module around the block.
func (c Candidate) NamedBy(targets ...addrs.Target) bool {
	return slices.ContainsFunc(targets, func(t addrs.Target) bool {
		return t.Has(c.Address) || c.Family != (addrs.Object{}) && t.Object == c.Family
	})
}

// Names returns all texts that name the object.
func (c Candidate) Names() []string {
	parts := addrs.SplitBlock(c.Address.Block)
	names := []string{parts.All(), c.Address.Block, c.Address.String()}
	if c.Family != (addrs.Object{}) {
		names = append(names, c.Family.String())
	}
	return append(names, addrs.Modules(parts.Module)...)
}

// TargetsOf parses the addresses of options. The target of an invalid address has no
// objects.
func TargetsOf(names []string) []addrs.Target {
	targets := make([]addrs.Target, len(names))
	for i, name := range names {
		target, err := addrs.ParseTarget(name)
		if err != nil {
			target = addrs.Target{Block: name}
		}
		targets[i] = target
	}
	return targets
}

package inventory

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

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

// Names returns all names of the object in options.
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

// Identity names an object without the version of its kind. An object that was applied as
// autoscaling/v1 keeps its Identity if the configuration declares it as autoscaling/v2.
type Identity struct {
	Kind            schema.GroupKind
	Namespace, Name string
}

// Identify returns the identity of an object.
func Identify(ref providers.Ref) Identity {
	return Identity{ref.GVK.GroupKind(), ref.Namespace, ref.Name}
}

// Permission has the names of -delete-data: addresses of objects, blocks and modules whose
// data may be deleted. "*" stands for all of them. It records which names were used, so that
// a plan can warn of the others. Several goroutines may use it.
type Permission struct {
	given []string
	mu    sync.Mutex
	used  map[string]bool
}

func newPermission(given []string) *Permission {
	p := &Permission{used: map[string]bool{}}
	for _, t := range TargetsOf(given) {
		p.given = append(p.given, t.String())
	}
	return p
}

// Covers reports whether the operator permits to delete the object with its data: -delete-data
// names the object, its block or a module around the block, or is "*". Covers marks the names
// that it finds as used.
func (p *Permission) Covers(address addrs.Object) bool {
	covered := false
	for _, name := range append(Candidate{Address: address}.Names(), "*") {
		covered = p.Has(name) || covered
	}
	return covered
}

// Has reports whether the operator gave exactly this name.
func (p *Permission) Has(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	given := slices.Contains(p.given, name)
	if given {
		p.used[name] = true
	}
	return given
}

// All reports whether "*" was given.
func (p *Permission) All() bool { return slices.Contains(p.given, "*") }

// Unused returns the names that nothing asked for, except "*".
func (p *Permission) Unused() []string {
	return slices.DeleteFunc(slices.Clone(p.given), func(name string) bool { return name == "*" || p.used[name] })
}

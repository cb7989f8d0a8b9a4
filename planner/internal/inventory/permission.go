package inventory

import (
	"slices"
	"sync"

	"kolla.openstack.org/kolla/lang/addrs"
)

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

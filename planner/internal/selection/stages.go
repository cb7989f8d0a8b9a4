package selection

import (
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/providers/kinds"
)

// after returns the objects of later stages than until, and the objects that will be deleted. If until is empty, it
// returns none. No object is in an earlier stage than its dependencies.
func (g graph) after(inv *inventory.Inventory, until string) []addrs.Object {
	if until == "" {
		return nil
	}
	s := stages{inv: inv, g: g, of: map[addrs.Object]int{}}
	s.checks()
	var out []addrs.Object
	for address, deleted := range g.deleted {
		if deleted || s.stage(address) > slices.Index(configs.Stages, until) {
			out = append(out, address)
		}
	}
	return out
}

// stages has the stages of the objects that stay, as indexes of configs.Stages.
type stages struct {
	inv *inventory.Inventory
	g   graph
	of  map[addrs.Object]int
}

// checks puts the jobs that check an upgrade, and what they need, into the first stage. The namespace that exists
// is not there: it says which release is installed.
func (s stages) checks() {
	var jobs []addrs.Object
	for address, o := range s.inv.Declared {
		if o.Stage == configs.StageChecks {
			jobs = append(jobs, address)
		}
	}
	for address := range closure(jobs, func(a addrs.Object) []addrs.Object { return s.g.needs[a] }) {
		if s.inv.RecordByAddress(address) == nil || s.inv.Declared[address].Ref().GVK.GroupKind() != kinds.Namespace {
			s.of[address] = 0
		}
	}
}

func (s stages) stage(address addrs.Object) int {
	if at, known := s.of[address]; known {
		return at
	}
	at := 1
	if o := s.inv.Declared[address]; o != nil && o.Stage != "" {
		at = slices.Index(configs.Stages, o.Stage)
	}
	for _, needed := range s.g.needs[address] {
		at = max(at, s.stage(needed))
	}
	s.of[address] = at
	return at
}

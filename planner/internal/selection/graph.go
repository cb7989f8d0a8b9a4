package selection

import (
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// graph has the dependencies that close a selection. An object that stays needs its declared
// dependencies. An object that will be deleted needs that its recorded dependants are
// deleted, or changed, before.
type graph struct {
	deleted    map[addrs.Object]bool           // all other objects stay
	needs      map[addrs.Object][]addrs.Object // declared dependencies
	dependants map[addrs.Object][]addrs.Object // recorded dependants
}

// graphOf returns the graph of a plan. Objects in a namespace that will be deleted count as
// its dependants.
func graphOf(inv *inventory.Inventory, candidates []inventory.Candidate) graph {
	g := graph{deleted: map[addrs.Object]bool{}, needs: map[addrs.Object][]addrs.Object{}, dependants: inventory.Dependants(inv)}
	for _, c := range candidates {
		g.deleted[c.Address] = inv.Input.Destroy || inv.Declared[c.Address] == nil
	}
	for address, object := range inv.Declared {
		g.needs[address] = Dependencies(object)
	}
	for i := range inv.Records {
		namespace := &inv.Records[i]
		if namespace.Ref.GVK.GroupKind() != kinds.Namespace {
			continue
		}
		for _, inside := range inv.Records {
			if inside.Ref.Namespace == namespace.Ref.Name {
				g.dependants[namespace.Address] = append(g.dependants[namespace.Address], inside.Address)
			}
		}
	}
	return g
}

// Dependencies returns the dependencies of an object in the order of their addresses.
func Dependencies(object *providers.Object) []addrs.Object {
	dependencies := slices.Clone(object.DependsOn)
	slices.SortFunc(dependencies, addrs.Object.Compare)
	return slices.Compact(dependencies)
}

// targeted closes the targets: an object that stays adds its dependencies, and an object
// that will be deleted adds its dependants.
func (g graph) targeted(start []addrs.Object) Set {
	return closure(start, func(a addrs.Object) []addrs.Object {
		if g.deleted[a] {
			return g.dependants[a]
		}
		return g.needs[a]
	})
}

// excluded closes the exclusions. An excluded object also excludes the objects that stay and
// need it, and the objects that would be deleted although it still uses them. An object that
// needs it and will be deleted can be deleted without it.
func (g graph) excluded(start []addrs.Object) Set {
	needed, uses := inverse(g.needs), inverse(g.dependants)
	return closure(start, func(a addrs.Object) []addrs.Object {
		out := slices.DeleteFunc(slices.Clone(needed[a]), func(n addrs.Object) bool { return g.deleted[n] })
		for _, used := range uses[a] {
			if g.deleted[used] {
				out = append(out, used)
			}
		}
		return out
	})
}

// closure returns all addresses that can be reached, the start included. It maps each address to
// its predecessor on a shortest path.
func closure(start []addrs.Object, next func(addrs.Object) []addrs.Object) Set {
	reached := Set{}
	for _, address := range start {
		reached[address] = address
	}
	for queue := slices.Clone(start); len(queue) > 0; queue = queue[1:] {
		for _, address := range next(queue[0]) {
			if !reached.Has(address) {
				reached[address] = queue[0]
				queue = append(queue, address)
			}
		}
	}
	return reached
}

func inverse(edges map[addrs.Object][]addrs.Object) map[addrs.Object][]addrs.Object {
	out := map[addrs.Object][]addrs.Object{}
	for from, list := range edges {
		for _, to := range list {
			out[to] = append(out[to], from)
		}
	}
	return out
}

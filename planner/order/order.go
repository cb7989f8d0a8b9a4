// Package order says which objects of a configuration come before which others, by what
// the objects themselves say: Edges are dependencies, Stage is the usual order of kinds.
package order

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/dag"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
)

// Edges are the dependencies that nobody declares and that can be read from the objects:
// on the namespace, on the definition of the kind, on objects that are named, and on the
// workload behind a webhook. They are listed by the address of the object that depends,
// each list sorted. Declared dependencies are not in the lists.
//
// With the declared ones they make no cycle: where they would, the weakest of them is
// left out. A cycle of declared dependencies stays.
func Edges(objects []providers.Object) map[lang.Address][]lang.Address {
	x := newIndex(objects)
	var edges []edge
	for i := range objects {
		edges = append(edges, x.edgesOf(i)...)
	}
	edges = append(edges, x.guards()...)
	out := map[lang.Address][]lang.Address{}
	for _, e := range x.acyclic(edges) {
		from := objects[e.from].Address
		out[from] = append(out[from], objects[e.to].Address)
	}
	for from := range out {
		slices.SortFunc(out[from], lang.Address.Compare)
	}
	return out
}

// edge says that an object, by its index, depends on another one.
type edge struct {
	from, to int
	strength strength
}

// strength orders edges: of a cycle, the weakest edge is left out.
type strength int

const (
	guards     strength = iota // an object that a webhook is asked about → the workload behind it
	references                 // an object → an object that it names
	essential                  // an object → its namespace, or the definition of its kind
)

// index finds objects.
type index struct {
	objects  []providers.Object
	byID     map[id]int
	definers map[schema.GroupKind]int // definitions, by the kind that each gives
	declared map[[2]int]bool          // dependencies
	pairs    [][2]int                 // the same, in order
}

// id is what an object is, whatever the version of its kind.
type id struct {
	kind            schema.GroupKind
	namespace, name string
}

func newIndex(objects []providers.Object) *index {
	x := &index{objects: objects, byID: map[id]int{}, definers: map[schema.GroupKind]int{}, declared: map[[2]int]bool{}}
	addresses := make(map[lang.Address]int, len(objects))
	for i := range objects {
		ref := objects[i].Ref()
		addresses[objects[i].Address] = i
		if objects[i].Partial {
			continue // it is there already
		}
		x.byID[id{ref.GVK.GroupKind(), ref.Namespace, ref.Name}] = i
		if kind, ok := defined(objects[i].Manifest); ok {
			x.definers[kind] = i
		}
	}
	for i := range objects {
		for _, on := range objects[i].DependsOn {
			if to, ok := addresses[on]; ok {
				x.declared[[2]int{i, to}] = true
				x.pairs = append(x.pairs, [2]int{i, to})
			}
		}
	}
	return x
}

// defined is the kind that a CustomResourceDefinition gives.
func defined(u *unstructured.Unstructured) (kind schema.GroupKind, ok bool) {
	if u.GroupVersionKind().GroupKind() != definitionKind {
		return schema.GroupKind{}, false
	}
	return schema.GroupKind{Group: text(u.Object, "spec", "group"), Kind: text(u.Object, "spec", "names", "kind")}, true
}

// edgesOf are those of one object to what it needs by itself.
func (x *index) edgesOf(from int) []edge {
	u := x.objects[from].Manifest
	var edges []edge
	add := func(to int, ok bool, strength strength) {
		if ok && to != from {
			edges = append(edges, edge{from, to, strength})
		}
	}
	kind := u.GroupVersionKind().GroupKind()
	if u.GetNamespace() != "" {
		to, ok := x.byID[id{kind: providers.NamespaceKind, name: u.GetNamespace()}]
		add(to, ok, essential)
	}
	to, ok := x.definers[kind]
	add(to, ok, essential)
	for _, named := range namedBy(u) {
		to, ok := x.byID[named]
		add(to, ok, references)
	}
	return edges
}

// acyclic leaves out edges that are declared, that come twice, and that close cycles.
func (x *index) acyclic(edges []edge) []edge {
	strengths := map[[2]int]strength{}
	var kept []edge
	for _, e := range edges {
		pair := [2]int{e.from, e.to}
		if _, twice := strengths[pair]; twice || x.declared[pair] {
			continue
		}
		strengths[pair] = e.strength
		kept = append(kept, e)
	}
	for {
		weakest, found := weakest(x.cycle(kept), strengths)
		if !found {
			return kept
		}
		kept = slices.DeleteFunc(kept, func(e edge) bool { return [2]int{e.from, e.to} == weakest })
		delete(strengths, weakest)
	}
}

// cycle is one that the edges close with the declared dependencies, its first object
// repeated at the end; nil: there is none.
func (x *index) cycle(edges []edge) []int {
	var graph dag.Graph[int]
	for i := range x.objects {
		graph.Add(i)
	}
	for _, pair := range x.pairs {
		graph.Connect(pair[0], pair[1])
	}
	for _, e := range edges {
		graph.Connect(e.from, e.to)
	}
	_, err := graph.Order()
	var cycle *dag.CycleError[int]
	if errors.As(err, &cycle) {
		return cycle.Cycle
	}
	return nil
}

// weakest is the weakest edge of a cycle; of several, the last one; found is false if
// all are declared.
func weakest(cycle []int, strengths map[[2]int]strength) (weakest [2]int, found bool) {
	for i := range len(cycle) - 1 {
		pair := [2]int{cycle[i], cycle[i+1]}
		s, derived := strengths[pair]
		if derived && (!found || s <= strengths[weakest]) {
			weakest, found = pair, true
		}
	}
	return weakest, found
}

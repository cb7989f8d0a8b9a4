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
	edges := slices.Clone(x.declared)
	for i := range objects {
		edges = append(edges, x.edgesOf(i)...)
	}
	edges = append(edges, x.guards()...)
	out := map[lang.Address][]lang.Address{}
	for _, e := range Acyclic(edges) {
		if e.Strength != Fixed {
			from := objects[e.From].Address
			out[from] = append(out[from], objects[e.To].Address)
		}
	}
	for from := range out {
		slices.SortFunc(out[from], lang.Address.Compare)
	}
	return out
}

// Edge says that something comes after something else.
type Edge[K comparable] struct {
	From, To K
	Strength Strength
}

// Strength orders edges: of a cycle, the weakest edge is left out.
type Strength int

// The strengths, the weakest first. The zero value is invalid.
const (
	_         Strength = iota
	Guard              // an object that a webhook is asked about → the workload behind it
	Reference          // an object → an object that it names
	Essential          // an object → its namespace, or the definition of its kind
	Fixed              // declared: never left out
)

// Acyclic leaves out edges that come twice, and of each cycle the weakest edge, if not
// all of it is Fixed. The edges keep their order.
func Acyclic[K comparable](edges []Edge[K]) []Edge[K] {
	type pair [2]K
	strengths := map[pair]Strength{}
	var kept []Edge[K]
	for _, e := range edges {
		if _, twice := strengths[pair{e.From, e.To}]; !twice {
			strengths[pair{e.From, e.To}] = e.Strength
			kept = append(kept, e)
		}
	}
	for {
		cycle := cycleOf(kept)
		var weakest pair
		least := Fixed
		for i := range max(len(cycle)-1, 0) {
			p := pair{cycle[i], cycle[i+1]}
			if s := strengths[p]; s < Fixed && s <= least {
				weakest, least = p, s
			}
		}
		if least == Fixed {
			return kept
		}
		kept = slices.DeleteFunc(kept, func(e Edge[K]) bool { return pair{e.From, e.To} == weakest })
	}
}

// cycleOf is a cycle of the edges, its first node repeated at the end; nil: there is none.
func cycleOf[K comparable](edges []Edge[K]) []K {
	var graph dag.Graph[K]
	for _, e := range edges {
		graph.Connect(e.From, e.To)
	}
	_, err := graph.Order()
	var cycle *dag.CycleError[K]
	if errors.As(err, &cycle) {
		return cycle.Cycle
	}
	return nil
}

// index finds objects.
type index struct {
	objects  []providers.Object
	byID     map[id]int
	definers map[schema.GroupKind]int // definitions, by the kind that each gives
	declared []Edge[int]              // dependencies
}

// id is what an object is, whatever the version of its kind.
type id struct {
	kind            schema.GroupKind
	namespace, name string
}

func newIndex(objects []providers.Object) *index {
	x := &index{objects: objects, byID: map[id]int{}, definers: map[schema.GroupKind]int{}}
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
				x.declared = append(x.declared, Edge[int]{i, to, Fixed})
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
func (x *index) edgesOf(from int) []Edge[int] {
	u := x.objects[from].Manifest
	var edges []Edge[int]
	add := func(to int, ok bool, strength Strength) {
		if ok && to != from {
			edges = append(edges, Edge[int]{from, to, strength})
		}
	}
	kind := u.GroupVersionKind().GroupKind()
	if u.GetNamespace() != "" {
		to, ok := x.byID[id{kind: providers.NamespaceKind, name: u.GetNamespace()}]
		add(to, ok, Essential)
	}
	to, ok := x.definers[kind]
	add(to, ok, Essential)
	for _, named := range namedBy(u) {
		to, ok := x.byID[named]
		add(to, ok, Reference)
	}
	return edges
}

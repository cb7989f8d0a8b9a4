// Package order derives the order of objects from the objects themselves. Edges returns
// dependencies between objects, and Stage is the usual order of kinds.
package order

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/dag"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Complete returns the objects with the dependencies that Edges finds besides those that
// are declared. The given objects stay as they are.
func Complete(objects []providers.Object) []providers.Object {
	edges := Edges(objects)
	out := slices.Clone(objects)
	for i := range out {
		if more := edges[out[i].Address]; len(more) > 0 {
			out[i].DependsOn = slices.Concat(out[i].DependsOn, more)
		}
	}
	return out
}

// Edges returns the dependencies that are not declared but can be read from the objects:
// on the namespace, on the definition of the kind, on objects that are named, and on the
// workload behind a webhook. The key is the address of the dependent object, and each list
// is sorted. Declared dependencies are not in the lists.
//
// Together with the declared dependencies they form no cycle: Edges leaves out the weakest
// edge of each cycle. A cycle of declared dependencies stays.
func Edges(objects []providers.Object) map[addrs.Object][]addrs.Object {
	x := newIndex(objects)
	edges := slices.Clone(x.declared)
	for i := range objects {
		edges = append(edges, x.edgesOf(i)...)
	}
	edges = append(edges, x.guards()...)
	out := map[addrs.Object][]addrs.Object{}
	for _, e := range Acyclic(edges) {
		if e.Strength != Fixed {
			from := objects[e.From].Address
			out[from] = append(out[from], objects[e.To].Address)
		}
	}
	for from := range out {
		slices.SortFunc(out[from], addrs.Object.Compare)
	}
	return out
}

// Edge says that From comes after To.
type Edge[K comparable] struct {
	From, To K
	Strength Strength
}

// Strength orders edges: the weakest edge of a cycle is left out.
type Strength int

// The strengths, the weakest first. The zero value is invalid.
const (
	_         Strength = iota
	Guard              // an object → the workload behind a webhook for its kind
	Reference          // an object → an object that it names
	Essential          // an object → its namespace, or the definition of its kind
	Fixed              // declared: never left out
)

// Acyclic removes duplicate edges, and the weakest edge of each cycle. A cycle in which all
// edges are Fixed stays. The remaining edges keep their order.
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

// cycleOf returns a cycle of the edges, with its first node repeated at the end; nil: there
// is none.
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

// index finds objects by identity, and definitions by kind.
type index struct {
	objects  []providers.Object
	byID     map[id]int
	definers map[schema.GroupKind]int // CustomResourceDefinitions, by the kind that they define
	declared []Edge[int]              // declared dependencies
}

// id identifies an object. The version of its kind does not count.
type id struct {
	kind            schema.GroupKind
	namespace, name string
}

func newIndex(objects []providers.Object) *index {
	x := &index{objects: objects, byID: map[id]int{}, definers: map[schema.GroupKind]int{}}
	addresses := make(map[addrs.Object]int, len(objects))
	for i := range objects {
		ref := objects[i].Ref()
		addresses[objects[i].Address] = i
		if objects[i].Partial {
			continue // the object exists already
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

// defined returns the kind that a CustomResourceDefinition defines; ok is false for other
// objects.
func defined(u *unstructured.Unstructured) (kind schema.GroupKind, ok bool) {
	if u.GroupVersionKind().GroupKind() != kinds.CustomResourceDefinition {
		return schema.GroupKind{}, false
	}
	return schema.GroupKind{Group: text(u.Object, "spec", "group"), Kind: text(u.Object, "spec", "names", "kind")}, true
}

// edgesOf returns the edges of one object to its namespace, to the definition of its kind,
// and to the objects that it names.
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
		to, ok := x.byID[id{kind: kinds.Namespace, name: u.GetNamespace()}]
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

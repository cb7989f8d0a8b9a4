// Package dag orders things that depend on each other, and walks them in
// parallel. It knows nothing of what the things are.
package dag

import (
	"fmt"
	"slices"
	"strings"
)

// Graph is a set of nodes, some of which depend on others. The zero value is an
// empty graph. A graph is not safe for concurrent changes.
//
// Whatever a graph leaves open is decided by the order in which nodes were added,
// so that its answers are always the same for the same input.
type Graph[K comparable] struct {
	index        map[K]int
	nodes        []K
	dependencies [][]int // of each node, in the order they were connected
	turns        map[int]turn
}

// turn is the place of a node in a line.
type turn struct {
	line  string
	stage int
}

// Line puts a node into a stage of a line. A node starts once no node of an earlier stage is
// ready to start or busy. Failures do not block later stages.
func (g *Graph[K]) Line(node K, line string, stage int) {
	if g.turns == nil {
		g.turns = map[int]turn{}
	}
	g.turns[g.add(node)] = turn{line, stage}
}

// Add adds nodes. A node that is there already stays as it is.
func (g *Graph[K]) Add(nodes ...K) {
	for _, node := range nodes {
		g.add(node)
	}
}

// Connect says that node depends on all of dependencies, and adds those of them
// that are not there yet, node first.
func (g *Graph[K]) Connect(node K, dependencies ...K) {
	from := g.add(node)
	for _, dependency := range dependencies {
		g.dependencies[from] = append(g.dependencies[from], g.add(dependency))
	}
}

func (g *Graph[K]) add(node K) int {
	if i, ok := g.index[node]; ok {
		return i
	}
	if g.index == nil {
		g.index = map[K]int{}
	}
	i := len(g.nodes)
	g.index[node] = i
	g.nodes = append(g.nodes, node)
	g.dependencies = append(g.dependencies, nil)
	return i
}

// Order returns all nodes, each after all that it depends on. Nodes keep the
// order in which they were added, except that what a node depends on moves to
// before it. The error is a *CycleError[K] when there is no such order.
func (g *Graph[K]) Order() ([]K, error) {
	order, err := g.order()
	if err != nil {
		return nil, err
	}
	return g.names(order), nil
}

func (g *Graph[K]) names(indexes []int) []K {
	names := make([]K, len(indexes))
	for i, index := range indexes {
		names[i] = g.nodes[index]
	}
	return names
}

func (g *Graph[K]) order() ([]int, error) {
	s := search{
		dependencies: g.dependencies,
		marks:        make([]mark, len(g.nodes)),
		order:        make([]int, 0, len(g.nodes)),
	}
	for node := range g.nodes {
		if cycle := s.visit(node); cycle != nil {
			return nil, &CycleError[K]{Cycle: g.names(cycle)}
		}
	}
	return s.order, nil
}

// search is one depth-first search: linear in nodes and edges.
type search struct {
	dependencies [][]int
	marks        []mark
	path         []int // from where the search started to the node it is at
	order        []int
}

type mark byte

const (
	unseen mark = iota
	onPath
	ordered
)

// visit puts the node into the order, after all that it depends on. It returns
// the first cycle that it meets, its first node repeated at the end.
func (s *search) visit(node int) (cycle []int) {
	switch s.marks[node] {
	case ordered:
		return nil
	case onPath:
		start := slices.Index(s.path, node)
		return append(slices.Clone(s.path[start:]), node)
	}
	s.marks[node] = onPath
	s.path = append(s.path, node)
	for _, dependency := range s.dependencies[node] {
		if cycle := s.visit(dependency); cycle != nil {
			return cycle
		}
	}
	s.path = s.path[:len(s.path)-1]
	s.marks[node] = ordered
	s.order = append(s.order, node)
	return nil
}

// CycleError says that nodes depend on each other in a circle.
type CycleError[K comparable] struct {
	// Cycle goes round once: each node depends on the next, and the last is the
	// first again. A node that depends on itself makes a cycle of length two.
	Cycle []K
}

// Error gives "dependency cycle: a → b → c → a".
func (e *CycleError[K]) Error() string {
	names := make([]string, len(e.Cycle))
	for i, node := range e.Cycle {
		names[i] = fmt.Sprint(node)
	}
	return "dependency cycle: " + strings.Join(names, " → ")
}

// Package dag orders things that depend on each other, and walks them in parallel. It does not
// depend on the type of the things.
package dag

import (
	"fmt"
	"slices"
	"strings"
)

// Graph is a set of nodes, some of which depend on others. The zero value is an
// empty graph. A graph is not safe for concurrent changes.
//
// If several answers are possible, the order in which nodes were added decides. The answers are
// always the same for the same input.
type Graph[K comparable] struct {
	index        map[K]int
	nodes        []K
	dependencies [][]int // of each node, in the order they were connected
	stages       map[int]stage
	heavy        map[int]bool
}

// stage is the place of a node in a line of nodes.
type stage struct {
	line   string
	number int
}

// Stage puts a node into a stage of a line. A node starts once no node of an earlier stage is
// ready to start or busy. Failures do not block later stages.
func (g *Graph[K]) Stage(node K, line string, number int) {
	if g.stages == nil {
		g.stages = map[int]stage{}
	}
	g.stages[g.add(node)] = stage{line, number}
}

// Heavy marks a node as heavy. A walk has a limit of its own for heavy nodes; see Walk.
func (g *Graph[K]) Heavy(node K) {
	if g.heavy == nil {
		g.heavy = map[int]bool{}
	}
	g.heavy[g.add(node)] = true
}

// Add adds nodes. It ignores a node that is already in the graph.
func (g *Graph[K]) Add(nodes ...K) {
	for _, node := range nodes {
		g.add(node)
	}
}

// Connect records that node depends on all of dependencies. It adds missing nodes, node first.
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

// Order returns all nodes, each after all its dependencies. Nodes keep the order in which they
// were added, except that dependencies move before their dependents. The error is a
// *CycleError[K] if the graph has a cycle.
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

// search is one depth-first search. Its time is linear in nodes and edges.
type search struct {
	dependencies [][]int
	marks        []mark
	path         []int // from the start of the search to the current node
	order        []int
}

type mark byte

const (
	unseen mark = iota
	onPath
	ordered
)

// visit adds the node to the order, after all its dependencies. It returns the first cycle that
// it finds, with its first node repeated at the end.
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

// CycleError means that nodes depend on each other in a cycle.
type CycleError[K comparable] struct {
	// Cycle is the cycle: each node depends on the next, and the last node is the first again.
	// A node that depends on itself makes a cycle of length two.
	Cycle []K
}

// Error returns "dependency cycle: a → b → c → a".
func (e *CycleError[K]) Error() string {
	names := make([]string, len(e.Cycle))
	for i, node := range e.Cycle {
		names[i] = fmt.Sprint(node)
	}
	return "dependency cycle: " + strings.Join(names, " → ")
}

package dag

import (
	"container/heap"
	"context"
	"sync"
)

// Result is the result of one node of a walk.
type Result[K comparable] struct {
	Node   K
	Status Status
	// Err is the error of a Failed node's visit.
	Err error
	// Cause is the Failed node on which a Skipped node depends, directly or indirectly. If
	// there are several, Cause is the node that was added first.
	Cause K
}

// Status is how a node of a walk ended. The zero value is invalid.
type Status int

// The statuses.
const (
	_          Status = iota
	Succeeded         // visited without error
	Failed            // its visit returned an error
	Skipped           // not visited: a dependency failed
	NotStarted        // not visited: the context ended first
)

// Walk visits each node after all its dependencies were visited without error. parallelism limits the
// nodes that are visited at the same time, and heavy limits the heavy nodes among them. Each limit is
// at least one. Among the ready nodes, Walk prefers the node with the longest chain of dependents.
//
// Nodes that depend on a failed node are skipped, and all other nodes are visited. When the
// context ends, Walk starts no more visits and waits for the running ones. The results are in
// the order in which the nodes were added. The error is a *CycleError[K]; in this case no node
// was visited.
//
// A visit that only waits may call idle: another visit then takes its place among the parallel
// ones. Dependents of the node still wait for the end of its visit. An idle heavy node still counts
// for the limit of heavy nodes.
func (g *Graph[K]) Walk(ctx context.Context, parallelism, heavy int, visit func(ctx context.Context, node K, idle func()) error) ([]Result[K], error) {
	order, err := g.order()
	if err != nil {
		return nil, err
	}
	results := make([]Result[K], len(g.nodes))
	for i, node := range g.nodes {
		results[i].Node = node
	}

	type news struct {
		node int
		idle bool // the visit continues
		err  error
	}
	heard := make(chan news)
	queue := g.queue(order, max(heavy, 1))
	running, idle := 0, map[int]bool{}
	for {
		for running-len(idle) < max(parallelism, 1) && ctx.Err() == nil {
			node, ok := queue.pop()
			if !ok {
				break
			}
			running++
			leave := sync.OnceFunc(func() { heard <- news{node: node, idle: true} })
			go func() { heard <- news{node: node, err: visit(ctx, g.nodes[node], leave)} }()
		}
		if running == 0 {
			break
		}
		v := <-heard
		if !idle[v.node] {
			queue.pass(v.node)
		}
		if v.idle {
			idle[v.node] = true
			continue
		}
		running--
		delete(idle, v.node)
		if v.err != nil {
			results[v.node].Status, results[v.node].Err = Failed, v.err
			queue.end(v.node)
			continue
		}
		results[v.node].Status = Succeeded
		queue.finish(v.node)
		queue.end(v.node)
	}

	for _, node := range order {
		if results[node].Status == 0 {
			results[node].Status, results[node].Cause = g.unvisited(node, results)
		}
	}
	return results, nil
}

// unvisited returns the reason why a node was not visited, from the results of its
// dependencies.
func (g *Graph[K]) unvisited(node int, results []Result[K]) (status Status, cause K) {
	root := len(g.nodes)
	for _, dependency := range g.dependencies[node] {
		switch results[dependency].Status {
		case Failed:
			root = min(root, dependency)
		case Skipped:
			root = min(root, g.index[results[dependency].Cause])
		}
	}
	if root == len(g.nodes) {
		return NotStarted, cause
	}
	return Skipped, g.nodes[root]
}

// queue contains the ready nodes, as a heap, and the data that determines when other nodes
// become ready.
type queue struct {
	ready      []int
	dependents [][]int
	missing    []int // number of dependencies of each node that were not visited yet
	height     []int // number of nodes on the longest chain of dependents

	heavy  map[int]bool // nodes with a limit on simultaneous visits
	room   int          // number of further heavy nodes that may be visited now
	parked []int        // heavy nodes that wait for room

	stages map[int]stage
	lines  map[string]*line
}

// line is the state of one line.
type line struct {
	open   map[int]int // nodes of each stage that are ready, or visited and not idle
	parked []int       // ready nodes that wait for earlier stages
}

func (g *Graph[K]) queue(order []int, room int) *queue {
	q := &queue{
		dependents: make([][]int, len(order)),
		missing:    make([]int, len(order)),
		height:     make([]int, len(order)),
		heavy:      g.heavy,
		room:       room,
		stages:     g.stages,
		lines:      map[string]*line{},
	}
	for node, dependencies := range g.dependencies {
		q.missing[node] = len(dependencies)
		for _, dependency := range dependencies {
			q.dependents[dependency] = append(q.dependents[dependency], node)
		}
	}
	for _, s := range g.stages {
		q.lines[s.line] = &line{open: map[int]int{}}
	}
	for i := len(order) - 1; i >= 0; i-- {
		for _, dependent := range q.dependents[order[i]] {
			q.height[order[i]] = max(q.height[order[i]], q.height[dependent]+1)
		}
	}
	for node, missing := range q.missing {
		if missing == 0 {
			q.offer(node)
		}
	}
	return q
}

// offer adds a ready node.
func (q *queue) offer(node int) {
	if s, ok := q.stages[node]; ok {
		q.lines[s.line].open[s.number]++
	}
	heap.Push(q, node)
}

// finish adds the nodes that waited only for this node.
func (q *queue) finish(node int) {
	for _, dependent := range q.dependents[node] {
		q.missing[dependent]--
		if q.missing[dependent] == 0 {
			q.offer(dependent)
		}
	}
}

// pass lets later stages continue if all nodes of this stage are idle or have ended.
func (q *queue) pass(node int) {
	s, ok := q.stages[node]
	if !ok {
		return
	}
	l := q.lines[s.line]
	l.open[s.number]--
	if l.open[s.number] > 0 {
		return
	}
	delete(l.open, s.number)
	for _, waiting := range l.parked {
		heap.Push(q, waiting)
	}
	l.parked = nil
}

// end makes room for the next heavy node.
func (q *queue) end(node int) {
	if !q.heavy[node] {
		return
	}
	q.room++
	for _, waiting := range q.parked {
		heap.Push(q, waiting)
	}
	q.parked = nil
}

// pop returns the best node that may be visited now. ok is false if there is none.
func (q *queue) pop() (node int, ok bool) {
	for q.Len() > 0 {
		node := heap.Pop(q).(int)
		s, inLine := q.stages[node]
		switch {
		case inLine && q.lines[s.line].before(s.number):
			q.lines[s.line].parked = append(q.lines[s.line].parked, node)
		case q.heavy[node] && q.room == 0:
			q.parked = append(q.parked, node)
		default:
			if q.heavy[node] {
				q.room--
			}
			return node, true
		}
	}
	return 0, false
}

// before reports whether nodes of an earlier stage come first.
func (l *line) before(stage int) bool {
	for open := range l.open {
		if open < stage {
			return true
		}
	}
	return false
}

// Len, Less, Swap, Push and Pop are for package heap.
func (q *queue) Len() int { return len(q.ready) }

func (q *queue) Less(i, j int) bool {
	a, b := q.ready[i], q.ready[j]
	if q.height[a] != q.height[b] {
		return q.height[a] > q.height[b]
	}
	return a < b
}

func (q *queue) Swap(i, j int) { q.ready[i], q.ready[j] = q.ready[j], q.ready[i] }

func (q *queue) Push(node any) { q.ready = append(q.ready, node.(int)) }

func (q *queue) Pop() any {
	last := len(q.ready) - 1
	node := q.ready[last]
	q.ready = q.ready[:last]
	return node
}

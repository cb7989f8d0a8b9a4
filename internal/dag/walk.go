package dag

import (
	"container/heap"
	"context"
	"sync"
)

// Result is what became of one node of a walk.
type Result[K comparable] struct {
	Node   K
	Status Status
	// Err is what the visit of a Failed node returned.
	Err error
	// Cause is the Failed node that a Skipped one depends on, directly or not; of
	// several, the one that was added first.
	Cause K
}

// Status is how a node of a walk ended. The zero value is invalid.
type Status int

// How a node ends.
const (
	_          Status = iota
	Succeeded         // visited without error
	Failed            // its visit returned an error
	Skipped           // not visited: something that it depends on failed
	NotStarted        // not visited: the context ended first
)

// Walk visits each node once all that it depends on was visited without error,
// up to parallelism (at least one) of them at the same time. Among nodes that
// could be visited next, it prefers the one with the longest chain of dependents.
//
// What depends on a failed node is skipped, all else goes on. When the context
// ends no visit is started any more, and those under way are waited for. The
// results are in the order in which the nodes were added. The error is a
// *CycleError[K], and then nothing was visited.
//
// A visit that has nothing to do any more but to wait may call idle: another one then
// takes its place among the parallel ones. What depends on the node still waits for
// the end of its visit. Of the nodes that are heavy, no more than parallelism are
// visited at the same time, idle or not; heavy may be nil.
func (g *Graph[K]) Walk(ctx context.Context, parallelism int, heavy func(K) bool, visit func(ctx context.Context, node K, idle func()) error) ([]Result[K], error) {
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
		idle bool // still visited
		err  error
	}
	heard := make(chan news)
	queue := g.queue(order, max(parallelism, 1), heavy)
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

// unvisited tells why a node was not visited, from the results of what it
// depends on.
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

// queue holds the nodes that could be visited next, as a heap, and what is
// needed to tell when others can.
type queue struct {
	ready      []int
	dependents [][]int
	missing    []int // how many dependencies of each node were not visited yet
	height     []int // nodes on the longest chain of dependents

	heavy  []bool // nodes of which only so many are visited at the same time
	room   int    // for heavy nodes
	parked []int  // heavy nodes that wait for room

	turns map[int]turn
	lines map[string]*line
}

// line is what goes on in one line.
type line struct {
	open   map[int]int // nodes of each stage that are ready, or visited and not idle
	parked []int       // ready nodes that wait for earlier stages
}

func (g *Graph[K]) queue(order []int, room int, heavy func(K) bool) *queue {
	q := &queue{
		dependents: make([][]int, len(order)),
		missing:    make([]int, len(order)),
		height:     make([]int, len(order)),
		heavy:      make([]bool, len(order)),
		room:       room,
		turns:      g.turns,
		lines:      map[string]*line{},
	}
	for node, dependencies := range g.dependencies {
		q.heavy[node] = heavy != nil && heavy(g.nodes[node])
		q.missing[node] = len(dependencies)
		for _, dependency := range dependencies {
			q.dependents[dependency] = append(q.dependents[dependency], node)
		}
	}
	for _, t := range g.turns {
		q.lines[t.line] = &line{open: map[int]int{}}
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

// offer takes in a node that could be visited.
func (q *queue) offer(node int) {
	if t, ok := q.turns[node]; ok {
		q.lines[t.line].open[t.stage]++
	}
	heap.Push(q, node)
}

// finish makes ready what has waited for the node alone.
func (q *queue) finish(node int) {
	for _, dependent := range q.dependents[node] {
		q.missing[dependent]--
		if q.missing[dependent] == 0 {
			q.offer(dependent)
		}
	}
}

// pass lets later stages go on once all of this one are idle or at their end.
func (q *queue) pass(node int) {
	t, ok := q.turns[node]
	if !ok {
		return
	}
	l := q.lines[t.line]
	l.open[t.stage]--
	if l.open[t.stage] > 0 {
		return
	}
	delete(l.open, t.stage)
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

// pop takes the best node that may be visited now; ok is false where there is none.
func (q *queue) pop() (node int, ok bool) {
	for q.Len() > 0 {
		node := heap.Pop(q).(int)
		t, inLine := q.turns[node]
		switch {
		case inLine && q.lines[t.line].before(t.stage):
			q.lines[t.line].parked = append(q.lines[t.line].parked, node)
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

package graph

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/eval"
)

// state is the progress of a node in one frame.
type state byte

const (
	evaluating state = iota + 1
	evaluated
)

// Evaluate evaluates all nodes, each after the nodes that it refers to. It returns them in
// that order.
func (g *Graph) Evaluate() []*Node {
	anywhere := map[blockKey]*Node{}
	for key, u := range g.unique {
		anywhere[key] = g.nodes[u.id]
	}
	g.anywhere.Pending = pending{graph: g, nodes: anywhere}
	ordered := sorted(g)
	newFrame(g, g.Root, nil, eval.Instance{})
	for _, n := range ordered {
		for _, f := range n.Module.Frames {
			run(g, n, f, n.At)
		}
		n.finished, n.Evaluate = true, nil // the function may hold much
		if n.Root == "output" {
			n.Module.publishAll()
		}
	}
	return ordered
}

// run evaluates a node in one frame, unless that was done.
func run(g *Graph, n *Node, f *Frame, at hcl.Range) {
	switch n.state[f] {
	case evaluated:
		return
	case evaluating:
		g.env.Report.Error(at, "Circular reference", "%s needs its own value, through what it refers to.", strings.TrimSuffix(n.ID, ".*"))
		return
	}
	if n.state == nil {
		n.state = map[*Frame]state{}
	}
	n.state[f] = evaluating
	g.running = append(g.running, n)
	g.env.Decisions.Current = n.ID
	value := cty.DynamicVal
	if !n.broken {
		value = n.Evaluate(f)
	}
	g.running = g.running[:len(g.running)-1]
	if len(g.running) > 0 {
		g.env.Decisions.Current = g.running[len(g.running)-1].ID
	}
	n.state[f] = evaluated
	if names := f.Scope.Groups[n.Root]; names != nil && n.Name != "" {
		names[n.Name] = value
	}
	if g.unique[blockKey{n.Root, n.Name}].module == n.Module {
		g.anywhere.Groups[n.Root][n.Name] = value
	}
}

// pending evaluates the nodes behind the names of a scope when an expression reads them.
type pending struct {
	graph *Graph
	nodes map[blockKey]*Node
	frame *Frame // nil: all frames of the node's module
}

// Demand evaluates the node of a name, unless that was done.
func (p pending) Demand(root, name string, t hcl.Traversal, at hcl.Range) {
	n := p.nodes[blockKey{root, name}]
	switch {
	case n == nil:
	case n.Root == "call": // the outputs count that the reference reads
		for _, id := range outputsOf(n.Module.Calling(n.Name), t) {
			if read := p.graph.nodes[id]; read != nil {
				demand(p.graph, read, p.frame, at)
			}
		}
	default:
		demand(p.graph, n, p.frame, at)
	}
}

// Require evaluates a node of a module that is used once, unless that was done. The running
// node needs it.
func (g *Graph) Require(id string, at hcl.Range) {
	if n := g.nodes[id]; n != nil {
		demand(g, n, nil, at)
	}
}

// demand evaluates a node, unless that was done, and adds it to the needs of the running node.
// Without a frame it evaluates all frames of the node's module.
func demand(g *Graph, n *Node, f *Frame, at hcl.Range) {
	if len(g.running) > 0 {
		require(g.running[len(g.running)-1], n, at)
	}
	if n.finished {
		return
	}
	switch {
	case f == nil:
		reachModule(g, n.Module, at)
		for _, f := range n.Module.Frames {
			run(g, n, f, at)
		}
	case n.Module == f.Module:
		run(g, n, f, at)
	default: // an output of a module that the frame uses
		for _, child := range n.Module.Frames {
			if child.Parent == f {
				run(g, n, child, at)
			}
		}
		f.publish(n.Module)
	}
}

// reachModule evaluates the module blocks that lead to a module.
func reachModule(g *Graph, m *Module, at hcl.Range) {
	if m.Written.Call == nil {
		return
	}
	reachModule(g, m.Parent, at)
	for _, f := range m.Parent.Frames {
		run(g, g.nodes[m.Path()+"*"], f, at)
	}
}

// require adds a node to the needs of another node.
func require(n, other *Node, at hcl.Range) {
	if n == other {
		return
	}
	if n.known == nil {
		n.known = map[string]bool{}
		for _, need := range n.Needs {
			n.known[need.To] = n.known[need.To] || !need.Order
		}
	}
	if !n.known[other.ID] {
		n.known[other.ID] = true
		n.Needs = append(n.Needs, Edge{To: other.ID, At: at})
	}
}

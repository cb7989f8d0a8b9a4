package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// evaluate goes through the nodes, each after what it refers to.
func (g *graph) evaluate() {
	ordered := g.sortedNodes()
	g.newFrame(g.loader.root, nil, item{})
	for _, n := range ordered {
		for _, f := range n.module.frames {
			g.run(n, f, n.at)
		}
		n.finished = true
		if n.root == "output" {
			n.module.publishAll()
		}
	}
	g.config.Undecided = g.undecidedBlocks(ordered)
	g.finish()
	g.forgetSecrets()
	g.checkOrder()
	g.checkExplained()
}

// run evaluates a node in one use of its module, unless that was done.
func (g *graph) run(n *node, f *frame, at hcl.Range) {
	switch n.state[f] {
	case evaluated:
		return
	case evaluating:
		g.report.Error(at, "Circular reference", "%s needs its own value, through what it refers to.", strings.TrimSuffix(n.id, ".*"))
		return
	}
	if n.state == nil {
		n.state = map[*frame]evaluation{}
	}
	n.state[f] = evaluating
	g.running = append(g.running, n)
	g.decisions.current = n.id
	value := cty.DynamicVal
	if !n.broken {
		value = n.evaluate(f)
	}
	g.running = g.running[:len(g.running)-1]
	if len(g.running) > 0 {
		g.decisions.current = g.running[len(g.running)-1].id
	}
	n.state[f] = evaluated
	if names := f.scope.groups[n.root]; names != nil && n.name != "" {
		names[n.name] = value
	}
	if g.onlyOne[blockKey{n.root, n.name}].module == n.module {
		g.anywhere.groups[n.root][n.name] = value
	}
}

// evaluation is how far a node is.
type evaluation byte

const (
	evaluating evaluation = iota + 1
	evaluated
)

// demand evaluates a node that is read, unless that was done, and notes that what is
// evaluated at the moment needs it. Of a module block the outputs that are read count.
func (g *graph) demand(n *node, f *frame, t hcl.Traversal, at hcl.Range) {
	if n.root == "call" {
		for _, id := range outputsOf(n.module.calling(n.name), t) {
			if read := g.nodes[id]; read != nil {
				g.demandOne(read, f, at)
			}
		}
		return
	}
	g.demandOne(n, f, at)
}

func (g *graph) demandOne(n *node, f *frame, at hcl.Range) {
	if len(g.running) > 0 {
		g.running[len(g.running)-1].needing(n, at)
	}
	if n.finished {
		return
	}
	switch {
	case f == nil: // the only one of its label, in a module that is used once
		g.reachModule(n.module, at)
		for _, f := range n.module.frames {
			g.run(n, f, at)
		}
	case n.module == f.module:
		g.run(n, f, at)
	default: // an output of a module that the frame uses
		for _, child := range n.module.frames {
			if child.parent == f {
				g.run(n, child, at)
			}
		}
		f.publish(n.module)
	}
}

// reachModule evaluates the module blocks that lead to a module.
func (g *graph) reachModule(m *module, at hcl.Range) {
	if m.written.Call == nil {
		return
	}
	g.reachModule(m.parent, at)
	for _, f := range m.parent.frames {
		g.run(g.nodes[m.written.Path()+"*"], f, at)
	}
}

// needing notes that a node turned out to need another.
func (n *node) needing(other *node, at hcl.Range) {
	if n == other {
		return
	}
	if n.known == nil {
		n.known = map[string]bool{}
		for _, need := range n.needs {
			n.known[need.to] = true
		}
	}
	if !n.known[other.id] {
		n.known[other.id] = true
		n.needs = append(n.needs, edge{to: other.id, at: at})
	}
}

// checkExplained reports values that are unknown although nothing was wrong, and nothing
// is left for after the apply. There are none, unless kolla has a mistake; but an empty
// text in their place would do harm without a word.
func (g *graph) checkExplained() {
	if g.report.All().HasErrors() || len(g.decisions.open) > 0 || len(g.decisions.unexplained) == 0 {
		return
	}
	g.report.Error(g.decisions.unexplained[0], "Value not evaluated", "Nothing is wrong with the configuration, and still there is no value here. This is a bug in kolla: please report it, with this block and what it refers to.")
}

// Package graph orders the blocks of a configuration and evaluates each after the blocks that
// it refers to.
//
// A Node is a block as it is written, or another thing with a name, such as a local value. An
// Edge is a reference to a node. References are found without evaluation (reach.go), and the
// order follows from them (order.go). A Module is a directory of the configuration, and a
// Frame is one use of a module. Evaluate evaluates each node once in each frame of its module,
// and AddRepeated does so for each instance of the block. Some references show only during
// evaluation, such as a role with a computed name. Evaluation of such a node starts on demand
// and adds an edge (demand.go).
//
// The graph finds and orders references. It does not evaluate blocks: its callers add nodes with
// functions that do.
package graph

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// Graph is everything in a configuration that a reference can name. A block is one node, even
// if it or its module is used several times.
type Graph struct {
	Root *Module
	// Global has the names that all expressions of the user know: the cloud.
	Global *eval.Scope

	env     eval.Env         // without a scope
	dir     string           // of the root module
	nodes   map[string]*Node // by ID
	order   []*Node          // as declared
	members map[*Module][]*Node
	running []*Node // each is evaluated on demand of the one before
	// unique are the services, roles, exposures and secrets whose label is used only once in
	// all modules. Definitions of all modules find them, in the scope anywhere.
	unique   map[blockKey]unique
	anywhere *eval.Scope
}

// Node is a thing that a reference can name.
type Node struct {
	ID     string // such as "module.edge.service.keystone"
	Module *Module
	Root   string // the first word of a reference: "service"
	Name   string
	Block  *source.Block // nil: it is not a block
	At     hcl.Range
	Needs  []Edge
	// Evaluate returns the value of the node in one frame of its module.
	Evaluate func(f *Frame) cty.Value
	// Definition is the name of the definition of a service.
	Definition string
	// Measured are the workloads of a service that may serve metrics.
	Measured []string
	// ArgumentsOf is the ID of the secret whose arguments the node evaluates.
	ArgumentsOf string

	broken    bool // on a cycle: the value is unknown
	instances []instance
	state     map[*Frame]state
	finished  bool            // evaluated in all frames
	known     map[string]bool // IDs of Needs; see require
}

// instance is an instance of a block that has an address.
type instance struct {
	frame   *Frame
	suffix  string // the key, as `["cache"]`
	address string
}

// Edge is a reference from one node to another.
type Edge struct {
	To  string // the ID of a node
	At  hcl.Range
	Key string // the instance, as `["cache"]`; empty: all
	// Within is the use of a module that the reference names, as `module.edge["west"]`.
	Within string
	// Order: the node is only evaluated after the other one, and does not need it.
	Order bool
}

// blockKey identifies a node by the root and the name in a reference.
type blockKey struct{ root, name string }

// unique is a node whose label is used only once.
type unique struct {
	module *Module
	id     string
}

// New makes a graph for a configuration without nodes. The environment needs no scope.
func New(env eval.Env, root *source.Module, dir string) *Graph {
	g := &Graph{
		Root: newModule(root, nil), Global: eval.NewScope(nil), env: env, dir: dir,
		nodes: map[string]*Node{}, members: map[*Module][]*Node{},
	}
	g.env.InUse, g.env.Observed = &eval.Lazy{Evaluate: func() cty.Value { return servicesInUse(g) }}, &eval.Lazy{}
	findUnique(g)
	return g
}

// findUnique finds the labels that are used in only one module, which is used only once.
func findUnique(g *Graph) {
	g.unique, g.anywhere = map[blockKey]unique{}, eval.NewScope(nil)
	taken := map[blockKey]bool{}
	for _, m := range g.Modules() {
		for _, kind := range eval.SharedKinds {
			if g.anywhere.Groups[kind] == nil {
				g.anywhere.Groups[kind] = eval.Group{}
			}
			for _, label := range m.Written.Document.Labels(kind) {
				key := blockKey{kind, label}
				if taken[key] || m.repeated() {
					delete(g.unique, key)
				} else {
					g.unique[key] = unique{m, m.Path() + kind + "." + label}
				}
				taken[key] = true
			}
		}
	}
	for key := range g.unique {
		g.anywhere.Groups[key.root][key.name] = cty.DynamicVal
	}
}

// Env returns an environment that evaluates expressions in a scope.
func (g *Graph) Env(s *eval.Scope) *eval.Env {
	e := g.env
	e.Scope = s
	return &e
}

// Node finds a node by its ID, or returns nil.
func (g *Graph) Node(id string) *Node { return g.nodes[id] }

// Modules returns all modules, the root first.
func (g *Graph) Modules() []*Module {
	out := []*Module{g.Root}
	for i := 0; i < len(out); i++ {
		out = append(out, out[i].Calls...)
	}
	return out
}

// Add adds a node. A node of a module needs the module block. A service, manifest or data
// block in the module also needs the dependencies of the module block.
func (g *Graph) Add(n *Node) *Node {
	if call := n.Module.Written.Call; call != nil {
		n.Needs = append(n.Needs, Edge{To: n.Module.Path() + "*", At: call.Header})
	}
	if n.Root == "service" || n.Root == "manifest" || n.Root == "data" {
		for m := n.Module; m.Written.Call != nil; m = m.Parent {
			n.Needs = append(n.Needs, DependsOn(g.env.Report, m.Parent, m.Written.Call)...)
		}
	}
	if n.Root == "call" {
		n.Needs = append(n.Needs, callEdges(g, n.Module.Calling(n.Name))...)
	}
	g.nodes[n.ID] = n
	g.order = append(g.order, n)
	g.members[n.Module] = append(g.members[n.Module], n)
	return n
}

// Last orders a service after all others, without needing them.
func (g *Graph) Last(id string) {
	n := g.nodes[id]
	for _, other := range g.order {
		if n != nil && other.Root == "service" && other != n {
			n.Needs = append(n.Needs, Edge{To: other.ID, At: n.At, Order: true})
		}
	}
}

// AddBlock adds the node of a block.
func (g *Graph) AddBlock(m *Module, b *source.Block, evaluate func(f *Frame) cty.Value) *Node {
	return g.Add(&Node{
		ID: m.Path() + b.ID(), Module: m, Root: b.Type.Name, Name: b.Label, Block: b, At: b.Header,
		Needs: g.Reach(m).BlockEdges(b), Evaluate: evaluate,
	})
}

// Use is one instance of a block in one frame.
type Use struct {
	Node     *Node
	Frame    *Frame
	Block    *source.Block // with expanded dynamic blocks
	Env      *eval.Env     // knows the key of the instance
	Instance eval.Instance
}

// Address returns the address of the instance. The graph notes it for nodes that depend on it.
func (u *Use) Address() string { return u.Node.Address(u.Frame, u.Instance) }

// AddRepeated adds the node of a block that can be repeated. The graph calls evaluate for
// each instance.
func (g *Graph) AddRepeated(m *Module, b *source.Block, evaluate func(u *Use) cty.Value) *Node {
	var n *Node
	n = g.AddBlock(m, b, func(f *Frame) cty.Value {
		return f.Repeated(b, func(it eval.Instance) cty.Value {
			e := g.Env(it.Scope)
			return evaluate(&Use{Node: n, Frame: f, Block: eval.Expanded(e, b), Env: e, Instance: it})
		})
	})
	return n
}

// Address returns the address of an instance of the block. The graph notes it for nodes that
// depend on it.
func (n *Node) Address(f *Frame, it eval.Instance) string {
	address := f.Address + it.Address(n.Block)
	n.instances = append(n.instances, instance{f, it.Suffix(), address})
	return address
}

// AddressesIn returns the addresses of the instances that code in a frame can mean. A module that
// is used several times has its own instances in each use.
func (n *Node) AddressesIn(f *Frame) []string {
	var out []string
	for _, i := range n.instances {
		if i.frame.sees(f) {
			out = append(out, i.address)
		}
	}
	return out
}

// Declared returns the addresses of all instances, with the places of their blocks.
func (g *Graph) Declared() map[string]hcl.Range {
	out := map[string]hcl.Range{}
	for _, n := range g.order {
		for _, i := range n.instances {
			out[i.address] = n.At
		}
	}
	return out
}

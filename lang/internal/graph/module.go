package graph

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// Module is a directory of the configuration and its uses.
type Module struct {
	Written *source.Module
	Parent  *Module // nil: the root
	Calls   []*Module
	Frames  []*Frame // known after the module block was evaluated

	locals map[string]bool
}

// newModule makes a module without frames, and the modules that it uses.
func newModule(written *source.Module, parent *Module) *Module {
	m := &Module{Written: written, Parent: parent, locals: map[string]bool{}}
	for _, b := range written.Document.All("locals") {
		for name := range b.Attributes {
			m.locals[name] = true
		}
	}
	for _, call := range written.Calls {
		m.Calls = append(m.Calls, newModule(call, m))
	}
	return m
}

// Around returns the module of a directory: m, or one around it. Nil: it is the catalogue.
func (m *Module) Around(written *source.Module) *Module {
	for m != nil && m.Written != written {
		m = m.Parent
	}
	return m
}

// Path returns the start of the IDs of all nodes in the module.
func (m *Module) Path() string { return m.Written.Path() }

// Calling returns the module that a module block calls, or nil.
func (m *Module) Calling(name string) *Module {
	for _, c := range m.Calls {
		if c.Written.Name == name {
			return c
		}
	}
	return nil
}

// declares reports whether the module declares the target of a reference ROOT.NAME.
func (m *Module) declares(root, name string) bool {
	switch root {
	case "local":
		return m.locals[name]
	case "var":
		root = "variable"
	}
	return m.Written.Document.One(root, name) != nil
}

// repeated reports whether the module may be used several times.
func (m *Module) repeated() bool {
	return m.Written.Call != nil && (eval.Repeats(m.Written.Call) || m.Parent.repeated())
}

// Frame is one use of a module. It knows the values of the names in the module.
type Frame struct {
	Module  *Module
	Parent  *Frame      // nil: the root
	Address string      // the start of all addresses in the frame: `module.edge["west"].`
	Scope   *eval.Scope // of the user's expressions
	// Shared has the roles, exposures, secrets and services of the frame and of the frames
	// around it. Definitions that the frame uses refer to them.
	Shared *eval.Scope
	// Outputs are the values of the outputs of the module.
	Outputs map[string]cty.Value

	graph     *Graph
	arguments *eval.Scope // of the arguments of the module block
	key       cty.Value   // of the module block; cty.NilVal if it is not repeated
}

// newFrame adds a frame without values to a module.
func newFrame(g *Graph, m *Module, parent *Frame, it eval.Instance) {
	f := &Frame{graph: g, Module: m, Parent: parent, Scope: eval.NewScope(g.Global), Outputs: map[string]cty.Value{}, key: it.Key}
	for _, kind := range eval.NamedKinds {
		f.Scope.Groups[kind] = eval.Group{}
	}
	for _, n := range g.members[m] {
		if n.Root == "output" {
			f.Outputs[n.Name] = cty.DynamicVal
		}
		if names := f.Scope.Groups[n.Root]; names != nil {
			names[n.Name] = cty.DynamicVal
		}
	}
	for _, child := range m.Calls {
		f.Scope.Groups["module"][child.Written.Name] = cty.DynamicVal
	}
	f.Scope.Pending = pending{graph: g, nodes: named(g, m), frame: f}
	f.Scope.Singles["path"] = cty.ObjectVal(map[string]cty.Value{
		"root":   cty.StringVal("."),
		"cwd":    cty.StringVal(workingDirectory()),
		"module": cty.StringVal(relative(g.dir, m.Written.Dir)),
	})
	f.Shared = eval.NewScope(g.anywhere)
	if parent != nil {
		f.Address = parent.Address + it.Address(m.Written.Call) + "."
		f.Shared.Parent = parent.Shared
		f.arguments = it.Scope
	}
	f.Shared.Pending = f.Scope.Pending
	for _, kind := range eval.SharedKinds {
		f.Shared.Groups[kind] = f.Scope.Groups[kind]
	}
	m.Frames = append(m.Frames, f)
}

// named returns the nodes of a module that references can name.
func named(g *Graph, m *Module) map[blockKey]*Node {
	out := map[blockKey]*Node{}
	for _, n := range g.members[m] {
		root := n.Root
		if root == "call" {
			root = "module"
		}
		if n.Name != "" {
			out[blockKey{root, n.Name}] = n
		}
	}
	return out
}

// relative returns a directory relative to the root of the configuration.
func relative(root, dir string) string {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		rel = dir
	}
	if rel != "." && !strings.HasPrefix(rel, "..") {
		rel = "./" + rel
	}
	return filepath.ToSlash(rel)
}

// workingDirectory returns the directory of the process, or "." if it is unknown.
func workingDirectory() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return filepath.ToSlash(dir)
}

// Env returns an environment that evaluates expressions of the user in the frame.
func (f *Frame) Env() *eval.Env { return f.graph.Env(f.Scope) }

// sees reports whether two frames are in the same use of each module that contains both.
func (f *Frame) sees(other *Frame) bool {
	for a := f; a != nil; a = a.Parent {
		for b := other; b != nil; b = b.Parent {
			if a.Module == b.Module && a != b {
				return false
			}
		}
	}
	return true
}

// publish makes the outputs of a module readable in a frame that uses it.
func (f *Frame) publish(m *Module) {
	if m.Written.Call == nil {
		return
	}
	var values []eval.Pair
	for _, child := range m.Frames {
		if child.Parent == f {
			values = append(values, eval.Pair{Key: child.key, Value: cty.ObjectVal(child.Outputs)})
		}
	}
	f.Scope.Groups["module"][m.Written.Name] = eval.ValueOfInstances(m.Written.Call, values)
}

// publishAll makes the outputs of a module readable in all frames that use it.
func (m *Module) publishAll() {
	done := map[*Frame]bool{}
	for _, f := range m.Frames {
		if f.Parent != nil && !done[f.Parent] {
			done[f.Parent] = true
			f.Parent.publish(m)
		}
	}
}

// AddCall adds the node of a module block. Its evaluation finds the frames of the module,
// before the nodes in the module are evaluated.
func (g *Graph) AddCall(m *Module) {
	call := m.Written.Call
	g.Add(&Node{
		ID: m.Path() + "*", Module: m.Parent, Root: "call", Name: m.Written.Name, At: call.Header,
		Evaluate: func(f *Frame) cty.Value {
			items, ok := f.Instances(call)
			if !ok {
				return cty.NilVal // the module stays unknown
			}
			for _, it := range items {
				newFrame(g, m, f, it)
			}
			f.publish(m)
			return cty.NilVal
		},
	})
}

// callEdges returns the references that decide how often a module is used.
func callEdges(g *Graph, m *Module) []Edge {
	var out []Edge
	for _, a := range schema.Repetition {
		if attr := m.Written.Call.Attributes[a.Name]; attr != nil {
			out = append(out, g.Reach(m.Parent).Edges(attr.Expr)...)
		}
	}
	return out
}

// Passed evaluates an argument of the module block.
func (f *Frame) Passed(name string) (value cty.Value, ok bool) {
	attr := f.Module.Written.Call.Attributes[name]
	if attr == nil {
		return cty.NilVal, false
	}
	return f.graph.Env(f.arguments).Value(attr.Expr), true
}

// Instances returns the instances of a block in a frame, in the order of their keys. The result
// is not ok if the instances are not known, or if there are too many.
func (f *Frame) Instances(b *source.Block) (list []eval.Instance, ok bool) {
	list, ok = eval.Instances(f.Env(), b)
	if ok && !f.graph.env.Report.Spend(diag.Instances, len(list), b.Header, "Too many instances", "A configuration may have at most %d services, roles, uses of modules and so on, each instance counted, and with this block there are more. Correct for_each or count, here or in a module block around, or divide the cloud.") {
		return nil, false
	}
	return list, ok
}

// Repeated evaluates a block for each of its instances, and returns the value of the block.
func (f *Frame) Repeated(b *source.Block, evaluate func(it eval.Instance) cty.Value) cty.Value {
	var values []eval.Pair
	items, ok := f.Instances(b)
	if !ok {
		return eval.UnknownInstances(f.Env(), b)
	}
	for _, it := range items {
		values = append(values, eval.Pair{Key: it.Key, Value: evaluate(it)})
	}
	return eval.ValueOfInstances(b, values)
}

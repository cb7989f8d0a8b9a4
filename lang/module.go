package lang

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// module is one directory of the configuration, and its uses.
type module struct {
	written *source.Module
	parent  *module // nil: the root
	calls   []*module
	locals  map[string]bool
	vars    []*variable
	// frames are its uses, which are known once the module block was evaluated.
	frames []*frame
}

func newModule(written *source.Module, parent *module) *module {
	m := &module{written: written, parent: parent, locals: map[string]bool{}}
	for _, b := range written.Document.All("locals") {
		for name := range b.Attributes {
			m.locals[name] = true
		}
	}
	for _, call := range written.Calls {
		m.calls = append(m.calls, newModule(call, m))
	}
	return m
}

// calling is the module that a block calls, or nil.
func (m *module) calling(name string) *module {
	for _, c := range m.calls {
		if c.written.Name == name {
			return c
		}
	}
	return nil
}

// declares reports whether a reference ROOT.NAME has something to mean in the module.
func (m *module) declares(root, name string) bool {
	switch root {
	case "local":
		return m.locals[name]
	case "var":
		root = "variable"
	}
	return m.written.Document.One(root, name) != nil
}

// frame is one use of a module: what the names in it mean there.
type frame struct {
	module  *module
	parent  *frame // nil: the root
	address string // what addresses begin with: `module.edge["west"].`
	scope   *scope // of the user's expressions
	// things are the roles, exposures, secrets and services of the frame and of those around
	// it: what a definition that is used in the frame can refer to.
	things *scope
	// arguments is the scope of what the module block passes.
	arguments *scope
	outputs   map[string]cty.Value
	key       cty.Value // cty.NilVal: the block is not repeated
}

// named are the roots of references that have a name, and are kept by frame.
var named = []string{"var", "local", "role", "exposure", "data", "secret", "service", "module"}

// things are the roots of what a definition can refer to beyond itself.
var things = []string{"role", "exposure", "secret", "service"}

// repeated reports whether a module may be used several times.
func (m *module) repeated() bool {
	return m.written.Call != nil && (repeats(m.written.Call) || m.parent.repeated())
}

// newFrame makes a frame, in which nothing is known yet of anything.
func (g *graph) newFrame(m *module, parent *frame, it item) {
	f := &frame{module: m, parent: parent, scope: newScope(g.global), outputs: map[string]cty.Value{}, key: it.key}
	for _, kind := range named {
		f.scope.groups[kind] = group{}
	}
	for _, n := range g.members[m] {
		if n.root == "output" {
			f.outputs[n.name] = cty.DynamicVal
		}
		if names := f.scope.groups[n.root]; names != nil {
			names[n.name] = cty.DynamicVal
		}
	}
	for _, child := range m.calls {
		f.scope.groups["module"][child.written.Name] = cty.DynamicVal
	}
	f.scope.nodes, f.scope.frame = g.named(m), f
	f.scope.singles["path"] = cty.ObjectVal(map[string]cty.Value{
		"root":   cty.StringVal("."),
		"cwd":    cty.StringVal(workingDirectory()),
		"module": cty.StringVal(g.moduleDir(m)),
	})
	f.things = newScope(g.anywhere)
	if parent != nil {
		f.address = parent.address + it.address(m.written.Call) + "."
		f.things.parent = parent.things
		f.arguments = it.scope
	}
	f.things.nodes, f.things.frame = f.scope.nodes, f
	for _, kind := range things {
		f.things.groups[kind] = f.scope.groups[kind]
	}
	m.frames = append(m.frames, f)
}

// named are the nodes of a module that references can name.
func (g *graph) named(m *module) map[blockKey]*node {
	out := map[blockKey]*node{}
	for _, n := range g.members[m] {
		root := n.root
		if root == "call" {
			root = "module"
		}
		if n.name != "" {
			out[blockKey{root, n.name}] = n
		}
	}
	return out
}

// moduleDir is the directory of a module, relative to the root of the configuration.
func (l *loader) moduleDir(m *module) string {
	rel, err := filepath.Rel(l.dir, m.written.Dir)
	if err != nil {
		rel = m.written.Dir
	}
	if rel != "." && !strings.HasPrefix(rel, "..") {
		rel = "./" + rel
	}
	return filepath.ToSlash(rel)
}

// publish makes the outputs of a module readable in a frame that uses it.
func (f *frame) publish(m *module) {
	if m.written.Call == nil {
		return
	}
	var values []pair
	for _, child := range m.frames {
		if child.parent == f {
			values = append(values, pair{child.key, cty.ObjectVal(child.outputs)})
		}
	}
	f.scope.groups["module"][m.written.Name] = together(m.written.Call, values)
}

// publishAll makes the outputs of a module readable wherever it is used.
func (m *module) publishAll() {
	done := map[*frame]bool{}
	for _, f := range m.frames {
		if f.parent != nil && !done[f.parent] {
			done[f.parent] = true
			f.parent.publish(m)
		}
	}
}

// addModules makes the nodes of the modules that a module uses: a module block is
// evaluated for how often it is used, before everything in it.
func (g *graph) addModules(m *module) {
	for _, child := range m.calls {
		g.add(&node{
			id: child.written.Path() + "*", module: m, root: "call", name: child.written.Name, at: child.written.Call.Header,
			evaluate: func(f *frame) cty.Value {
				items, ok := g.items(f, child.written.Call)
				if !ok {
					return cty.NilVal // the module stays unknown
				}
				for _, it := range items {
					g.newFrame(child, f, it)
				}
				f.publish(child)
				return cty.NilVal
			},
		})
		g.addModule(child)
	}
}

// callEdges are what the number of a module's uses depends on.
func (g *graph) callEdges(m *module) []edge {
	var out []edge
	for _, a := range schema.Repetition {
		if attr := m.written.Call.Attributes[a.Name]; attr != nil {
			out = append(out, g.reach(m.parent).edges(attr.Expr)...)
		}
	}
	return out
}

// passed evaluates the value that a module block gives to a variable.
func (g *graph) passed(f *frame, v *variable) (value cty.Value, ok bool) {
	attr := f.module.written.Call.Attributes[v.Name]
	if attr == nil {
		return cty.NilVal, false
	}
	e := g.evaluator(f.parent)
	e.scope = f.arguments
	return e.value(attr.Expr), true
}

// workingDirectory is where the program runs; "." where nobody knows.
func workingDirectory() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return filepath.ToSlash(dir)
}

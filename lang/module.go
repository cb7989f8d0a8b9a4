package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// module is one directory as it is written: the root of the configuration, or what
// a module block uses. Two blocks that use the same directory make two modules.
type module struct {
	name     string        // label of the block; the root has none
	dir      string        // of its files
	parent   *module       // nil: the root
	call     *source.Block // the module block
	document *source.Block // all blocks of all files
	calls    []*module
	locals   map[string]bool
	vars     []*variable
	// frames are its uses, which are known once the module block was evaluated.
	frames []*frame
}

func newModule(dir string, document *source.Block) *module {
	m := &module{dir: dir, document: document, locals: map[string]bool{}}
	for _, b := range document.All("locals") {
		for name := range b.Attributes {
			m.locals[name] = true
		}
	}
	return m
}

// path is what the addresses of everything in the module begin with, without keys:
// "module.edge.".
func (m *module) path() string {
	if m.parent == nil {
		return ""
	}
	return m.parent.path() + "module." + m.name + "."
}

// what names the module at the start of a sentence.
func (m *module) what() string {
	if m.parent == nil {
		return "The configuration"
	}
	return "Module " + strings.TrimSuffix(m.path()[len("module."):], ".")
}

// calling is the module that a block calls, or nil.
func (m *module) calling(name string) *module {
	for _, c := range m.calls {
		if c.name == name {
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
	return m.document.One(root, name) != nil
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
	return m.call != nil && (repeats(m.call) || m.parent.repeated())
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
		f.scope.groups["module"][child.name] = cty.DynamicVal
	}
	f.scope.nodes, f.scope.frame = g.named(m), f
	f.scope.singles["path"] = cty.ObjectVal(map[string]cty.Value{
		"root":   cty.StringVal("."),
		"cwd":    cty.StringVal(workingDirectory()),
		"module": cty.StringVal(g.moduleDir(m)),
	})
	f.things = newScope(g.anywhere)
	if parent != nil {
		f.address = parent.address + it.address(m.call) + "."
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
	rel, err := filepath.Rel(l.dir, m.dir)
	if err != nil {
		rel = m.dir
	}
	if rel != "." && !strings.HasPrefix(rel, "..") {
		rel = "./" + rel
	}
	return filepath.ToSlash(rel)
}

// publish makes the outputs of a module readable in a frame that uses it.
func (f *frame) publish(m *module) {
	if m.call == nil {
		return
	}
	var values []pair
	for _, child := range m.frames {
		if child.parent == f {
			values = append(values, pair{child.key, cty.ObjectVal(child.outputs)})
		}
	}
	f.scope.groups["module"][m.name] = together(m.call, values)
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

// readModules reads the directories that the module blocks of a module name, and
// those that they use in turn.
func (l *loader) readModules(m *module) bool {
	ok := true
	for _, b := range m.document.All("module") {
		if !l.report.Spend(diag.Modules, 1, b.Header, "Too many modules", "A configuration may have at most %d module blocks, those in the modules that it uses counted each time. For many uses of one module, give one block for_each or count.") {
			return false
		}
		dir, found := l.sourceDir(m, b)
		var document *source.Block
		if found {
			document, found = l.readDir(dir, b)
		}
		ok = ok && found
		if document == nil {
			continue
		}
		child := newModule(dir, document)
		child.name, child.parent, child.call = b.Label, m, b
		if found {
			l.checkModule(child)
		}
		m.calls = append(m.calls, child)
		ok = l.readModules(child) && ok
	}
	return ok
}

// sourceDir is the directory that a module block names.
func (l *loader) sourceDir(m *module, b *source.Block) (string, bool) {
	if b.Attributes["source"] == nil {
		return "", false
	}
	source := l.literal(b, "source")
	if source == "" {
		return "", false
	}
	slashed := filepath.ToSlash(source)
	if !strings.HasPrefix(slashed, "./") && !strings.HasPrefix(slashed, "../") && slashed != ".." {
		l.report.Error(b.AttributeRange("source"), "Not a local directory", "%q does not start with ./ or ../. A module is a directory beside the configuration; what comes from elsewhere has to be put there first, with git for instance.", source)
		return "", false
	}
	dir := filepath.Join(m.dir, source)
	for outer := m; outer != nil; outer = outer.parent {
		if sameDir(outer.dir, dir) {
			l.report.Error(b.AttributeRange("source"), "Module uses itself", "%s is the directory %q already: it would be used without end.", outer.what(), outer.dir)
			return "", false
		}
	}
	return dir, true
}

func sameDir(a, b string) bool {
	x, err1 := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err1 == nil && err2 == nil && x == y
}

// onlyInRoot are the types of blocks that say something of the whole cloud.
var onlyInRoot = []string{"cloud", "import"}

func (l *loader) checkModule(m *module) {
	for _, kind := range onlyInRoot {
		for _, b := range m.document.All(kind) {
			l.report.Error(b.Header, "Block in a module", "%s belongs into the files of the configuration itself: what it says is for the whole cloud.", b.Described())
		}
	}
	known := m.document.Labels("variable")
	for _, attr := range m.call.Ordered() {
		if schema.ModuleType.Attribute(attr.Name) == nil && !slices.Contains(known, attr.Name) {
			l.report.Error(attr.NameRange, fmt.Sprintf("There is no variable %q", attr.Name), "%s", words.WithHint(words.DidYouMean(attr.Name, append(known, schema.ModuleType.AttributeNames()...)),
				fmt.Sprintf("The module in %q declares: %s.", m.dir, words.Sorted(known))))
		}
	}
}

// misspeltArgument reports whether an argument of a module block that is for no variable
// was probably meant for this one.
func (l *loader) misspeltArgument(m *module, name string) bool {
	known := append(m.document.Labels("variable"), schema.ModuleType.AttributeNames()...)
	return slices.ContainsFunc(m.call.Ordered(), func(attr *hclsyntax.Attribute) bool {
		return !slices.Contains(known, attr.Name) && words.Nearest(attr.Name, known) == name
	})
}

// addModules makes the nodes of the modules that a module uses: a module block is
// evaluated for how often it is used, before everything in it.
func (g *graph) addModules(m *module) {
	for _, child := range m.calls {
		g.add(&node{
			id: child.path() + "*", module: m, root: "call", name: child.name, at: child.call.Header,
			evaluate: func(f *frame) cty.Value {
				items, ok := g.items(f, child.call)
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
		if attr := m.call.Attributes[a.Name]; attr != nil {
			out = append(out, g.reach(m.parent).edges(attr.Expr)...)
		}
	}
	return out
}

// passed evaluates the value that a module block gives to a variable.
func (g *graph) passed(f *frame, v *variable) (value cty.Value, ok bool) {
	attr := f.module.call.Attributes[v.Name]
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

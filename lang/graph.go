package lang

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// graph is everything in a configuration that other things can refer to, and who
// refers to whom: what is referred to is evaluated first. A block is one node,
// however often it is repeated, and so is a block of a module that is used several
// times.
type graph struct {
	*loader
	nodes   map[string]*node // by id, "module.edge.service.keystone"
	order   []*node          // as declared
	members map[*module][]*node
	// global is what every expression of the user can refer to: the cloud.
	global *scope
	// services are the ones that were evaluated, in that order.
	services  []*instance
	byAddress map[string]*instance
	claimed   map[string]claimed
	places    map[string]hcl.Range // see declared
	addresses []string             // its keys, sorted
	moved     map[string]bool      // what moved blocks are about
	running   []*node              // those that are being evaluated, each for the one before
	// warnedHosts are the places of values that name a host and were warned of.
	warnedHosts map[hcl.Range]bool
	// onlyOne are the services, roles and exposures of modules whose label nothing else
	// has. A definition finds them from anywhere.
	onlyOne map[blockKey]only
	// anywhere is what they are.
	anywhere *scope
	// expandedDefaults is what the cloud's defaults are when their dynamic blocks are
	// evaluated; nil: they have none.
	expandedDefaults *source.Block
	inputs           map[*source.Block]*variable
	catalogue        *scope // of the definitions of the catalogue
	inUse            *lazy  // cloud.services
}

// blockKey finds a node by the root and the name in a reference.
type blockKey struct{ root, name string }

// node is one thing that can be referred to.
type node struct {
	id     string
	module *module
	root   string // "service"; for the cloud: "cloud"
	name   string
	block  *source.Block // nil: it is no block
	at     hcl.Range
	needs  []edge
	// evaluate gives the node's value in one use of its module.
	evaluate func(f *frame) cty.Value
	// broken nodes are on a cycle: their value is unknown.
	broken bool
	// made are the addresses that services, manifests and secrets got.
	made []made
	// state is how far the node is in each use of its module; finished: in all.
	state    map[*frame]evaluation
	finished bool
	known    map[string]bool // the nodes that it is known to need; see needing
	// argumentsOf is the secret that the node is the arguments of; see addSecret.
	argumentsOf string
	definition  string // of a service: the name of its definition
}

// made is one instance of a service, manifest or secret.
type made struct {
	frame   *frame
	suffix  string // the key: `["cache"]`
	address string
}

// edge is a reference from one node to another.
type edge struct {
	to  string
	at  hcl.Range
	key string // which instance, where that is written: `["cache"]`; else all
	// within is the use of a module that is meant, where that is written:
	// `module.edge["west"]`.
	within string
}

// reach says where the names in an expression are looked for.
type reach struct {
	// values is the module of variables, local values and modules; nil: there is none,
	// as for definitions of the catalogue.
	values *module
	// things is the module of roles, exposures and services.
	things *module
	// around: those that the module does not have, the modules around it may, and else
	// any module, if it is the only one that does.
	around bool
	graph  *graph
}

// reach is that of the user's expressions in a module.
func (g *graph) reach(m *module) reach { return reach{values: m, things: m, graph: g} }

// of is the reach of what a layer says in blocks of a definition.
func (r reach) of(layer string) reach {
	if layer == configs.LayerCloud {
		return r.graph.reach(r.graph.loader.root)
	}
	return r.graph.reach(r.things)
}

func newGraph(l *loader) *graph {
	g := &graph{
		loader: l, nodes: map[string]*node{}, members: map[*module][]*node{},
		global: newScope(nil), byAddress: map[string]*instance{}, claimed: map[string]claimed{}, moved: map[string]bool{},
		warnedHosts: map[hcl.Range]bool{}, inputs: map[*source.Block]*variable{},
	}
	l.reader.Published = g.publicPart
	// Until the cloud is evaluated, or if there is none, nothing is known of it.
	g.global.singles["cloud"] = cty.DynamicVal
	for _, b := range l.document.All("cloud")[:min(1, len(l.document.All("cloud")))] {
		g.add(&node{id: "cloud", module: l.root, root: "cloud", at: b.Header, needs: g.reach(l.root).attributeEdges(b), evaluate: func(f *frame) cty.Value {
			g.global.singles["cloud"] = g.cloud(f, b)
			if d := b.One("defaults", ""); d != nil && d.HasDynamic {
				g.expandedDefaults = g.evaluator(f).expanded(d)
			}
			return cty.NilVal
		}})
	}
	g.catalogue = g.catalogueScope()
	g.inUse = &lazy{evaluate: g.servicesInUse}
	g.findOnlyOnes()
	g.addModule(l.root)
	// What only the evaluation shows to be read is found, and needed, from anywhere too.
	g.anywhere.nodes = map[blockKey]*node{}
	for key, only := range g.onlyOne {
		g.anywhere.nodes[key] = g.nodes[only.id]
	}
	return g
}

// only is a node that is the only one of its kind and label.
type only struct {
	module *module
	id     string
}

// findOnlyOnes finds the labels that only one module has, and that is used once.
func (g *graph) findOnlyOnes() {
	g.onlyOne, g.anywhere = map[blockKey]only{}, newScope(nil)
	taken := map[blockKey]bool{}
	for _, m := range g.modules() {
		for _, kind := range things {
			if g.anywhere.groups[kind] == nil {
				g.anywhere.groups[kind] = group{}
			}
			for _, label := range m.written.Document.Labels(kind) {
				key := blockKey{kind, label}
				if taken[key] || m.repeated() {
					delete(g.onlyOne, key)
				} else {
					g.onlyOne[key] = only{m, m.written.Path() + kind + "." + label}
				}
				taken[key] = true
			}
		}
	}
	for key := range g.onlyOne {
		g.anywhere.groups[key.root][key.name] = cty.DynamicVal
	}
}

// addModule makes the nodes of a module, and of those that it uses.
func (g *graph) addModule(m *module) {
	g.addVariables(m)
	g.addLocals(m)
	for _, b := range m.written.Document.All("role") {
		g.addRepeated(m, b, g.role)
	}
	for _, b := range m.written.Document.All("exposure") {
		g.addRepeated(m, b, g.exposure)
	}
	for _, b := range m.written.Document.All("secret") {
		g.addSecret(m, b)
	}
	g.addData(m)
	g.addServices(m)
	for _, b := range m.written.Document.All("manifest") {
		n := g.addRepeated(m, b, g.manifest)
		n.needs = append(n.needs, g.dependsOn(m, b)...)
		n.needs = append(n.needs, g.triggerEdges(m, b)...)
	}
	g.addOutputs(m)
	g.addChecks(m)
	g.addModules(m)
}

// add makes a node known. What stands in a module comes after the module block, and
// services, manifests and data after what that depends on.
func (g *graph) add(n *node) *node {
	if n.module.written.Call != nil {
		n.needs = append(n.needs, edge{to: n.module.written.Path() + "*", at: n.module.written.Call.Header})
	}
	if n.root == "service" || n.root == "manifest" || n.root == "data" {
		for m := n.module; m.written.Call != nil; m = m.parent {
			n.needs = append(n.needs, g.dependsOn(m.parent, m.written.Call)...)
		}
	}
	if n.root == "call" {
		n.needs = append(n.needs, g.callEdges(n.module.calling(n.name))...)
	}
	g.nodes[n.id] = n
	g.order = append(g.order, n)
	g.members[n.module] = append(g.members[n.module], n)
	return n
}

func (g *graph) addBlock(m *module, b *source.Block, evaluate func(f *frame) cty.Value) *node {
	return g.add(&node{
		id: m.written.Path() + b.ID(), module: m, root: b.Type.Name, name: b.Label, block: b, at: b.Header,
		needs: g.reach(m).blockEdges(b), evaluate: evaluate,
	})
}

// addRepeated makes a node of a block that can be repeated. evaluate gets the block
// with what its dynamic blocks stand for, and the instance.
func (g *graph) addRepeated(m *module, b *source.Block, evaluate func(n *node, f *frame, b *source.Block, e *evaluator, it item) cty.Value) *node {
	var n *node
	n = g.addBlock(m, b, func(f *frame) cty.Value {
		return g.repeated(f, b, func(it item) cty.Value {
			e := g.evaluator(f)
			e.scope = it.scope
			return evaluate(n, f, e.expanded(b), e, it)
		})
	})
	return n
}

// address is the address of an instance, and makes it known to what depends on it.
func (n *node) address(f *frame, it item) string {
	address := f.address + it.address(n.block)
	n.made = append(n.made, made{f, it.suffix(), address})
	return address
}

func (g *graph) addLocals(m *module) {
	for _, attr := range source.Locals(g.report, m.written.Document) {
		g.add(&node{
			id: m.written.Path() + "local." + attr.Name, module: m, root: "local", name: attr.Name, at: attr.NameRange,
			needs:    g.reach(m).edges(attr.Expr),
			evaluate: func(f *frame) cty.Value { return g.evaluator(f).value(attr.Expr) },
		})
	}
}

// edges are the references in an expression to what the graph orders.
func (r reach) edges(expr hcl.Expression) []edge {
	switch x := expr.(type) {
	case *said:
		return r.of(x.layer).edges(x.Expression)
	case *stacked:
		return append(r.edges(x.below), r.of(x.layer).edges(x.Expression)...)
	}
	var out []edge
	for _, t := range r.graph.memo.references(expr) {
		root := t.RootName()
		if root == "cloud" {
			out = append(out, edge{to: "cloud", at: t.SourceRange()})
			continue
		}
		name, ok := addrs.NameOf(t)
		if !ok || !slices.Contains(named, root) {
			continue
		}
		for _, id := range r.find(root, name, t) {
			out = append(out, edge{to: id, at: t.SourceRange(), key: keyOf(t)})
		}
	}
	return out
}

// find gives the nodes that a reference is to: several for a module of which not one
// output is named.
func (r reach) find(root, name string, t hcl.Traversal) []string {
	switch root {
	case "module":
		if r.values == nil || r.values.calling(name) == nil {
			return nil
		}
		return outputsOf(r.values.calling(name), t)
	case "var", "local", "data":
		if r.values != nil && r.values.declares(root, name) {
			return []string{r.values.written.Path() + root + "." + name}
		}
		return nil
	}
	for m := r.things; m != nil; m = m.parent {
		if m.declares(root, name) {
			return []string{m.written.Path() + root + "." + name}
		}
		if !r.around {
			return nil
		}
	}
	if only, ok := r.graph.onlyOne[blockKey{root, name}]; ok {
		return []string{only.id}
	}
	return nil
}

// outputsOf are the nodes of the outputs that a reference to a module means, and of
// the module block itself.
func outputsOf(m *module, t hcl.Traversal) []string {
	out := []string{m.written.Path() + "*"}
	steps := t[min(2, len(t)):]
	if repeats(m.written.Call) && len(steps) > 0 {
		steps = steps[1:] // the key, or a splat
	}
	if len(steps) > 0 {
		if attr, ok := steps[0].(hcl.TraverseAttr); ok && m.written.Document.One("output", attr.Name) != nil {
			return append(out, m.written.Path()+"output."+attr.Name)
		}
	}
	for _, name := range m.written.Document.Labels("output") {
		out = append(out, m.written.Path()+"output."+name)
	}
	return out
}

// keyOf is the key in a reference such as service.redis["cache"], where it is
// written out.
func keyOf(t hcl.Traversal) string {
	if len(t) > 2 {
		if index, ok := t[2].(hcl.TraverseIndex); ok && index.Key.IsKnown() && !index.Key.IsNull() {
			return item{key: index.Key}.suffix()
		}
	}
	return ""
}

// attributeEdges are the references in the arguments of a block.
func (r reach) attributeEdges(b *source.Block) []edge {
	var out []edge
	for _, attr := range b.Ordered() {
		if typ := b.Type.Attribute(attr.Name); typ == nil || typ.Type != schema.TypeReferences {
			out = append(out, r.edges(attr.Expr)...)
		}
	}
	return out
}

// blockEdges are the references in a block and all blocks in it.
func (r reach) blockEdges(b *source.Block) []edge {
	out := r.attributeEdges(b)
	for _, child := range b.Blocks {
		out = append(out, r.blockEdges(child)...)
	}
	return out
}

// is reports whether a reference means the instance.
func (m made) is(need edge) bool {
	if need.key != "" && need.key != m.suffix {
		return false
	}
	use := "." + m.address
	return strings.Contains(use, "."+need.within+".") || !strings.HasSuffix(need.within, "]")
}

// sees reports whether two frames are in the same use of every module that both are
// in: of a module that is used several times, each use has services of its own.
func (f *frame) sees(other *frame) bool {
	for a := f; a != nil; a = a.parent {
		for b := other; b != nil; b = b.parent {
			if a.module == b.module && a != b {
				return false
			}
		}
	}
	return true
}

// isNullLiteral reports whether an expression is the word null.
func isNullLiteral(expr hcl.Expression) bool {
	if x, ok := expr.(*said); ok {
		expr = x.Expression
	}
	literal, ok := expr.(*hclsyntax.LiteralValueExpr)
	return ok && literal.Val.IsNull()
}

package lang

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/dag"
	"kolla.openstack.org/kolla/internal/spelling"
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
	// doubted are the places of values that name a host and were warned of.
	doubted map[hcl.Range]bool
	// onlyOne are the services, roles and exposures of modules whose label nothing else
	// has. A definition finds them from anywhere.
	onlyOne map[blockKey]only
	// anywhere is what they are.
	anywhere *scope
	// expandedDefaults is what the cloud's defaults are when their dynamic blocks are
	// evaluated; nil: they have none.
	expandedDefaults *block
}

// node is one thing that can be referred to.
type node struct {
	id     string
	module *module
	root   string // "service"; for the cloud: "cloud"
	name   string
	block  *block // nil: it is no block
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

func newGraph(l *loader) *graph {
	g := &graph{
		loader: l, nodes: map[string]*node{}, members: map[*module][]*node{},
		global: newScope(nil), byAddress: map[string]*instance{}, claimed: map[string]claimed{}, moved: map[string]bool{},
		doubted: map[hcl.Range]bool{},
	}
	l.reader.Published = g.publicPart
	// Until the cloud is evaluated, or if there is none, nothing is known of it.
	g.global.singles["cloud"] = cty.DynamicVal
	for _, b := range l.document.all("cloud")[:min(1, len(l.document.all("cloud")))] {
		g.add(&node{id: "cloud", module: l.root, root: "cloud", at: b.header, needs: g.reach(l.root).attributeEdges(b), evaluate: func(f *frame) cty.Value {
			g.global.singles["cloud"] = g.cloud(f, b)
			if d := b.one("defaults", ""); d != nil && d.grows {
				g.expandedDefaults = g.evaluator(f).expanded(d)
			}
			return cty.NilVal
		}})
	}
	g.findOnlyOnes()
	g.addModule(l.root)
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
			for _, label := range m.document.labels(kind) {
				key := blockKey{kind, label}
				if taken[key] || m.repeated() {
					delete(g.onlyOne, key)
				} else {
					g.onlyOne[key] = only{m, m.path() + kind + "." + label}
				}
				taken[key] = true
			}
		}
	}
	for key := range g.onlyOne {
		g.anywhere.groups[key.typ][key.label] = cty.DynamicVal
	}
}

// addModule makes the nodes of a module, and of those that it uses.
func (g *graph) addModule(m *module) {
	g.addVariables(m)
	g.addLocals(m)
	for _, b := range m.document.all("role") {
		g.addRepeated(m, b, g.role)
	}
	for _, b := range m.document.all("exposure") {
		g.addRepeated(m, b, g.exposure)
	}
	for _, b := range m.document.all("secret") {
		g.addSecret(m, b)
	}
	g.addData(m)
	g.addServices(m)
	for _, b := range m.document.all("manifest") {
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
	if n.module.call != nil {
		n.needs = append(n.needs, edge{to: n.module.path() + "*", at: n.module.call.header})
	}
	if n.root == "service" || n.root == "manifest" || n.root == "data" {
		for m := n.module; m.call != nil; m = m.parent {
			n.needs = append(n.needs, g.dependsOn(m.parent, m.call)...)
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

func (g *graph) addBlock(m *module, b *block, evaluate func(f *frame) cty.Value) *node {
	return g.add(&node{
		id: m.path() + b.id(), module: m, root: b.typ.Name, name: b.label, block: b, at: b.header,
		needs: g.reach(m).blockEdges(b), evaluate: evaluate,
	})
}

// addRepeated makes a node of a block that can be repeated. evaluate gets the block
// with what its dynamic blocks stand for, and the instance.
func (g *graph) addRepeated(m *module, b *block, evaluate func(n *node, f *frame, b *block, e *evaluator, it item) cty.Value) *node {
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
	first := map[string]hcl.Range{}
	for _, b := range m.document.all("locals") {
		for _, attr := range b.ordered() {
			if at, twice := first[attr.Name]; twice {
				g.error(attr.NameRange, fmt.Sprintf("Second local value named %q", attr.Name), "The first is at %s. Rename one of them.", position(at))
				continue
			}
			first[attr.Name] = attr.NameRange
			g.add(&node{
				id: m.path() + "local." + attr.Name, module: m, root: "local", name: attr.Name, at: attr.NameRange,
				needs:    g.reach(m).edges(attr.Expr),
				evaluate: func(f *frame) cty.Value { return g.evaluator(f).value(attr.Expr) },
			})
		}
	}
}

// edges are the references in an expression to what the graph orders.
func (r reach) edges(expr hcl.Expression) []edge {
	var out []edge
	for _, t := range r.graph.memo.references(expr) {
		root := t.RootName()
		if root == "cloud" {
			out = append(out, edge{to: "cloud", at: t.SourceRange()})
			continue
		}
		name, ok := nameOf(t)
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
			return []string{r.values.path() + root + "." + name}
		}
		return nil
	}
	for m := r.things; m != nil; m = m.parent {
		if m.declares(root, name) {
			return []string{m.path() + root + "." + name}
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
	out := []string{m.path() + "*"}
	steps := t[min(2, len(t)):]
	if repeats(m.call) && len(steps) > 0 {
		steps = steps[1:] // the key, or a splat
	}
	if len(steps) > 0 {
		if attr, ok := steps[0].(hcl.TraverseAttr); ok && m.document.one("output", attr.Name) != nil {
			return append(out, m.path()+"output."+attr.Name)
		}
	}
	for _, name := range m.document.labels("output") {
		out = append(out, m.path()+"output."+name)
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
func (r reach) attributeEdges(b *block) []edge {
	var out []edge
	for _, attr := range b.ordered() {
		if typ := b.typ.attribute(attr.Name); typ == nil || typ.Type != TypeReferences {
			out = append(out, r.edges(attr.Expr)...)
		}
	}
	return out
}

// blockEdges are the references in a block and all blocks in it.
func (r reach) blockEdges(b *block) []edge {
	out := r.attributeEdges(b)
	for _, child := range b.blocks {
		out = append(out, r.blockEdges(child)...)
	}
	return out
}

// dependsOn reads a depends_on list. It is not evaluated: only names are needed.
func (g *graph) dependsOn(m *module, b *block) []edge {
	attr := b.attributes["depends_on"]
	if attr == nil || isNullLiteral(attr.Expr) {
		return nil
	}
	items, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		g.error(attr.Expr.Range(), "Unsuitable value for \"depends_on\"", "It must be a list of references, such as [service.mariadb].")
		return nil
	}
	var out []edge
	for _, item := range items {
		out = append(out, g.dependency(m, b, item)...)
	}
	return out
}

// dependency reads one element of a depends_on list.
func (g *graph) dependency(m *module, b *block, expr hcl.Expression) []edge {
	t, diags := hcl.AbsTraversalForExpr(expr)
	name, ok := nameOf(t)
	kinds := []string{"service", "manifest", "module"}
	if diags.HasErrors() || !ok || !slices.Contains(kinds, t.RootName()) || len(t) > 3 || len(t) == 3 && keyOf(t) == "" {
		g.error(expr.Range(), "Unsuitable value for \"depends_on\"", "Each element must be service.NAME, manifest.NAME or module.NAME, without quotes; of a repeated one also NAME[\"KEY\"].")
		return nil
	}
	kind := t.RootName()
	switch {
	case m.document.one(kind, name) == nil:
		known := m.document.labels(kind)
		g.error(expr.Range(), fmt.Sprintf("There is no %s %q", kind, name), "%s",
			trimJoin(spelling.DidYouMean(name, known), fmt.Sprintf("Declared are: %s.", listed(known))))
	case kind+"."+name == b.id():
		g.error(expr.Range(), "Unsuitable value for \"depends_on\"", "Nothing can depend on itself.")
	case kind == "module":
		return g.insideOf(m.calling(name), expr.Range(), kind+"."+name+keyOf(t))
	default:
		return []edge{{to: m.path() + kind + "." + name, at: expr.Range(), key: keyOf(t)}}
	}
	return nil
}

// insideOf are edges to all services and manifests of a module, or of one use of it.
func (g *graph) insideOf(m *module, at hcl.Range, within string) []edge {
	if m == nil {
		return nil // it could not be read
	}
	var out []edge
	for _, kind := range []string{"service", "manifest"} {
		for _, name := range m.document.labels(kind) {
			out = append(out, edge{to: m.path() + kind + "." + name, at: at, within: within})
		}
	}
	for _, child := range m.calls {
		out = append(out, g.insideOf(child, at, within)...)
	}
	return out
}

// sortedNodes orders the nodes. Cycles are reported and cut, so that what is not
// on one is still evaluated.
func (g *graph) sortedNodes() []*node {
	for {
		var d dag.Graph[string]
		for _, n := range g.order {
			d.Add(n.id)
			if n.broken {
				continue
			}
			for _, need := range n.needs {
				if g.nodes[need.to] != nil {
					d.Connect(n.id, need.to)
				}
			}
		}
		ids, err := d.Order()
		var cycle *dag.CycleError[string]
		if errors.As(err, &cycle) {
			g.reportCycle(cycle.Cycle)
			continue
		}
		var out []*node
		for _, id := range ids {
			out = append(out, g.nodes[id])
		}
		return out
	}
}

// reportCycle says how a cycle goes round, and takes its nodes out of the order.
func (g *graph) reportCycle(cycle []string) {
	var steps []string
	var subject *hcl.Range
	for i, id := range cycle[:len(cycle)-1] {
		n := g.nodes[id]
		n.broken = true
		for _, need := range n.needs {
			if need.to != cycle[i+1] {
				continue
			}
			steps = append(steps, fmt.Sprintf("%s refers to %s at %s", id, need.to, position(need.at)))
			if subject == nil && !builtinRange(need.at) {
				subject = need.at.Ptr()
			}
			break
		}
	}
	if subject == nil {
		subject = g.nodes[cycle[0]].at.Ptr()
	}
	g.circular(*subject, cycle, steps)
}

// checkOrder reports secrets that are to be there before what they wait for: what reads
// them does not wait for their arguments.
func (g *graph) checkOrder() {
	reasons := map[string][]Reason{}
	for _, s := range g.config.Secrets {
		reasons[s.Block] = s.Reasons
	}
	if len(reasons) == 0 {
		return
	}
	for _, s := range g.config.Services {
		reasons[s.Block] = s.Reasons
	}
	for _, m := range g.config.Manifests {
		reasons[m.Block] = m.Reasons
	}
	var d dag.Graph[string]
	for _, block := range keysOf(reasons) {
		d.Add(block)
		for _, r := range reasons[block] {
			if _, known := reasons[r.Needs]; known {
				d.Connect(block, r.Needs)
			}
		}
	}
	_, err := d.Order()
	var cycle *dag.CycleError[string]
	if !errors.As(err, &cycle) {
		return
	}
	var steps []string
	var subject hcl.Range
	for i, block := range cycle.Cycle[:len(cycle.Cycle)-1] {
		at := slices.IndexFunc(reasons[block], func(r Reason) bool { return r.Needs == cycle.Cycle[i+1] })
		r := reasons[block][at]
		if i == 0 {
			subject = r.Range
		}
		through := ""
		if r.Through != "" {
			through = ", through " + r.Through
		}
		steps = append(steps, fmt.Sprintf("%s refers to %s at %s%s", block, r.Needs, position(r.Range), through))
	}
	g.circular(subject, cycle.Cycle, steps)
}

func (g *graph) circular(subject hcl.Range, cycle, steps []string) {
	g.error(subject, "Circular reference", "%s: each of them needs the next one first. Take out one of these:\n\n  %s",
		strings.Join(cycle, " → "), strings.Join(steps, "\n  "))
}

// builtinRange reports whether a range is in the catalogue.
func builtinRange(r hcl.Range) bool { return strings.HasPrefix(r.Filename, CatalogueDir) }

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
	literal, ok := expr.(*hclsyntax.LiteralValueExpr)
	return ok && literal.Val.IsNull()
}

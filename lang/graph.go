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
)

// graph is everything in a configuration that other things can refer to, and who
// refers to whom: what is referred to is evaluated first.
type graph struct {
	*loader
	nodes map[string]*node // by id, "service.keystone"
	order []*node          // as declared
	// services are the ones that were evaluated, by name.
	services map[string]*instance
}

// node is one thing that can be referred to.
type node struct {
	id       string
	root     string // "service"; for the cloud: "cloud"
	name     string
	at       hcl.Range
	needs    []edge
	evaluate func() cty.Value
	// broken nodes are on a cycle: their value is unknown.
	broken bool
}

// edge is a reference from one node to another.
type edge struct {
	to string
	at hcl.Range
}

func newGraph(l *loader) *graph {
	g := &graph{loader: l, nodes: map[string]*node{}, services: map[string]*instance{}}
	for _, kind := range []string{"local", "role", "exposure", "service"} {
		l.root.groups[kind] = group{}
	}
	g.addCloud()
	g.addLocals()
	for _, b := range l.document.all("role") {
		g.addBlock(b, blockEdges(b), func() cty.Value { return g.role(b) })
	}
	for _, b := range l.document.all("exposure") {
		g.addBlock(b, blockEdges(b), func() cty.Value { return g.exposure(b) })
	}
	g.addServices()
	for _, b := range l.document.all("manifest") {
		needs := blockEdges(b)
		needs = append(needs, g.dependsOn(b)...)
		g.addBlock(b, needs, func() cty.Value {
			g.manifest(b)
			return cty.NilVal
		})
	}
	return g
}

// add makes a node known. Until it is evaluated, nothing is known of its value.
func (g *graph) add(n *node) {
	g.nodes[n.id] = n
	if names, ok := g.root.groups[n.root]; ok {
		names[n.name] = cty.DynamicVal
	}
	g.order = append(g.order, n)
}

func (g *graph) addBlock(b *block, needs []edge, evaluate func() cty.Value) {
	g.add(&node{id: b.id(), root: b.typ.Name, name: b.label, at: b.header, needs: needs, evaluate: evaluate})
}

func (g *graph) addCloud() {
	for _, b := range g.document.all("cloud")[:min(1, len(g.document.all("cloud")))] {
		g.add(&node{id: "cloud", root: "cloud", at: b.header, needs: attributeEdges(b), evaluate: func() cty.Value { return g.cloud(b) }})
	}
	// Until the cloud is evaluated, or if there is none, nothing is known of it.
	g.root.singles["cloud"] = cty.DynamicVal
}

func (g *graph) addLocals() {
	first := map[string]hcl.Range{}
	for _, b := range g.document.all("locals") {
		for _, attr := range b.ordered() {
			if at, twice := first[attr.Name]; twice {
				g.error(attr.NameRange, fmt.Sprintf("Second local value named %q", attr.Name), "The first is at %s. Rename one of them.", position(at))
				continue
			}
			first[attr.Name] = attr.NameRange
			g.add(&node{
				id: "local." + attr.Name, root: "local", name: attr.Name, at: attr.NameRange,
				needs:    edges(attr.Expr),
				evaluate: func() cty.Value { return g.evaluator().value(attr.Expr) },
			})
		}
	}
}

// edges are the references in an expression to what the graph orders.
func edges(expr hcl.Expression) []edge {
	var out []edge
	for _, t := range expr.Variables() {
		switch root := t.RootName(); root {
		case "cloud":
			out = append(out, edge{"cloud", t.SourceRange()})
		case "local", "role", "exposure", "service":
			if name, ok := nameOf(t); ok {
				out = append(out, edge{root + "." + name, t.SourceRange()})
			}
		}
	}
	return out
}

// attributeEdges are the references in the arguments of a block.
func attributeEdges(b *block) []edge {
	var out []edge
	for _, attr := range b.ordered() {
		if typ := b.typ.attribute(attr.Name); typ == nil || typ.Type != TypeReferences {
			out = append(out, edges(attr.Expr)...)
		}
	}
	return out
}

// blockEdges are the references in a block and all blocks in it.
func blockEdges(b *block) []edge {
	out := attributeEdges(b)
	for _, child := range b.blocks {
		out = append(out, blockEdges(child)...)
	}
	return out
}

// dependsOn reads a depends_on list. It is not evaluated: only names are needed.
func (g *graph) dependsOn(b *block) []edge {
	attr := b.attributes["depends_on"]
	if attr == nil {
		return nil
	}
	items, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		g.error(attr.Expr.Range(), "Unsuitable value for \"depends_on\"", "It must be a list of references, such as [service.mariadb].")
		return nil
	}
	var out []edge
	for _, item := range items {
		t, diags := hcl.AbsTraversalForExpr(item)
		name, ok := nameOf(t)
		if diags.HasErrors() || !ok || len(t) != 2 || t.RootName() != "service" && t.RootName() != "manifest" {
			g.error(item.Range(), "Unsuitable value for \"depends_on\"", "Each element must be service.NAME or manifest.NAME, without quotes.")
			continue
		}
		id := t.RootName() + "." + name
		switch {
		case g.document.one(t.RootName(), name) == nil:
			known := g.document.labels(t.RootName())
			g.error(item.Range(), fmt.Sprintf("There is no %s %q", t.RootName(), name), "%s",
				trimJoin(DidYouMean(name, known), fmt.Sprintf("Declared are: %s.", listed(known))))
		case id == b.id():
			g.error(item.Range(), "Unsuitable value for \"depends_on\"", "Nothing can depend on itself.")
		default:
			out = append(out, edge{id, item.Range()})
		}
	}
	return out
}

// evaluate goes through the nodes, each after what it refers to.
func (g *graph) evaluate() {
	for _, n := range g.sortedNodes() {
		value := cty.DynamicVal
		if !n.broken {
			value = n.evaluate()
		}
		switch {
		case n.root == "cloud":
			g.root.singles["cloud"] = value
		case g.root.groups[n.root] != nil:
			g.root.groups[n.root][n.name] = value
		}
	}
	g.finish()
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
	g.error(*subject, "Circular reference", "%s: each of them needs the next one first. Take out one of these:\n\n  %s",
		strings.Join(cycle, " → "), strings.Join(steps, "\n  "))
}

// builtinRange reports whether a range is in the catalogue.
func builtinRange(r hcl.Range) bool { return strings.HasPrefix(r.Filename, CatalogueDir) }

// needsOf are the services and manifests that a node refers to, directly or
// through anything that is neither.
func (g *graph) needsOf(id string) []string {
	seen := map[string]bool{id: true}
	var out []string
	var visit func(n *node)
	visit = func(n *node) {
		for _, need := range n.needs {
			next := g.nodes[need.to]
			if next == nil || seen[need.to] {
				continue
			}
			seen[need.to] = true
			if next.root == "service" || next.root == "manifest" {
				out = append(out, need.to)
			} else {
				visit(next)
			}
		}
	}
	visit(g.nodes[id])
	slices.Sort(out)
	return out
}

// literal evaluates a string that is needed before anything else is evaluated.
func (l *loader) literal(b *block, name string) string {
	attr := b.attributes[name]
	if attr != nil && len(attr.Expr.Variables()) > 0 {
		l.error(attr.Expr.Range(), fmt.Sprintf("Unsuitable value for %q", name), "It must be a plain string in quotes, because it is read before anything is evaluated.")
		return ""
	}
	return l.constant().string(b, name)
}

// isNullLiteral reports whether an expression is the word null.
func isNullLiteral(expr hcl.Expression) bool {
	literal, ok := expr.(*hclsyntax.LiteralValueExpr)
	return ok && literal.Val.IsNull()
}

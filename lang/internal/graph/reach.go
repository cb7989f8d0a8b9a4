package graph

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// Reach says which modules the names in an expression can refer to.
type Reach struct {
	graph *Graph
	// values has the variables, local values, data and modules. Nil: there are none, as in
	// definitions of the catalogue.
	values *Module
	// shared has the roles, exposures, secrets and services.
	shared *Module
	// around permits the modules around shared as well, and then each module whose label is
	// unique.
	around bool
}

// Reach returns the reach of the user's expressions in a module.
func (g *Graph) Reach(m *Module) Reach { return Reach{graph: g, values: m, shared: m} }

// DefinitionReach returns the reach of a definition in module home, for a service in module m.
// Home is nil for definitions of the catalogue.
func (g *Graph) DefinitionReach(home, m *Module) Reach {
	return Reach{graph: g, values: home, shared: m, around: true}
}

// Layer returns the reach of the expressions that a layer puts into a block of the definition. Home
// is nil for expressions of the definition's own module.
func (r Reach) Layer(layer string, home *source.Module) Reach {
	switch layer {
	case configs.LayerDefinition:
		if home != nil {
			return r.graph.DefinitionReach(r.values.Around(home), r.shared)
		}
		return r
	case configs.LayerCloud:
		return r.graph.Reach(r.graph.Root)
	}
	return r.graph.Reach(r.shared)
}

// Edges returns the references in an expression to nodes of the graph.
func (r Reach) Edges(expr hcl.Expression) []Edge {
	var out []Edge
	if x, ok := expr.(*layers.LayerExpr); ok {
		if x.Below != nil {
			out = r.Edges(x.Below)
		}
		return append(out, r.Layer(x.Layer, x.Home).Edges(x.Expression)...)
	}
	for _, t := range r.graph.env.Memo.References(expr) {
		root := t.RootName()
		if root == "cloud" {
			out = append(out, Edge{To: "cloud", At: t.SourceRange()})
			if eval.Observes(t) {
				out = append(out, Edge{To: observedID, At: t.SourceRange()})
			}
			continue
		}
		name, ok := addrs.NameOf(t)
		if !ok || !slices.Contains(eval.NamedKinds, root) {
			continue
		}
		for _, id := range r.find(root, name, t) {
			out = append(out, Edge{To: id, At: t.SourceRange(), Key: keyOf(t)})
		}
	}
	return out
}

// AttributeEdges returns the references in the arguments of a block.
func (r Reach) AttributeEdges(b *source.Block) []Edge {
	var out []Edge
	for _, attr := range b.Ordered() {
		if typ := b.Type.Attribute(attr.Name); typ == nil || typ.Type != schema.TypeReferences {
			out = append(out, r.Edges(attr.Expr)...)
		}
	}
	return out
}

// Observing returns the references to cloud.targets and cloud.urls in the arguments of a block.
func (r Reach) Observing(b *source.Block) []Edge {
	return slices.DeleteFunc(r.AttributeEdges(b), func(e Edge) bool { return e.To != observedID })
}

// BlockEdges returns the references in a block and in all blocks in it.
func (r Reach) BlockEdges(b *source.Block) []Edge {
	out := r.AttributeEdges(b)
	for _, child := range b.Blocks {
		out = append(out, r.BlockEdges(child)...)
	}
	return out
}

// Find returns the ID of the node that a reference ROOT.NAME names, or empty.
func (r Reach) Find(root, name string) string {
	if ids := r.find(root, name, nil); len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// find returns the nodes that a reference names. A reference to a module without the name of
// an output names all outputs.
func (r Reach) find(root, name string, t hcl.Traversal) []string {
	switch root {
	case "module":
		if r.values == nil || r.values.Calling(name) == nil {
			return nil
		}
		return outputsOf(r.values.Calling(name), t)
	case "var", "local", "data":
		if r.values != nil && r.values.declares(root, name) {
			return []string{r.values.Path() + root + "." + name}
		}
		return nil
	}
	for m := r.shared; m != nil; m = m.Parent {
		if m.declares(root, name) {
			return []string{m.Path() + root + "." + name}
		}
		if !r.around {
			return nil
		}
	}
	if u, ok := r.graph.unique[blockKey{root, name}]; ok {
		return []string{u.id}
	}
	return nil
}

// outputsOf returns the nodes of the module block and of the outputs that a reference to the
// module reads.
func outputsOf(m *Module, t hcl.Traversal) []string {
	out := []string{m.Path() + "*"}
	steps := t[min(2, len(t)):]
	if eval.Repeats(m.Written.Call) && len(steps) > 0 {
		steps = steps[1:] // the key, or a splat
	}
	if len(steps) > 0 {
		if attr, ok := steps[0].(hcl.TraverseAttr); ok && m.Written.Document.One("output", attr.Name) != nil {
			return append(out, m.Path()+"output."+attr.Name)
		}
	}
	for _, name := range m.Written.Document.Labels("output") {
		out = append(out, m.Path()+"output."+name)
	}
	return out
}

// keyOf returns the key in a reference such as service.redis["cache"], if it is a literal.
func keyOf(t hcl.Traversal) string {
	if len(t) > 2 {
		if index, ok := t[2].(hcl.TraverseIndex); ok && index.Key.IsKnown() && !index.Key.IsNull() {
			return eval.Instance{Key: index.Key}.Suffix()
		}
	}
	return ""
}

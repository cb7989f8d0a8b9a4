package services

import (
	"slices"

	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/settings"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// references returns all references of the service and of its definition. References in overridden
// config values do not count.
func references(d *declaration, values merged) []graph.Edge {
	out := []graph.Edge{{To: "cloud", At: d.node.Block.Header}}
	if eval.MayBeExternal(d.node.Block) { // what its definition refers to counts if it is read
		out = append(out, edgesWithoutSettings(d.set.Leaves, d.set.Graph.Reach(d.node.Module), d.node.Block)...)
		return append(out, graph.DependsOn(d.set.Report, d.node.Module, d.node.Block)...)
	}
	out = append(out, ownEdges(d)...)
	out = append(out, withoutReplaced(d, innerEdges(d, values))...)
	out = append(out, graph.DependsOn(d.set.Report, d.node.Module, d.node.Block)...)
	out = append(out, d.set.Moves.TriggerEdges(d.node.Module, d.node.Block)...)
	self := d.node.Block.ID()
	return slices.DeleteFunc(out, func(e graph.Edge) bool { return e.To == self || isOwnSecret(d, e) })
}

// innerEdges returns the references of the definition with its overrides.
func innerEdges(d *declaration, values merged) []graph.Edge {
	out := edgesWithoutSettings(d.set.Leaves, d.reach(), d.overlay.whole)
	if d.home != nil && d.home.Written.Call != nil {
		out = append(out, graph.Edge{To: d.home.Path() + "*", At: d.node.Block.Header})
	}
	out = append(out, defaultEdges(d)...)
	for _, b := range d.set.inDefaults(schema.PatchType.Name) {
		out = append(out, edgesWithoutSettings(d.set.Leaves, d.set.Graph.Reach(d.set.Graph.Root), b)...)
	}
	for _, b := range d.overlay.whole.All("config") {
		if layers.GateOf(b) == layers.GateOpen {
			out = append(out, settingsEdges(d.reach(), values[b.Label])...)
		}
	}
	for _, b := range d.overlay.whole.All("database") {
		if layers.GateOf(b) != layers.GateOpen {
			continue
		}
		if id := d.reach().Find("service", serverOf(b)); id != "" {
			out = append(out, graph.Edge{To: id, At: b.Header})
		}
	}
	out = append(out, serverEdges(d)...)
	for _, locals := range d.overlay.whole.All(schema.OwnLocalsType.Name) {
		out = append(out, d.reach().Observing(locals)...)
	}
	return append(out, mountEdges(d)...)
}

// ownEdges returns the references in the service block without blocks that override the definition.
func ownEdges(d *declaration) []graph.Edge {
	user := d.set.Graph.Reach(d.node.Module)
	out := user.AttributeEdges(d.node.Block)
	for _, child := range d.node.Block.Blocks {
		switch {
		case child.Type == schema.DynamicType:
			out = append(out, user.BlockEdges(child)...)
		case !layers.Overrides(child):
			out = append(out, edgesWithoutSettings(d.set.Leaves, user, child)...)
		default: // how its objects are treated is not put together with the definition's
			if l := child.One("lifecycle", ""); l != nil {
				out = append(out, edgesWithoutSettings(d.set.Leaves, user, l)...)
			}
		}
	}
	return out
}

// edgesWithoutSettings returns the references in a block without config values, because those are
// merged with other layers. Config values in a dynamic block count.
func edgesWithoutSettings(leaves settings.LeafMemo, r graph.Reach, b *source.Block) []graph.Edge {
	var out []graph.Edge
	for _, attr := range b.Ordered() {
		typ := b.Type.Attribute(attr.Name)
		switch {
		case typ != nil && (typ.Type == schema.TypeReferences || typ.Type == schema.TypeSettings):
		case typ != nil && typ.Type == schema.TypeTexts && layers.IsStacked(attr.Expr):
			out = append(out, settingsEdges(r, settings.Variables(leaves, b, attr.Name))...)
		default:
			out = append(out, r.Edges(attr.Expr)...)
		}
	}
	for _, child := range b.Blocks {
		switch gate := layers.GateOf(child); {
		case child.Type == schema.DynamicType:
			out = append(out, r.BlockEdges(child)...)
		case child.Type == schema.OwnLocalsType: // what they refer to counts if they are read
		case child.Type == schema.OwnCheckType: // evaluated after all services
		case gate == layers.GateOpen:
			out = append(out, edgesWithoutSettings(leaves, r, child)...)
		case gate == layers.GateUndecided: // what it refers to counts if it is read
			out = append(out, r.Edges(child.Attributes[schema.EnabledAttribute.Name].Expr)...)
		}
	}
	return out
}

// settingsEdges returns the references in merged config values. Each layer has its own reach.
func settingsEdges(r graph.Reach, s *settings.Merged) []graph.Edge {
	var out []graph.Edge
	for _, x := range s.Leaves {
		out = append(out, r.Layer(x.Layer.Name, x.Layer.Home).Edges(x.Expr)...)
	}
	return out
}

package services

import (
	"slices"

	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/settings"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// references returns all references of the service and of its definition. References in overridden
// config values do not count.
func references(in *instance) []graph.Edge {
	out := []graph.Edge{{To: "cloud", At: in.block.Header}}
	if eval.MayBeExternal(in.block) { // what its definition refers to counts if it is read
		out = append(out, edgesWithoutSettings(in.set.Leaves, in.set.Graph.Reach(in.node.Module), in.user, in.block)...)
		return append(out, graph.DependsOn(in.report, in.node.Module, in.block)...)
	}
	out = append(out, ownEdges(in)...)
	out = append(out, withoutReplaced(in, innerEdges(in))...)
	out = append(out, graph.DependsOn(in.report, in.node.Module, in.block)...)
	out = append(out, in.set.Moves.TriggerEdges(in.node.Module, in.block)...)
	self := in.block.ID()
	return slices.DeleteFunc(out, func(e graph.Edge) bool { return e.To == self || isOwnSecret(in, e) })
}

// innerEdges returns the references of the definition with its overrides.
func innerEdges(in *instance) []graph.Edge {
	out := edgesWithoutSettings(in.set.Leaves, in.innerReach, in.inner, in.definition)
	if in.home != nil && in.home.Written.Call != nil {
		out = append(out, graph.Edge{To: in.home.Path() + "*", At: in.block.Header})
	}
	out = append(out, defaultEdges(in)...)
	for _, b := range in.set.inDefaults(schema.PatchType.Name) {
		out = append(out, edgesWithoutSettings(in.set.Leaves, in.set.Graph.Reach(in.set.Graph.Root), in.cloud, b)...)
	}
	for _, b := range in.definition.All("config") {
		if eval.GateOf(b) == eval.GateOpen {
			out = append(out, settingsEdges(in.innerReach, in.merged[b.Label])...)
		}
	}
	for _, b := range in.definition.All("database") {
		if eval.GateOf(b) != eval.GateOpen {
			continue
		}
		if id := in.innerReach.Find("service", serverOf(b)); id != "" {
			out = append(out, graph.Edge{To: id, At: b.Header})
		}
	}
	out = append(out, serverEdges(in)...)
	return append(out, mountEdges(in)...)
}

// ownEdges returns the references in the service block without blocks that override the definition.
func ownEdges(in *instance) []graph.Edge {
	user := in.set.Graph.Reach(in.node.Module)
	out := user.AttributeEdges(in.block)
	for _, child := range in.block.Blocks {
		switch {
		case child.Type == schema.DynamicType:
			out = append(out, user.BlockEdges(child)...)
		case !eval.Overrides(child):
			out = append(out, edgesWithoutSettings(in.set.Leaves, user, in.user, child)...)
		default: // how its objects are treated is not put together with the definition's
			if l := child.One("lifecycle", ""); l != nil {
				out = append(out, edgesWithoutSettings(in.set.Leaves, user, in.user, l)...)
			}
		}
	}
	return out
}

// edgesWithoutSettings returns the references in a block without config values, because those are
// merged with other layers. Config values in a dynamic block count.
func edgesWithoutSettings(leaves settings.LeafMemo, r graph.Reach, e *eval.Env, b *source.Block) []graph.Edge {
	var out []graph.Edge
	for _, attr := range b.Ordered() {
		typ := b.Type.Attribute(attr.Name)
		switch {
		case typ != nil && (typ.Type == schema.TypeReferences || typ.Type == schema.TypeSettings):
		case typ != nil && typ.Type == schema.TypeTexts && eval.IsStacked(attr.Expr):
			out = append(out, settingsEdges(r, settings.Variables(leaves, e, b, attr.Name))...)
		default:
			out = append(out, r.Edges(attr.Expr)...)
		}
	}
	for _, child := range b.Blocks {
		switch gate := eval.GateOf(child); {
		case child.Type == schema.DynamicType:
			out = append(out, r.BlockEdges(child)...)
		case child.Type == schema.OwnLocalsType: // what they refer to counts if they are read
		case gate == eval.GateOpen:
			out = append(out, edgesWithoutSettings(leaves, r, e, child)...)
		case gate == eval.GateUndecided: // what it refers to counts if it is read
			out = append(out, r.Edges(child.Attributes[schema.EnabledAttribute.Name].Expr)...)
		}
	}
	return out
}

// settingsEdges returns the references in merged config values. Each layer has its own reach.
func settingsEdges(r graph.Reach, s *settings.Merged) []graph.Edge {
	var out []graph.Edge
	for _, x := range s.Leaves {
		out = append(out, r.Layer(x.Layer.Name, x.Layer.Home()).Edges(x.Expr)...)
	}
	return out
}

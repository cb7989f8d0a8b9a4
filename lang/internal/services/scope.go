package services

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/catalogue"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// definitionScope has the names that a definition in module home knows, for a service in a frame.
// Variables, local values and data come from the module of the definition; services, roles and
// exposures come from the module of the service.
func definitionScope(c *Set, home *graph.Module, f *graph.Frame) *eval.Scope {
	out := eval.NewScope(f.Shared)
	out.Singles["cloud"] = c.Graph.Global.Singles["cloud"]
	if home == nil {
		out.Groups["local"], out.Lazy = c.catalogue.Groups["local"], c.catalogue.Lazy
		out.Singles["path"] = c.catalogue.Singles["path"]
		return out
	}
	frame := f
	for frame != nil && frame.Module != home {
		frame = frame.Parent
	}
	if frame == nil && len(home.Frames) > 0 {
		frame = home.Frames[0] // a module that is used for its definitions
	}
	if frame != nil {
		for _, root := range []string{"var", "local", "data", "module"} {
			out.Groups[root] = frame.Scope.Groups[root]
		}
		out.Singles["path"] = frame.Scope.Singles["path"]
	}
	return out
}

// aroundBase returns the names that expressions of a definition in another module know beside those
// of the definition.
func aroundBase(in *instance, f *graph.Frame, home *source.Module) *eval.Scope {
	out := definitionScope(in.set, in.set.Graph.Module(home), f)
	if in.with != nil {
		out = eval.NewScope(out)
		out.Groups["service"] = in.inner.Scope.Parent.Groups["service"]
	}
	return out
}

// declareLocals declares the local values of the definition. They are evaluated again whenever more
// of the service is known.
func declareLocals(in *instance) {
	if len(in.definition.All(schema.OwnLocalsType.Name)) > 0 {
		in.inner.Scope.DeclareLazily(source.Locals(in.report, in.definition), in.inner)
	}
}

// enablePorts removes the ports that are not enabled. The replicas of the first enabled workload
// are known before.
func enablePorts(in *instance) {
	if !in.definition.Gated {
		return
	}
	setReplicasForAll(in)
	self := roleAttributes(in)
	delete(self, "replicas")
	setSelf(in, cty.ObjectVal(self))
	self["replicas"] = cty.NumberIntVal(0)
	if first := firstWorkload(in); first != nil {
		in.replicas = map[string]int{first.Label: replicasOf(in, first)}
		self["replicas"] = replicasValue(in, first)
	}
	setSelf(in, cty.ObjectVal(self))
	in.definition = eval.Enabled(in.inner, in.definition, func(b *source.Block) bool { return b.Type == schema.PortType })
}

// firstWorkload returns the first enabled workload, or nil.
func firstWorkload(in *instance) *source.Block {
	for _, b := range in.definition.All("workload") {
		if counts, _ := eval.IsEnabled(in.inner, b); counts {
			return b
		}
	}
	return nil
}

// enableBlocks removes all other blocks that are not enabled.
func enableBlocks(in *instance) {
	if !in.definition.Gated {
		return
	}
	self := in.inner.Scope.Singles["self"].AsValueMap()
	addPortAttributes(in, self)
	setSelf(in, cty.ObjectVal(self))
	in.definition = eval.Enabled(in.inner, in.definition, func(b *source.Block) bool { return b.Type != schema.PortType })
	absent := cty.NullVal(cty.DynamicPseudoType)
	if !in.definition.Complete() {
		absent = cty.DynamicVal.WithMarks(values.Deferrals(in.definition.Incomplete))
	}
	for _, kind := range []string{"secret", "database", "queue", "user", "endpoint", "port"} {
		for _, name := range in.whole.Labels(kind) {
			if in.definition.One(kind, name) == nil {
				in.inner.Scope.Groups[kind][name] = absent
			}
		}
	}
}

// substitutes returns the entries of the argument with, if it is written out.
func substitutes(in *instance) []hclsyntax.ObjectConsItem {
	attr := in.block.Attributes[schema.WithAttribute.Name]
	if attr == nil {
		return nil
	}
	items, _ := eval.WrittenItems(attr.Expr)
	return items
}

// withoutReplaced are references of the definition without those to services that the argument
// with replaces.
func withoutReplaced(in *instance, edges []graph.Edge) []graph.Edge {
	var replaced []string
	for _, item := range substitutes(in) {
		if name, ok := values.StaticKey(item.KeyExpr); ok {
			replaced = append(replaced, in.innerReach.Find("service", name))
		}
	}
	return slices.DeleteFunc(edges, func(e graph.Edge) bool { return slices.Contains(replaced, e.To) })
}

// replaceServices replaces services that the definition names. A scope around the definition has
// the replacements under these names.
func replaceServices(in *instance) {
	attr := in.block.Attributes[schema.WithAttribute.Name]
	if attr == nil || eval.IsNullLiteral(attr.Expr) || eval.MayBeExternal(in.block) {
		return
	}
	if _, ok := eval.WrittenItems(attr.Expr); !ok {
		eval.Unsuitable(in.user, in.block, attr.Name, "Write \"with\" as a literal map: { NAME = service.OTHER }. kolla derives the order of the services from it.")
		return
	}
	around := eval.NewScope(in.inner.Scope.Parent)
	around.Groups["service"] = eval.Group{}
	in.with = map[string]*instance{}
	for _, item := range substitutes(in) {
		name, ok := values.StaticKey(item.KeyExpr)
		if !ok {
			in.report.Error(item.KeyExpr.Range(), "Unsuitable name", "The name of the replaced service must be literal.")
			continue
		}
		if known := catalogue.Needs(in.whole); !slices.Contains(known, name) && in.whole.Complete() {
			in.report.Error(item.KeyExpr.Range(), fmt.Sprintf("The definition does not use a service %q", name), "%s",
				words.WithHint(words.DidYouMean(name, known), fmt.Sprintf("Definition %q uses: %s.", in.written.Label, words.Sorted(known))))
			continue
		}
		value := in.user.Value(item.ValueExpr)
		other, ok := substitute(in, name, value, item.ValueExpr.Range())
		if !ok {
			value = cty.DynamicVal
		}
		around.Groups["service"][name], in.with[name] = value, other
	}
	in.inner.Scope.Parent = around
}

// substitute returns the service in a value of the argument with. It is nil if the value is known
// only after the apply.
func substitute(in *instance, name string, value cty.Value, at hcl.Range) (*instance, bool) {
	if !value.IsKnown() {
		eval.ReportDeferred(in.user, value, at, fmt.Sprintf("the service that replaces %q", name))
		return nil, true
	}
	other := serviceOf(in, value)
	if other == nil {
		in.report.Error(at, "Unsuitable value for \"with\"", "\"with\" must map %q to a service (service.NAME), got %s.", name, values.KindOf(value))
		return nil, false
	}
	wanted := name
	if n := in.set.Graph.Node(in.innerReach.Find("service", name)); n != nil {
		wanted = cmp.Or(n.Definition, wanted)
	}
	if other.out.Definition != wanted {
		in.report.Error(at, "Wrong definition", "Service %q has definition %q, but definition %q needs a service with definition %q here.", other.out.Name, other.out.Definition, in.written.Label, wanted)
		return nil, false
	}
	return other, true
}

// serviceOf returns the service whose value this is, or nil.
func serviceOf(in *instance, value cty.Value) *instance {
	value, _ = value.Unmark()
	if !value.Type().IsObjectType() || value.IsNull() || !value.Type().HasAttribute("name") || !value.Type().HasAttribute("external") {
		return nil
	}
	name, _ := value.GetAttr("name").Unmark()
	for _, other := range in.set.services {
		if cty.StringVal(other.out.Name).RawEquals(name) {
			return other
		}
	}
	return nil
}

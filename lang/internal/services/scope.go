package services

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/catalogue"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// kinds are the roots of references to things of a service.
var kinds = []string{"port", "secret", "database", "queue", "user", "endpoint", "input"}

// environment returns the environment of the definition for one instance, which knows nothing of
// the service yet, and the services of the argument with.
func environment(d *declaration, f *graph.Frame, it eval.Instance) (*eval.Env, map[string]*service) {
	groups := map[string]eval.Group{}
	for _, kind := range kinds {
		groups[kind] = eval.Group{}
	}
	under := func(parent *eval.Scope) *eval.Env {
		e := d.set.Graph.Env(&eval.Scope{Parent: parent, Groups: groups, Singles: map[string]cty.Value{}})
		e.Owner, e.Report = d.node.Block, d.set.Report.For(d.node.Block.Header, configs.CatalogueDir)
		return e
	}
	user := under(it.Scope)
	replaced, with := replaceServices(d, user)
	around := func(home *graph.Module) *eval.Scope {
		out := definitionScope(d.set, home, f)
		if replaced != nil {
			out.Groups["service"] = replaced
		}
		return out
	}
	e := under(around(d.home))
	e.Around = func(home *source.Module) *eval.Scope { return around(d.home.Around(home)) }
	e.InDefinition, e.OfService, e.OfCloud = true, user, under(d.set.Graph.Root.Frames[0].Scope)
	return e, with
}

// definitionScope has the names that a definition in module home knows, for a service in a frame.
// Variables, local values and data come from the module of the definition; services, roles and
// exposures come from the module of the service.
func definitionScope(c *Set, home *graph.Module, f *graph.Frame) *eval.Scope {
	out := eval.NewScope(f.Shared)
	out.Singles["cloud"] = c.Graph.Global.Singles["cloud"]
	if home == nil {
		locals := c.catalogue.Parent
		out.Groups["local"], out.Lazy = locals.Groups["local"], locals.Lazy
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

// withLocals returns an environment that evaluates the local values of the definition, again
// whenever more of the service is known.
func withLocals(e *eval.Env, locals []*hclsyntax.Attribute) *eval.Env {
	if len(locals) == 0 {
		return e
	}
	return e.WithLocals(locals)
}

// withSelf returns an environment with the value that expressions in the service read as self.
func withSelf(u *use, e *eval.Env, self cty.Value) *eval.Env {
	return withLocals(e.With("self", self), u.locals)
}

// cloudWithSelf returns an environment in which only the cloud's defaults can read self.
func cloudWithSelf(e *eval.Env, self map[string]cty.Value) *eval.Env {
	out := *e
	out.OfCloud = e.OfCloud.With("self", cty.ObjectVal(self))
	return &out
}

// withMore returns an environment with the things of one kind, and a place for those in a block.
// Without any, it is the same environment.
func withMore(e *eval.Env, b *source.Block, kind string, locals []*hclsyntax.Attribute) (*eval.Env, eval.Group) {
	if len(b.All(kind)) == 0 {
		return e, nil
	}
	names := maps.Clone(e.Scope.Groups[kind])
	return withLocals(e.WithGroup(kind, names), locals), names
}

// enablePorts removes the ports that are not enabled. The replicas of the first enabled workload
// are known before.
func enablePorts(u *use, e *eval.Env, role string) (*source.Block, replicas, *eval.Env) {
	whole := u.over.whole
	if !whole.Gated {
		return whole, replicas{}, e
	}
	n := replicas{forAll: replicasForAll(u, e)}
	self := roleAttributes(u, e, role)
	delete(self, "replicas")
	e = withSelf(u, e, cty.ObjectVal(self))
	self["replicas"] = cty.NumberIntVal(0)
	if first := firstWorkload(e, whole); first != nil {
		number, _ := replicasOf(u, e, first, n.forAll)
		n.of = map[string]int{first.Label: number}
		self["replicas"] = replicasValue(u, e, first, n)
	}
	e = withSelf(u, e, cty.ObjectVal(self))
	return eval.Enabled(e, whole, func(b *source.Block) bool { return b.Type == schema.PortType }), n, e
}

// firstWorkload returns the first enabled workload, or nil.
func firstWorkload(e *eval.Env, whole *source.Block) *source.Block {
	for _, b := range whole.All("workload") {
		if counts, _ := eval.IsEnabled(e, b); counts {
			return b
		}
	}
	return nil
}

// enableBlocks removes all other blocks that are not enabled.
func enableBlocks(u *use, e *eval.Env, definition *source.Block, a access, n replicas) (*source.Block, *eval.Env) {
	if !definition.Gated {
		return definition, e
	}
	self := e.Scope.Singles["self"].AsValueMap()
	addPortAttributes(self, u, e, definition, a, n)
	e = withSelf(u, e, cty.ObjectVal(self))
	definition = eval.Enabled(e, definition, func(b *source.Block) bool { return b.Type != schema.PortType })
	absent := cty.NullVal(cty.DynamicPseudoType)
	if !definition.Complete() {
		absent = cty.DynamicVal.WithMarks(values.Deferrals(definition.Incomplete))
	}
	for _, kind := range kinds {
		var names eval.Group
		e, names = withMore(e, u.over.whole, kind, u.locals)
		for _, name := range u.over.whole.Labels(kind) {
			if definition.One(kind, name) == nil {
				names[name] = absent
			}
		}
	}
	return definition, e
}

// substitutes returns the entries of the argument with, if it is written out.
func substitutes(block *source.Block) []hclsyntax.ObjectConsItem {
	attr := block.Attributes[schema.WithAttribute.Name]
	if attr == nil {
		return nil
	}
	items, _ := layers.WrittenItems(attr.Expr)
	return items
}

// withoutReplaced are references of the definition without those to services that the argument
// with replaces.
func withoutReplaced(d *declaration, edges []graph.Edge) []graph.Edge {
	var replaced []string
	for _, item := range substitutes(d.node.Block) {
		if name, ok := values.StaticKey(item.KeyExpr); ok {
			replaced = append(replaced, d.reach().Find("service", name))
		}
	}
	return slices.DeleteFunc(edges, func(e graph.Edge) bool { return slices.Contains(replaced, e.To) })
}

// replaceServices returns the replacements of services that the definition names, by these names: the
// values that expressions read, and the services; a nil service is not known yet.
func replaceServices(d *declaration, user *eval.Env) (eval.Group, map[string]*service) {
	block := d.node.Block
	attr := block.Attributes[schema.WithAttribute.Name]
	if attr == nil || layers.IsNullLiteral(attr.Expr) || eval.MayBeExternal(block) {
		return nil, nil
	}
	if _, ok := layers.WrittenItems(attr.Expr); !ok {
		eval.Unsuitable(user, block, attr.Name, "Write \"with\" as a literal map: { NAME = service.OTHER }. kolla derives the order of the services from it.")
		return nil, nil
	}
	replaced, with := eval.Group{}, map[string]*service{}
	for _, item := range substitutes(block) {
		name, ok := values.StaticKey(item.KeyExpr)
		if !ok {
			user.Report.Error(item.KeyExpr.Range(), "Unsuitable name", "The name of the replaced service must be literal.")
			continue
		}
		if known := catalogue.Needs(d.overlay.whole); !slices.Contains(known, name) && d.overlay.whole.Complete() {
			user.Report.Error(item.KeyExpr.Range(), fmt.Sprintf("The definition does not use a service %q", name), "%s",
				words.WithHint(words.DidYouMean(name, known), fmt.Sprintf("Definition %q uses: %s.", d.written.Label, words.Sorted(known))))
			continue
		}
		value := user.Value(item.ValueExpr)
		other, ok := substitute(d, user, name, value, item.ValueExpr.Range())
		if !ok {
			value = cty.DynamicVal
		}
		replaced[name], with[name] = value, other
	}
	return replaced, with
}

// substitute returns the service in a value of the argument with. It is nil if the value is known
// only after the apply.
func substitute(d *declaration, user *eval.Env, name string, value cty.Value, at hcl.Range) (*service, bool) {
	if !value.IsKnown() {
		eval.ReportDeferred(user, value, at, fmt.Sprintf("the service that replaces %q", name))
		return nil, true
	}
	other := serviceOf(d.set, value)
	if other == nil {
		user.Report.Error(at, "Unsuitable value for \"with\"", "\"with\" must map %q to a service (service.NAME), got %s.", name, values.KindOf(value))
		return nil, false
	}
	wanted := name
	if n := d.set.Graph.Node(d.reach().Find("service", name)); n != nil {
		wanted = cmp.Or(n.Definition, wanted)
	}
	if other.out.Definition != wanted {
		user.Report.Error(at, "Wrong definition", "Service %q has definition %q, but definition %q needs a service with definition %q here.", other.out.Name, other.out.Definition, d.written.Label, wanted)
		return nil, false
	}
	return other, true
}

// serviceOf returns the service whose value this is, or nil.
func serviceOf(c *Set, value cty.Value) *service {
	value, _ = value.Unmark()
	if !value.Type().IsObjectType() || value.IsNull() || !value.Type().HasAttribute("name") || !value.Type().HasAttribute("external") {
		return nil
	}
	name, _ := value.GetAttr("name").Unmark()
	for _, other := range c.services {
		if cty.StringVal(other.out.Name).RawEquals(name) {
			return other
		}
	}
	return nil
}

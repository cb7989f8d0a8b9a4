package lang

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// Services may be missing: within try and can one that nobody declares is as one that is
// not enabled; and cloud.services says which definitions are in use.

// mayBeMissing reports whether a reference to a service that there is not stands within
// try or can.
func (e *evaluator) mayBeMissing(expr hcl.Expression, t hcl.Traversal) bool {
	name, named := addrs.NameOf(t)
	if !named || e.owner != nil && e.owner.Label == name {
		return false
	}
	if _, declared := e.scope.member("service", name); declared {
		return false
	}
	return inTry(expr, t.SourceRange())
}

// inTry reports whether a place in an expression is within a call of try or can.
func inTry(expr hcl.Expression, at hcl.Range) bool {
	node, ok := expr.(hclsyntax.Node)
	found := false
	if ok {
		_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
			call, ok := n.(*hclsyntax.FunctionCallExpr)
			found = found || ok && (call.Name == "try" || call.Name == "can") && call.Range().Overlaps(at)
			return nil
		})
	}
	return found
}

// readsServices reports whether a reference reads cloud.services, alone or with all of
// the cloud.
func readsServices(t hcl.Traversal) bool {
	name, named := addrs.NameOf(t)
	return t.RootName() == "cloud" && (!named || name == "services")
}

// whole is a value that a name stands for, with what of it is evaluated only where it is
// read.
func (e *evaluator) whole(t hcl.Traversal, v cty.Value) cty.Value {
	if !readsServices(t) || !v.IsKnown() || !v.Type().IsObjectType() {
		return v
	}
	values := v.AsValueMap()
	values["services"] = e.reach.graph.inUse.read(e, "cloud.services", t.SourceRange())
	return cty.ObjectVal(values)
}

// servicesInUse are the names of the definitions that services are made by. Who reads them
// needs none of the services for that.
func (g *graph) servicesInUse() cty.Value {
	before := g.running
	g.running = []*node{{id: "cloud.services"}}
	defer func() { g.running = before }()
	names := map[string]bool{}
	unknown := cty.NilVal
	for _, n := range g.order {
		if n.root != "service" || n.definition == "" {
			continue
		}
		g.reachModule(n.module, n.at)
		for _, f := range n.module.frames {
			items, ok := g.itemsOf(f, n.block)
			if !ok {
				unknown = g.unknownInstances(f, n.block)
			}
			if len(items) > 0 {
				names[n.definition] = true
			}
		}
	}
	if unknown != cty.NilVal {
		return cty.UnknownVal(cty.Set(cty.String)).WithMarks(values.Deferrals(unknown))
	}
	if len(names) == 0 {
		return cty.SetValEmpty(cty.String)
	}
	var out []cty.Value
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, cty.StringVal(name))
	}
	return cty.SetVal(out)
}

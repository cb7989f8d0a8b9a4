package lang

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// The role and the exposure of a service are what it says itself, null included, or else
// the cloud's defaults.

// placeOf is the block that says the role or the exposure of the service, and who evaluates
// it. The exposure of the defaults counts for services with exposed ports alone.
func (in *instance) placeOf(name string) layered {
	d := in.defaultsBlock()
	if d == nil || in.out.External || in.block.Attributes[name] != nil || name == "expose" && !slices.ContainsFunc(in.out.Ports, isExposed) {
		return layered{in.block, in.user}
	}
	return layered{d, in.cloud}
}

func isExposed(p configs.Port) bool { return p.Exposed }

// role evaluates the role. The defaults can read the names of the service.
func (in *instance) role() {
	in.cloud.scope.singles["self"] = cty.ObjectVal(in.called())
	by := in.placeOf("role")
	in.out.Role = by.eval.role(by.block, "role")
}

// expose evaluates the exposure, after the ports. The defaults can read the role, too.
func (in *instance) expose() {
	self := in.identity()
	delete(self, "replicas")
	in.cloud.scope.singles["self"] = cty.ObjectVal(self)
	by := in.placeOf("expose")
	in.out.Exposure = by.eval.exposure(by.block, "expose")
}

// readPlace is what expressions read of a value that is made of the role or the exposure.
func (in *instance) readPlace(value cty.Value, name string) cty.Value {
	by := in.placeOf(name)
	return by.eval.read(by.block, value, name)
}

// asksForExposure reports whether the service has an exposure, or would have one if it were
// right.
func (in *instance) asksForExposure() bool {
	by := in.placeOf("expose")
	return by.eval.given(by.block, "expose")
}

// defaultEdges are the references in the cloud's defaults that count for the service: none
// in a role or an exposure that it does not take.
func (in *instance) defaultEdges() []edge {
	d := in.defaultsBlock()
	if d == nil {
		return nil
	}
	var out []edge
	for _, attr := range d.Ordered() {
		if in.takesDefault(attr.Name) {
			out = append(out, in.cloud.reach.edges(attr.Expr)...)
		}
	}
	for _, child := range d.Blocks {
		if d.HasDynamic {
			out = append(out, in.cloud.reach.blockEdges(child)...)
		}
	}
	return out
}

// takesDefault reports whether an argument of the defaults may count for the service, as far
// as that can be told before anything is evaluated.
func (in *instance) takesDefault(name string) bool {
	switch {
	case !slices.ContainsFunc(schema.PlaceAttributes, func(a schema.Attribute) bool { return a.Name == name }):
		return true
	case in.block.Attributes[name] != nil:
		return false
	}
	return name != "expose" || slices.ContainsFunc(in.definition.All("port"), func(b *source.Block) bool {
		return gateOf(b) != closed && b.Attributes["expose"] != nil
	})
}

// checkDefaultPlace reports a role or an exposure of the defaults that is wrong, also where
// no service takes it.
func (g *graph) checkDefaultPlace() {
	d := g.defaultsBlock()
	for _, in := range g.inOrder() {
		if d == nil || in.out.External {
			continue
		}
		if in.cloud.settled(d, "role") {
			in.cloud.role(d, "role")
		}
		if in.cloud.settled(d, "expose") {
			in.cloud.exposure(d, "expose")
		}
		return
	}
}

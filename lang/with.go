package lang

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/catalogue"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// substitutes are the entries of the argument, as far as they are written out.
func (in *instance) substitutes() []hclsyntax.ObjectConsItem {
	attr := in.block.Attributes[schema.WithAttribute.Name]
	if attr == nil {
		return nil
	}
	items, _ := itemsOf(attr.Expr)
	return items
}

// withoutReplaced are references of the definition without those to services that others
// take the place of.
func (in *instance) withoutReplaced(edges []edge) []edge {
	var replaced []string
	for _, item := range in.substitutes() {
		if name, ok := values.StaticKey(item.KeyExpr); ok {
			replaced = append(replaced, in.inner.reach.find("service", name, nil)...)
		}
	}
	return slices.DeleteFunc(edges, func(e edge) bool { return slices.Contains(replaced, e.to) })
}

// putInPlace puts services in the place of those that the definition names: a scope round it
// has them under these names.
func (in *instance) putInPlace() {
	attr := in.block.Attributes[schema.WithAttribute.Name]
	if attr == nil || isNullLiteral(attr.Expr) || mayBeExternal(in.block) {
		return
	}
	if _, ok := itemsOf(attr.Expr); !ok {
		in.user.unsuitable(in.block, attr.Name, "It has to be written out: { NAME = service.OTHER }. The order of the services follows from it.")
		return
	}
	around := newScope(in.inner.scope.parent)
	around.groups["service"] = group{}
	in.with = map[string]*instance{}
	for _, item := range in.substitutes() {
		name, ok := values.StaticKey(item.KeyExpr)
		if !ok {
			in.report.Error(item.KeyExpr.Range(), "Unsuitable name", "The name of the service that another one takes the place of has to be written out.")
			continue
		}
		if known := catalogue.Needs(in.whole); !slices.Contains(known, name) && in.whole.Complete() {
			in.report.Error(item.KeyExpr.Range(), fmt.Sprintf("The definition names no service %q", name), "%s",
				words.WithHint(words.DidYouMean(name, known), fmt.Sprintf("Definition %q names: %s.", in.written.Label, words.Sorted(known))))
			continue
		}
		value := in.user.value(item.ValueExpr)
		other, ok := in.substitute(name, value, item.ValueExpr.Range())
		if !ok {
			value = cty.DynamicVal
		}
		around.groups["service"][name], in.with[name] = value, other
	}
	in.inner.scope.parent = around
}

// substitute is the service that a value is of, for the place of another one. It is nil
// where that is known only after the apply.
func (in *instance) substitute(name string, value cty.Value, at hcl.Range) (*instance, bool) {
	if !value.IsKnown() {
		in.user.undecided(value, at, fmt.Sprintf("the service in the place of %q", name))
		return nil, true
	}
	other := in.instanceOf(value)
	if other == nil {
		in.report.Error(at, "Unsuitable value for \"with\"", "In the place of service %q there has to be a service, as service.NAME, and this is %s.", name, values.KindOf(value))
		return nil, false
	}
	wanted := name
	for _, id := range in.inner.reach.find("service", name, nil) {
		wanted = cmp.Or(in.nodes[id].definition, wanted)
	}
	if other.out.Definition != wanted {
		in.report.Error(at, "A service of another definition", "Service %q is one of definition %q, and definition %q needs one of definition %q here.", other.out.Name, other.out.Definition, in.written.Label, wanted)
		return nil, false
	}
	return other, true
}

// instanceOf is the service that a value is all of; nil: of none.
func (in *instance) instanceOf(value cty.Value) *instance {
	value, _ = value.Unmark()
	if !value.Type().IsObjectType() || value.IsNull() || !value.Type().HasAttribute("name") || !value.Type().HasAttribute("external") {
		return nil
	}
	name, _ := value.GetAttr("name").Unmark()
	for _, other := range in.services {
		if cty.StringVal(other.out.Name).RawEquals(name) {
			return other
		}
	}
	return nil
}

package eval

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// Of returns the environment for the expressions of a layer in blocks of the definition, or for
// those of a definition in another module, which it starts from. Home is nil for expressions of the
// definition's own module.
func (e *Env) Of(layer string, home *source.Module) *Env {
	switch {
	case home != nil && e.Around != nil:
		return e.inModule(home)
	case e.OfService == nil || layer == configs.LayerDefinition:
		return e
	case layer == configs.LayerCloud:
		return e.OfCloud
	}
	return e.OfService
}

// inModule returns the environment for expressions of a definition in another module: it knows the
// names of this definition, and around these the names of the module.
func (e *Env) inModule(home *source.Module) *Env {
	out, scope, around := *e, *e.Scope, e.Around(home)
	if e.hasLocals {
		locals := *e.Scope.Parent
		locals.Parent, around = around, &locals
	}
	out.Scope, scope.Parent = &scope, around
	return &out
}

// EnvOf returns the environment that evaluates an argument.
func EnvOf(e *Env, b *source.Block, name string) *Env {
	if attr := b.Attributes[name]; attr != nil {
		if x, ok := attr.Expr.(*layers.LayerExpr); ok {
			return e.Of(x.Layer, x.Home)
		}
	}
	return e
}

// overlaidValue evaluates an expression of another layer or module, alone or merged over those of
// weaker layers.
func (e *Env) overlaidValue(expr hcl.Expression) (v cty.Value, ok bool) {
	x, ok := expr.(*layers.LayerExpr)
	switch {
	case !ok:
		return cty.NilVal, false
	case x.Below == nil:
		return e.Of(x.Layer, x.Home).Value(x.Expression), true
	}
	return joinedValues(e.Value(x.Below), e.Of(x.Layer, x.Home).Value(x.Expression)), true
}

// joinedValues puts a value over another one: maps are merged by key, and lists are joined.
// null removes the whole value, and a value of another type replaces it.
func joinedValues(below, above cty.Value) cty.Value {
	switch {
	case !above.IsKnown() || above.IsNull():
		return above
	case !below.IsKnown():
		return below
	case below.IsNull():
		return above
	case values.IsMap(below) && values.IsMap(above):
		merged := map[string]cty.Value{}
		for _, v := range []cty.Value{below, above} {
			for _, m := range mark.Members(v) {
				merged[m.Key] = m.Value
			}
		}
		maps.DeleteFunc(merged, func(_ string, v cty.Value) bool { return v.IsNull() })
		return cty.ObjectVal(merged)
	case values.IsList(below) && values.IsList(above):
		var all []cty.Value
		for _, v := range slices.Concat(mark.Elements(below), mark.Elements(above)) {
			if !slices.ContainsFunc(all, v.RawEquals) {
				all = append(all, v)
			}
		}
		return cty.TupleVal(all)
	}
	return above
}

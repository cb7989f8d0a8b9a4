package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// lazy is a value that is evaluated when it is read, and not ordered before: what it
// refers to is needed by who reads it.
type lazy struct {
	evaluate func() cty.Value
	running  bool
	value    cty.Value // NilVal: it was not read yet
}

// read gives the value. One that needs itself is reported.
func (l *lazy) read(e *evaluator, name string, at hcl.Range) cty.Value {
	switch {
	case l.running:
		e.report.Error(at, "Circular reference", "%s needs its own value, through what it refers to.", name)
		return cty.DynamicVal
	case l.value == cty.NilVal:
		l.running = true
		l.value = l.evaluate()
		l.running = false
	}
	return l.value
}

// declareLazily puts local values into a scope, for an evaluator in it.
func (s *scope) declareLazily(locals []*hclsyntax.Attribute, e *evaluator) {
	names := group{}
	s.groups["local"], s.lazy = names, map[blockKey]*lazy{}
	for _, attr := range locals {
		names[attr.Name] = cty.DynamicVal
		s.lazy[blockKey{"local", attr.Name}] = &lazy{evaluate: func() cty.Value { return e.value(attr.Expr) }}
	}
}

// ownLocals declares the local values of the definition. They are evaluated anew
// whenever more is known of the service.
func (in *instance) ownLocals() {
	if len(in.definition.All(schema.OwnLocalsType.Name)) > 0 {
		in.inner.scope.declareLazily(source.Locals(in.report, in.definition), in.inner)
	}
}

// catalogueScope is what names mean in all definitions of the catalogue.
func (g *graph) catalogueScope() *scope {
	s := newScope(g.global)
	s.singles["path"] = cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal(configs.CatalogueDir)})
	e := &evaluator{report: g.report, decisions: g.decisions, functions: g.functions, memo: g.memo, scope: s, reach: reach{graph: g}}
	s.declareLazily(source.Locals(g.report, g.builtin), e)
	return s
}

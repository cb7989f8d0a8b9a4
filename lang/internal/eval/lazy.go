package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Lazy is a value that is evaluated when it is first read. Its reader needs everything that it
// refers to.
type Lazy struct {
	Evaluate func() cty.Value
	running  bool
	value    cty.Value // NilVal: it was not read yet
}

// read returns the value. It reports a value that needs itself.
func (l *Lazy) read(e *Env, name string, at hcl.Range) cty.Value {
	switch {
	case l.running:
		e.Report.Error(at, "Circular reference", "%s needs its own value, through what it refers to.", name)
		return cty.DynamicVal
	case l.value == cty.NilVal:
		l.running = true
		l.value = l.Evaluate()
		l.running = false
	}
	return l.value
}

// DeclareLazily adds local values to a scope. The environment evaluates them in that scope.
func (s *Scope) DeclareLazily(locals []*hclsyntax.Attribute, e *Env) {
	names := Group{}
	s.Groups["local"], s.Lazy = names, map[string]*Lazy{}
	for _, attr := range locals {
		names[attr.Name] = cty.DynamicVal
		s.Lazy["local."+attr.Name] = &Lazy{Evaluate: func() cty.Value { return e.Value(attr.Expr) }}
	}
}

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

// WithLocals returns an environment with other local values. The new environment evaluates them.
func (e *Env) WithLocals(locals []*hclsyntax.Attribute) *Env {
	out, scope, around, names := *e, *e.Scope, NewScope(e.Scope.Parent), Group{}
	if e.hasLocals {
		around.Parent = e.Scope.Parent.Parent
	}
	around.Groups["local"], around.Lazy, around.Open = names, map[string]*Lazy{}, scope.Open
	out.Scope, scope.Parent, out.hasLocals = &scope, around, true
	for _, attr := range locals {
		names[attr.Name] = cty.DynamicVal
		around.Lazy["local."+attr.Name] = &Lazy{Evaluate: func() cty.Value { return out.Value(attr.Expr) }}
	}
	return &out
}

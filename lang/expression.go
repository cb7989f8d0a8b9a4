package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/syntax"
)

// Evaluate evaluates an expression as if it stood in the configuration, outside of
// all blocks. Name is the name of the file in the ranges of diagnostics. Parts of the
// value that must not be shown are marked; view.Value knows how to print it. A
// configuration that could not be loaded has nothing to evaluate with, and everything
// is unknown in it.
func (c *Config) Evaluate(expression, name string) (cty.Value, hcl.Diagnostics) {
	expr, diags := syntax.Expression([]byte(expression), name, hcl.InitialPos)
	if diags.HasErrors() || c.evaluator == nil {
		return cty.DynamicVal, diags
	}
	e := *c.evaluator
	e.reporter = newReporter()
	value := e.value(expr)
	return value, e.sorted()
}

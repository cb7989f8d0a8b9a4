package services

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/internal/variables"
	"kolla.openstack.org/kolla/lang/schema"
)

// withInputs returns an environment with the values of the inputs in a definition. Local values can
// read them.
func withInputs(d *declaration, e *eval.Env, definition *source.Block, locals []*hclsyntax.Attribute) *eval.Env {
	user := e.OfService
	e, group := withMore(withLocals(e, locals), definition, "input", locals)
	for _, b := range definition.All(schema.InputType.Name) {
		if _, given := group[b.Label]; !given {
			group[b.Label] = inputValue(d, user, d.set.input(b))
		}
	}
	return e
}

// takeInputs gives the inputs of the definition their values and validates them.
func takeInputs(u *use, e *eval.Env) *eval.Env {
	e = withInputs(u.decl, e, u.over.whole, u.locals)
	for _, b := range u.over.whole.All(schema.InputType.Name) {
		v := u.set.input(b)
		variables.Validate(e, v, inputRange(u.block, v.Name), nil)
	}
	return e
}

// inputRange returns the place of the value of an input.
func inputRange(block *source.Block, name string) hcl.Range {
	if attr := block.Attributes[name]; attr != nil {
		return values.Place{Expr: attr.Expr, Key: attr.NameRange}.At()
	}
	return block.Header
}

// inputValue returns the value of an input. It is null only if the input allows that, and marked if
// the input is sensitive.
func inputValue(d *declaration, user *eval.Env, v *variables.Variable) cty.Value {
	block, report := d.node.Block, user.Report
	attr := block.Attributes[v.Name]
	if attr == nil && !v.HasDefault() {
		if !v.MayLack() && !misspeltInput(d, v.Name) {
			report.Error(block.Header, "Missing argument", "Definition %q needs a value for its input %q%s: %s = ....", d.written.Label, v.Name, v.Described(), v.Name)
		}
		return cty.DynamicVal
	}
	if attr == nil {
		return variables.Checked(report, v, v.Default)
	}
	if v.Sensitive {
		report.Hide(attr.Expr.Range())
	}
	value := user.Value(attr.Expr)
	here := values.Place{Name: v.Name, Expr: attr.Expr, Key: attr.NameRange, Literal: true}
	value, ok := variables.Fit(report, v, value, here, fmt.Sprintf("Unsuitable value for input %q", v.Name), "")
	if !ok {
		return cty.DynamicVal
	}
	if value.IsKnown() && value.IsNull() && !v.Nullable && (!v.HasDefault() || v.Default.IsNull()) {
		report.Error(attr.Expr.Range(), fmt.Sprintf("Unsuitable value for input %q", v.Name), "It is null, which the input does not allow (nullable = false).")
		return cty.DynamicVal
	}
	return variables.Checked(report, v, value)
}

// misspeltInput reports whether the name of an argument of the service is nearly the name of an
// input.
func misspeltInput(d *declaration, name string) bool {
	known := append(schema.ServiceType.AttributeNames(), d.written.Labels(schema.InputType.Name)...)
	return slices.ContainsFunc(d.node.Block.Ordered(), func(attr *hclsyntax.Attribute) bool {
		return !slices.Contains(known, attr.Name) && words.Nearest(attr.Name, known) == name
	})
}

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

// giveInputs gives the inputs in a definition their values. Local values can read them.
func giveInputs(in *instance, definition *source.Block) {
	group := in.inner.Scope.Groups["input"]
	for _, b := range definition.All(schema.InputType.Name) {
		if _, given := group[b.Label]; !given {
			group[b.Label] = inputValue(in, in.set.input(b))
		}
	}
	declareLocals(in)
}

// takeInputs gives the inputs of the definition their values and validates them.
func takeInputs(in *instance) {
	giveInputs(in, in.definition)
	for _, b := range in.definition.All(schema.InputType.Name) {
		v := in.set.input(b)
		variables.Validate(in.inner, v, inputRange(in, v), nil)
	}
}

// inputRange returns the place of the value of an input.
func inputRange(in *instance, v *variables.Variable) hcl.Range {
	if attr := in.block.Attributes[v.Name]; attr != nil {
		return values.Place{Expr: attr.Expr, Key: attr.NameRange}.At()
	}
	return in.block.Header
}

// inputValue returns the value of an input. It is null only if the input allows that, and marked if
// the input is sensitive.
func inputValue(in *instance, v *variables.Variable) cty.Value {
	attr := in.block.Attributes[v.Name]
	if attr == nil && !v.HasDefault() {
		if !v.MayLack() && !misspeltInput(in, v.Name) {
			in.report.Error(in.block.Header, "Missing argument", "Definition %q needs a value for its input %q%s: %s = ....", in.written.Label, v.Name, v.Described(), v.Name)
		}
		return cty.DynamicVal
	}
	if attr == nil {
		return variables.Checked(in.report, v, v.Default)
	}
	if v.Sensitive {
		in.report.Hide(attr.Expr.Range())
	}
	value := in.user.Value(attr.Expr)
	here := values.Place{Name: v.Name, Expr: attr.Expr, Key: attr.NameRange, Literal: true}
	value, ok := variables.Fit(in.report, v, value, here, fmt.Sprintf("Unsuitable value for input %q", v.Name), "")
	if !ok {
		return cty.DynamicVal
	}
	if value.IsKnown() && value.IsNull() && !v.Nullable && (!v.HasDefault() || v.Default.IsNull()) {
		unsuitableInput(in.user, attr, v.Name)
		return cty.DynamicVal
	}
	return variables.Checked(in.report, v, value)
}

// unsuitableInput reports null for an input that does not allow it.
func unsuitableInput(e *eval.Env, attr *hclsyntax.Attribute, name string) {
	e.Report.Error(attr.Expr.Range(), fmt.Sprintf("Unsuitable value for input %q", name), "It is null, which the input does not allow (nullable = false).")
}

// misspeltInput reports whether the name of an argument of the service is nearly the name of an
// input.
func misspeltInput(in *instance, name string) bool {
	known := append(schema.ServiceType.AttributeNames(), in.written.Labels(schema.InputType.Name)...)
	return slices.ContainsFunc(in.block.Ordered(), func(attr *hclsyntax.Attribute) bool {
		return !slices.Contains(known, attr.Name) && words.Nearest(attr.Name, known) == name
	})
}

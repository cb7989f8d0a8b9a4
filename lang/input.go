package lang

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// input is the declaration of an input, which is read once.
func (g *graph) input(b *source.Block) *variable {
	v := g.inputs[b]
	if v == nil {
		v = g.declare(b)
		g.inputs[b] = v
	}
	return v
}

// checkInputs reports arguments of the service that its definition has no input for.
func (in *instance) checkInputs() {
	known := in.written.Labels(schema.InputType.Name)
	for _, attr := range in.block.Ordered() {
		if schema.ServiceType.Attribute(attr.Name) != nil || slices.Contains(known, attr.Name) {
			continue
		}
		names := append(schema.ServiceType.AttributeNames(), known...)
		detail := words.Has("Its arguments are", schema.ServiceType.AttributeNames())
		if len(known) > 0 {
			detail += fmt.Sprintf(" Inputs of definition %q are: %s.", in.written.Label, words.Sorted(known))
		}
		in.report.Error(attr.NameRange, "Unknown argument", "A service block has no argument %q.%s %s",
			attr.Name, words.DidYouMean(attr.Name, append(names, schema.ServiceType.BlockNames()...)), detail)
	}
}

// takeInputs gives the inputs of the definition their values.
func (in *instance) takeInputs() {
	blocks := in.definition.All(schema.InputType.Name)
	for _, b := range blocks {
		in.inner.scope.groups["input"][b.Label] = in.inputValue(in.input(b))
	}
	in.ownLocals() // which validations may read
	for _, b := range blocks {
		for _, p := range in.inner.expanded(b).All("validation") {
			if ok, message := in.inner.condition(p); !ok {
				in.inner.unmetCondition(hcl.DiagError, in.inputRange(in.input(b)), p, fmt.Sprintf("Unsuitable value for input %q", b.Label),
					fmt.Sprintf("%s\n\nThe condition is at %s.", message, diag.Position(p.AttributeRange("condition"))))
			}
		}
	}
}

// inputRange is where an input gets its value.
func (in *instance) inputRange(v *variable) hcl.Range {
	if attr := in.block.Attributes[v.Name]; attr != nil {
		return values.Place{Expr: attr.Expr, Key: attr.NameRange}.At()
	}
	return in.block.Header
}

// inputValue is the value of an input: null only if it may be, and marked if it is
// sensitive.
func (in *instance) inputValue(v *variable) cty.Value {
	attr := in.block.Attributes[v.Name]
	if attr == nil && v.fallback == cty.NilVal {
		if !v.broken && !v.block.Misspelt("default") && !in.misspeltInput(v.Name) {
			in.report.Error(in.block.Header, "Missing argument", "Definition %q needs a value for its input %q%s: %s = ....", in.written.Label, v.Name, described(v.Description), v.Name)
		}
		return cty.DynamicVal
	}
	if attr == nil {
		return in.variableValue(v, v.fallback)
	}
	if v.Sensitive {
		in.report.Hide(attr.Expr.Range())
	}
	value := in.user.value(attr.Expr)
	here := values.Place{Name: v.Name, Expr: attr.Expr, Key: attr.NameRange, Literal: true}
	value, ok := in.fit(v, value, here, fmt.Sprintf("Unsuitable value for input %q", v.Name), "")
	if !ok {
		return cty.DynamicVal
	}
	if value.IsKnown() && value.IsNull() && !v.nullable && (v.fallback == cty.NilVal || v.fallback.IsNull()) {
		in.user.unsuitableInput(attr, v.Name)
		return cty.DynamicVal
	}
	return in.variableValue(v, value)
}

func (e *evaluator) unsuitableInput(attr *hclsyntax.Attribute, name string) {
	e.report.Error(attr.Expr.Range(), fmt.Sprintf("Unsuitable value for input %q", name), "It is null, which the input does not allow (nullable = false).")
}

// misspeltInput reports whether an argument of the service was probably meant for an
// input.
func (in *instance) misspeltInput(name string) bool {
	known := append(schema.ServiceType.AttributeNames(), in.written.Labels(schema.InputType.Name)...)
	return slices.ContainsFunc(in.block.Ordered(), func(attr *hclsyntax.Attribute) bool {
		return !slices.Contains(known, attr.Name) && words.Nearest(attr.Name, known) == name
	})
}

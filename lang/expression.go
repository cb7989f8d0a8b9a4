package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Console evaluates expressions as if they stood in the configuration, outside of all blocks.
// In a configuration that could not be loaded every value is unknown.
type Console struct{ evaluator *evaluator }

// Evaluate evaluates an expression. Name is the name of the file in the ranges of diagnostics.
// Parts of the value that must not be shown are marked; view.Value prints them accordingly.
func (c *Console) Evaluate(expression, name string) (cty.Value, hcl.Diagnostics) {
	expr, diags := syntax.Expression([]byte(expression), name, hcl.InitialPos)
	if diags.HasErrors() || c.evaluator == nil {
		return cty.DynamicVal, diags
	}
	return c.evaluateParsed(expr)
}

func (c *Console) evaluateParsed(expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	e := *c.evaluator
	e.report, e.decisions = diag.New(), newDecisions()
	value := e.value(expr)
	return value, e.report.Sorted()
}

// EvaluateTyped is Evaluate for the console: type(X) returns the type of X as text, and no
// value. For all other expressions the type is empty.
func (c *Console) EvaluateTyped(expression, name string) (value cty.Value, typ string, diags hcl.Diagnostics) {
	expr, diags := syntax.Expression([]byte(expression), name, hcl.InitialPos)
	if diags.HasErrors() || c.evaluator == nil {
		return cty.DynamicVal, "", diags
	}
	call, ok := expr.(*hclsyntax.FunctionCallExpr)
	if at, wrong := typeWithout(expr); wrong {
		r := diag.New()
		r.Error(at, "A value in parentheses expected", "type(VALUE) gives the type of one value, such as type(cloud.name).")
		return cty.DynamicVal, "", r.All()
	}
	if !ok || call.Name != "type" {
		value, diags = c.evaluateParsed(expr)
		return value, "", diags
	}
	value, diags = c.evaluateParsed(call.Args[0])
	if diags.HasErrors() {
		return cty.DynamicVal, "", diags
	}
	var b strings.Builder
	writeType(&b, value.Type(), value, 0)
	return value, b.String(), diags
}

// typeWithout reports a `type` that does not say of what one value.
func typeWithout(expr hclsyntax.Expression) (at hcl.Range, wrong bool) {
	switch expr := expr.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return expr.SrcRange, expr.Traversal.RootName() == "type"
	case *hclsyntax.FunctionCallExpr:
		return expr.Range(), expr.Name == "type" && (len(expr.Args) != 1 || expr.ExpandFinal)
	}
	return at, false
}

// writeType writes the type of a value as Terraform's console does. Of what has parts
// and is sensitive it is not shown, because the names of attributes are not either. The value is
// cty.NilVal where there is none, as of the elements of a list.
func writeType(b *strings.Builder, t cty.Type, v cty.Value, depth int) {
	if v != cty.NilVal && v.HasMark(mark.Sensitive{}) && !t.IsPrimitiveType() {
		b.WriteString("(sensitive type)")
		return
	}
	part := func(get func(bare cty.Value) cty.Value) cty.Value {
		if v == cty.NilVal {
			return cty.NilVal
		}
		if bare, _ := v.Unmark(); bare.IsKnown() && !bare.IsNull() {
			return get(bare)
		}
		return cty.NilVal
	}
	in := "\n" + strings.Repeat("    ", depth+1)
	out := "\n" + strings.Repeat("    ", depth)
	switch {
	case t == cty.DynamicPseudoType:
		b.WriteString("dynamic")
	case t.IsObjectType() && len(t.AttributeTypes()) > 0:
		b.WriteString("object({")
		for _, name := range keysOf(t.AttributeTypes()) {
			b.WriteString(in + name + ": ")
			writeType(b, t.AttributeType(name), part(func(bare cty.Value) cty.Value { return bare.GetAttr(name) }), depth+1)
			b.WriteString(",")
		}
		b.WriteString(out + "})")
	case t.IsObjectType():
		b.WriteString("object({})")
	case t.IsTupleType() && t.Length() > 0:
		b.WriteString("tuple([")
		for i, element := range t.TupleElementTypes() {
			b.WriteString(in)
			writeType(b, element, part(func(bare cty.Value) cty.Value { return bare.Index(cty.NumberIntVal(int64(i))) }), depth+1)
			b.WriteString(",")
		}
		b.WriteString(out + "])")
	case t.IsTupleType():
		b.WriteString("tuple([])")
	case t.IsCollectionType():
		kind := "list"
		switch {
		case t.IsMapType():
			kind = "map"
		case t.IsSetType():
			kind = "set"
		}
		b.WriteString(kind + "(")
		writeType(b, t.ElementType(), cty.NilVal, depth)
		b.WriteString(")")
	default:
		b.WriteString(t.FriendlyName())
	}
}

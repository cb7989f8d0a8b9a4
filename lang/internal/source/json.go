package source

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/schema"
	"kolla.openstack.org/kolla/lang/syntax"
)

// jsonContent is content for HCL's JSON syntax, in which only the type of the block tells
// arguments from blocks. Expressions become expressions of the native syntax, so that no
// other code handles JSON.
func (d decoder) jsonContent(typ *schema.BlockType, body hcl.Body) (hclsyntax.Attributes, []sourceBlock) {
	known := &hcl.BodySchema{}
	for _, b := range typ.Blocks {
		header := hcl.BlockHeaderSchema{Type: b.Name}
		if b.Label != "" {
			header.LabelNames = []string{b.Label}
		}
		known.Blocks = append(known.Blocks, header)
	}
	if len(typ.DynamicNames()) > 0 {
		known.Blocks = append(known.Blocks, hcl.BlockHeaderSchema{Type: schema.DynamicType.Name, LabelNames: []string{schema.DynamicType.Label}})
	}
	content, rest, diags := body.PartialContent(known)
	// Everything else is an argument. The decoder reports unknown ones.
	found, more := rest.JustAttributes()
	d.addJSON(append(diags, more...))
	attributes := hclsyntax.Attributes{}
	for name, attr := range found {
		reference := false
		if a := typ.Attribute(name); a != nil {
			reference = a.Type == schema.TypeReferences || a.Type == schema.TypeConstraint || isReference(a.Type, attr.Expr)
		}
		attributes[name] = &hclsyntax.Attribute{
			Name: name, Expr: d.native(attr.Expr, reference),
			SrcRange: attr.Range, NameRange: attr.NameRange, EqualsRange: attr.NameRange,
		}
	}
	var blocks []sourceBlock
	for _, b := range content.Blocks {
		blocks = append(blocks, sourceBlock{
			typ: b.Type, typeRange: b.TypeRange, labels: b.Labels, labelRanges: b.LabelRanges,
			header: b.DefRange, whole: b.DefRange, body: b.Body,
		})
	}
	return attributes, blocks
}

// addJSON adds diagnostics of HCL about the structure of a JSON source, in plainer words.
func (d decoder) addJSON(diags hcl.Diagnostics) {
	const noArguments = "A JSON object is required here, setting the arguments for this block."
	whole := slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool { return diag.Detail == noArguments })
	for _, diag := range diags {
		if whole && diag.Detail != noArguments && diag.Summary == "Incorrect JSON value type" {
			continue // an element of what should be no list
		}
		labels := strings.Contains(diag.Detail, "labels") || diag.Summary == "Missing block label"
		switch {
		case labels && (diag.Summary == "Incorrect JSON value type" || diag.Summary == "Missing block label"):
			d.report.Error(*diag.Subject, "Name expected", "Blocks of this type have names: in JSON, { \"NAME\": { \"ARGUMENT\": VALUE } }.")
		case diag.Summary == "Incorrect JSON value type":
			d.report.Error(*diag.Subject, "Object expected", "Write arguments and named blocks as a JSON object: { \"NAME\": VALUE }.")
		default:
			d.report.Add(diag)
		}
	}
}

// native turns an expression of the JSON syntax into one of the native syntax. Strings become
// templates, or references where only a reference makes sense.
func (d decoder) native(expr hcl.Expression, reference bool) hclsyntax.Expression {
	at := expr.Range()
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		object := &hclsyntax.ObjectConsExpr{SrcRange: at, OpenRange: expr.StartRange()}
		for _, pair := range pairs {
			object.Items = append(object.Items, hclsyntax.ObjectConsItem{
				KeyExpr:   d.native(pair.Key, false),
				ValueExpr: d.native(pair.Value, reference),
			})
		}
		return object
	}
	if items, diags := hcl.ExprList(expr); !diags.HasErrors() {
		list := &hclsyntax.TupleConsExpr{SrcRange: at, OpenRange: expr.StartRange()}
		for _, item := range items {
			list.Exprs = append(list.Exprs, d.native(item, reference))
		}
		return list
	}
	// Without a context HCL gives a string as it is, not as the template that it is.
	v, _ := expr.Value(nil)
	switch {
	case v.IsNull() || v.Type() != cty.String:
		return emptied(&hclsyntax.LiteralValueExpr{Val: v, SrcRange: at})
	case reference:
		return d.parsed(syntax.Expression, bareReference(v.AsString()), at)
	}
	return d.parsed(syntax.Template, v.AsString(), at)
}

// isReference reports a string that has to be a reference: a role or an exposure, with a dot
// in it. Names of roles and exposures have none.
func isReference(typ schema.AttributeType, expr hcl.Expression) bool {
	v, _ := expr.Value(nil)
	if typ != schema.TypeRole && typ != schema.TypeExposure || v.IsNull() || v.Type() != cty.String {
		return false
	}
	return strings.Contains(v.AsString(), ".") && !strings.Contains(v.AsString(), "${")
}

// bareReference strips the ${} of a reference. Where only a reference makes sense, it may be
// written with or without it.
func bareReference(text string) string {
	inner, ok := strings.CutPrefix(text, "${")
	if ok && strings.HasSuffix(inner, "}") && !strings.Contains(inner, "${") {
		return strings.TrimSuffix(inner, "}")
	}
	return text
}

// emptied turns a literal {} or [] into the expression of the native syntax.
func emptied(literal *hclsyntax.LiteralValueExpr) hclsyntax.Expression {
	switch t := literal.Val.Type(); {
	case t.IsObjectType():
		return &hclsyntax.ObjectConsExpr{SrcRange: literal.SrcRange, OpenRange: literal.SrcRange}
	case t.IsTupleType():
		return &hclsyntax.TupleConsExpr{SrcRange: literal.SrcRange, OpenRange: literal.SrcRange}
	}
	return literal
}

// parsed parses the content of a JSON string.
func (d decoder) parsed(parse func([]byte, string, hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics), text string, at hcl.Range) hclsyntax.Expression {
	start := at.Start
	start.Byte++ // the quote
	start.Column++
	expr, diags := parse([]byte(text), at.Filename, start)
	for _, diag := range diags {
		// Escapes and the like make the string longer than the text: stay within it.
		diag.Subject, diag.Context = &at, nil
	}
	d.report.Add(diags...)
	if expr == nil || diags.HasErrors() {
		return &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: at}
	}
	if template, ok := expr.(*hclsyntax.TemplateExpr); ok && template.IsStringLiteral() {
		return &hclsyntax.TemplateExpr{Parts: template.Parts, SrcRange: at}
	}
	return expr
}

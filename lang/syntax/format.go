package syntax

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Format gives the canonical form of a file: spacing and alignment as HCL has
// them, line breaks as on Unix, exactly one at the end. A source that is not
// valid is returned as it is. A template that is nothing but one expression, "${x}",
// becomes that expression: both mean the same.
func Format(src []byte) []byte {
	unix := bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	if noText("", unix, hcl.InitialPos) != nil || checkSyntax(hclsyntax.LexConfig)(unix, "", hcl.InitialPos) != nil {
		return src
	}
	file, diags := hclwrite.ParseConfig(unix, "", hcl.InitialPos)
	if diags.HasErrors() {
		return src
	}
	unwrap(file.Body())
	out := bytes.TrimRight(hclwrite.Format(file.Bytes()), "\r\n\t ")
	if len(out) == 0 {
		return nil
	}
	return append(out, '\n')
}

// unwrap takes the quotes off the arguments that are one expression in a template.
func unwrap(body *hclwrite.Body) {
	for name, attribute := range body.Attributes() {
		tokens := attribute.Expr().BuildTokens(nil)
		inner, ok := onlyExpression(tokens)
		for again := ok; again; {
			var next hclwrite.Tokens
			if next, again = onlyExpression(inner); again {
				inner = next
			}
		}
		if ok {
			body.SetAttributeRaw(name, inner)
		}
	}
	for _, block := range body.Blocks() {
		unwrap(block.Body())
	}
}

// onlyExpression is what stands in a template that is nothing else. What would not be
// one expression without the template around it, because of line breaks or comments, is
// left alone; so is one with "~", for whoever wrote that meant a text.
func onlyExpression(tokens hclwrite.Tokens) (inner hclwrite.Tokens, ok bool) {
	last := len(tokens) - 1
	if last < 4 || tokens[0].Type != hclsyntax.TokenOQuote || string(tokens[1].Bytes) != "${" ||
		string(tokens[last-1].Bytes) != "}" || tokens[last-1].Type != hclsyntax.TokenTemplateSeqEnd || tokens[last].Type != hclsyntax.TokenCQuote {
		return nil, false
	}
	depth := 0
	for _, token := range tokens[2 : last-1] {
		switch token.Type {
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenTemplateSeqEnd:
			if depth--; depth < 0 {
				return nil, false // this is a second one
			}
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			return nil, false
		}
	}
	return tokens[2 : last-1], true
}

package syntax

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Format returns the canonical form of a file: HCL's spacing and alignment, Unix line breaks,
// and exactly one line break at the end. It returns an invalid source unchanged. A template
// that consists of one expression, "${x}", becomes that expression, which has the same meaning.
func Format(src []byte) []byte {
	unix := bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	if noText("", unix, hcl.InitialPos) != nil || checkSyntax(hclsyntax.LexConfig, maxJoined)(unix, "", hcl.InitialPos) != nil {
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

// unwrap removes the quotes from arguments that consist of one expression in a template.
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

// onlyExpression returns the tokens of the expression if a template consists of one expression.
// ok is false if the expression contains line breaks or comments, because it would not be one
// expression without the template. ok is also false if the template contains "~", because its
// author meant a text.
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
				return nil, false // the template contains a second expression
			}
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			return nil, false
		}
	}
	return tokens[2 : last-1], true
}

package syntax

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// explained reduces the errors of HCL's parser to one for each cause: after an unclosed quote,
// for instance, the parser reports an error in every line.
func explained(diags hcl.Diagnostics, tokens hclsyntax.Tokens, hidden bool) hcl.Diagnostics {
	if len(diags) == 0 {
		return nil
	}
	root := (&scan{tokens: tokens}).unclosed()
	if root != nil {
		// The parser misreads everything after root. It also reports each block around root as
		// unclosed.
		diags = slices.DeleteFunc(diags, func(d *hcl.Diagnostic) bool {
			return d.Subject.Start.Line >= root.Subject.Start.Line || strings.HasPrefix(d.Summary, "Unclosed ") || strings.HasPrefix(d.Summary, "Unterminated ")
		})
		diags = append(diags, root)
	}
	diags = firstOfLines(diags)
	for _, d := range diags {
		if hidden && slices.Contains(quoting, d.Summary) {
			d.Detail = ""
		}
	}
	return runs(diags, tokens)
}

// quoting are the parser's errors whose details quote a part of a string.
var quoting = []string{"Invalid escape sequence", "Invalid template control keyword"}

// maxBetween is the largest number of other errors between two equal ones that still count as
// one run.
const maxBetween = 5

// runs replaces equal errors in neighbouring lines by one at the first line: the cause is
// usually pasted text in another language. It drops errors between two equal ones, because they
// follow from those.
func runs(diags hcl.Diagnostics, tokens hclsyntax.Tokens) hcl.Diagnostics {
	lines := linesOf(tokens)
	var out hcl.Diagnostics
	for i := 0; i < len(diags); {
		first, last := diags[i], i
		for j := i + 1; j < len(diags) && j <= last+1+maxBetween && neighbours(lines, diags[j-1], diags[j]); j++ {
			if diags[j].Summary == first.Summary && diags[j].Detail == first.Detail {
				last = j
			}
		}
		if last > i {
			first.Detail += fmt.Sprintf(" The same error repeats at least until line %d.", diags[last].Subject.Start.Line)
		}
		out = append(out, first)
		i = last + 1
	}
	return out
}

// linesOf returns the numbers of the lines that contain more than a comment.
func linesOf(tokens hclsyntax.Tokens) []int {
	var lines []int
	for _, t := range tokens {
		if t.Type != hclsyntax.TokenNewline && t.Type != hclsyntax.TokenComment {
			lines = append(lines, t.Range.Start.Line)
		}
	}
	return slices.Compact(lines)
}

// neighbours reports whether no line with content lies between two errors.
func neighbours(lines []int, a, b *hcl.Diagnostic) bool {
	next, _ := slices.BinarySearch(lines, a.Subject.Start.Line+1)
	return next == len(lines) || lines[next] >= b.Subject.Start.Line
}

// explainedJSON is explained for the JSON syntax. It drops the errors about incomplete values
// around the first error.
func explainedJSON(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, follows := range []string{"Root value must be object", "Unclosed "} {
		causes := slices.DeleteFunc(slices.Clone(diags), func(d *hcl.Diagnostic) bool { return strings.HasPrefix(d.Summary, follows) })
		if len(causes) > 0 {
			diags = causes
		}
	}
	diags = firstOfLines(diags)
	for _, d := range diags {
		switch d.Summary {
		case "Root value must be object":
			said := syntaxError(*d.Subject, "Object expected", "The file must contain one JSON object: { \"NAME\": VALUE }.")
			d.Summary, d.Detail = said.Summary, said.Detail
		case "Invalid JSON string":
			d.Detail = "A string starts and ends with a double quote on the same line. Its escape sequences are \\n, \\r, \\t, \\\", \\\\, \\/, \\b, \\f and \\uNNNN."
		}
	}
	return diags
}

// firstOfLines keeps one error for each line, because the others follow from it. An error about
// an invalid character is preferred: it explains the parser's other errors.
func firstOfLines(diags hcl.Diagnostics) hcl.Diagnostics {
	sorted := slices.Clone(diags)
	slices.SortStableFunc(sorted, func(a, b *hcl.Diagnostic) int {
		if c := a.Subject.Start.Line - b.Subject.Start.Line; c != 0 {
			return c
		}
		if x, y := aboutCharacter(a), aboutCharacter(b); x != y {
			return map[bool]int{true: -1, false: 1}[x]
		}
		return a.Subject.Start.Byte - b.Subject.Start.Byte
	})
	return slices.CompactFunc(sorted, func(a, b *hcl.Diagnostic) bool { return a.Subject.Start.Line == b.Subject.Start.Line })
}

// aboutCharacter reports whether an error comes from the lexer.
func aboutCharacter(d *hcl.Diagnostic) bool {
	return d.Summary == "Invalid character" || d.Summary == "Unsupported operator"
}

// scan looks for openers without an end.
type scan struct {
	tokens hclsyntax.Tokens
	// open lists the quotes, brackets and blocks that are open at this point of the scan.
	open []opener
	// suspect is an opener whose end should come earlier, to judge by the indentation.
	suspect *opener
	// before is the number of the line before which suspect should have ended.
	before int
}

// opener is a token that needs a closing token.
type opener struct {
	hclsyntax.Token
	indent int // of its line
}

// closers maps each opening token to its closing token.
var closers = map[hclsyntax.TokenType]hclsyntax.TokenType{
	hclsyntax.TokenOBrace: hclsyntax.TokenCBrace, hclsyntax.TokenOBrack: hclsyntax.TokenCBrack, hclsyntax.TokenOParen: hclsyntax.TokenCParen,
	hclsyntax.TokenOQuote: hclsyntax.TokenCQuote, hclsyntax.TokenOHeredoc: hclsyntax.TokenCHeredoc,
	hclsyntax.TokenTemplateInterp: hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenTemplateControl: hclsyntax.TokenTemplateSeqEnd,
}

func isCloser(t hclsyntax.TokenType) bool {
	return slices.Contains(slices.Collect(maps.Values(closers)), t)
}

// unclosed returns an error for the first opener without an end, or for the first end without a
// beginning. It returns nil if all are matched.
func (s *scan) unclosed() *hcl.Diagnostic {
	lineStart := 0
	for i, t := range s.tokens {
		first := i == 0 || s.tokens[i-1].Range.End.Line > s.tokens[i-1].Range.Start.Line || s.tokens[i-1].Type == hclsyntax.TokenNewline
		if first {
			lineStart = i
			s.suspectBefore(i)
		}
		if d := marker(s.tokens, i, first); d != nil {
			return d
		}
		_, opens := closers[t.Type]
		switch {
		case opens:
			s.open = append(s.open, opener{t, s.tokens[lineStart].Range.Start.Column - 1})
		case t.Type == hclsyntax.TokenQuotedNewline:
			return s.unclosedQuote(t)
		case isCloser(t.Type):
			if d := s.close(t, first); d != nil {
				return d
			}
		}
	}
	if len(s.open) == 0 {
		return nil
	}
	last := s.open[len(s.open)-1]
	switch last.Type {
	case hclsyntax.TokenOHeredoc:
		name := strings.TrimLeft(strings.TrimSpace(string(last.Bytes)), "<-")
		at := last.Range
		at.End = at.Start
		at.End.Byte += len(bytes.TrimRight(last.Bytes, "\r\n"))
		at.End.Column += len(bytes.TrimRight(last.Bytes, "\r\n"))
		return syntaxError(at, "Heredoc not closed", "This heredoc must end with a line that contains only %s. The file has no such line.", name)
	case hclsyntax.TokenOQuote:
		return s.unclosedQuote(s.tokens[len(s.tokens)-1])
	}
	if s.suspect != nil {
		return notClosed(*s.suspect, fmt.Sprintf("The indentation suggests that it should end before line %d.", s.before))
	}
	return notClosed(last, "The file ends without it.")
}

// suspectBefore records a block or map that is still open at a line that is no longer indented.
func (s *scan) suspectBefore(i int) {
	t := s.tokens[i]
	if len(s.open) == 0 || s.suspect != nil || t.Type != hclsyntax.TokenIdent {
		return
	}
	top := s.open[len(s.open)-1]
	if top.Type == hclsyntax.TokenOBrace && t.Range.Start.Column-1 <= top.indent && t.Range.Start.Line > top.Range.Start.Line {
		s.suspect, s.before = &top, t.Range.Start.Line
	}
}

// close removes the opener that matches a closing token. It returns an error if there is none.
func (s *scan) close(t hclsyntax.Token, first bool) *hcl.Diagnostic {
	if !slices.ContainsFunc(s.open, func(o opener) bool { return closers[o.Type] == t.Type }) {
		what := map[hclsyntax.TokenType]string{hclsyntax.TokenCBrace: "brace", hclsyntax.TokenCBrack: "bracket", hclsyntax.TokenCParen: "parenthesis"}[t.Type]
		return syntaxError(t.Range, "Unmatched closing character", "This %s has no matching opening %s. Remove it, or look above for a block or value that ends too early.", what, what)
	}
	top := s.open[len(s.open)-1]
	if closers[top.Type] != t.Type {
		hint := fmt.Sprintf("Found %q in line %d instead.", t.Bytes, t.Range.Start.Line)
		if t.Range.Start.Line == top.Range.Start.Line {
			hint = fmt.Sprintf("Found %q instead.", t.Bytes)
		}
		return notClosed(top, hint)
	}
	if first && s.suspect == nil && top.Type == hclsyntax.TokenOBrace && t.Range.Start.Column-1 < top.indent {
		s.suspect, s.before = &top, t.Range.Start.Line
	}
	s.open = s.open[:len(s.open)-1]
	return nil
}

// notClosed returns the error for an unclosed bracket or brace. hint describes where its end
// should be.
func notClosed(o opener, hint string) *hcl.Diagnostic {
	switch o.Type {
	case hclsyntax.TokenOBrace:
		return syntaxError(o.Range, "Brace not closed", "The block or map that starts here must end with }. %s", hint)
	case hclsyntax.TokenOBrack:
		return syntaxError(o.Range, "Bracket not closed", "The bracket that opens here must be closed with ]. %s", hint)
	case hclsyntax.TokenOParen:
		return syntaxError(o.Range, "Parenthesis not closed", "The parenthesis that opens here must be closed with ). %s", hint)
	}
	return syntaxError(o.Range, "Brace not closed", "The %s sequence in this string must end with }. %s", o.Bytes, hint)
}

// unclosedQuote returns the error for a string whose closing quote is missing in its line.
func (s *scan) unclosedQuote(end hclsyntax.Token) *hcl.Diagnostic {
	quote := s.open[len(s.open)-1]
	if len(s.open) > 1 && quote.Range.End.Byte == end.Range.Start.Byte {
		// The quote is the last token of its line, within "${...": it should close the string.
		if around := s.open[len(s.open)-2]; closers[around.Type] == hclsyntax.TokenTemplateSeqEnd {
			return notClosed(around, "The string ends before it.")
		}
	}
	at := quote.Range
	at.End = lastOfLine(s.tokens, quote.Range.Start)
	if quote.Range.Start.Line != end.Range.Start.Line {
		for _, t := range s.tokens {
			if t.Range.Start.Byte > quote.Range.Start.Byte && closers[t.Type] == hclsyntax.TokenTemplateSeqEnd {
				return notClosed(opener{Token: t}, "The line ends before it.")
			}
		}
	}
	if at.End.Byte == quote.Range.End.Byte {
		return syntaxError(quote.Range, unclosedQuote, "This quote starts a string, but the line ends here. Perhaps the opening quote of the string is missing.")
	}
	return syntaxError(at, unclosedQuote, "The string that starts here has no closing quote on its line. For a string of several lines, write <<EOT, the lines, and a line with only EOT. Inside a string, write a quote as \\\".")
}

const unclosedQuote = "Quote not closed"

// lastOfLine returns the position of the end of a line.
func lastOfLine(tokens hclsyntax.Tokens, from hcl.Pos) hcl.Pos {
	end := from
	for _, t := range tokens {
		switch {
		case t.Range.Start.Line == from.Line && t.Range.End.Line == from.Line:
			end = t.Range.End
		case t.Range.Start.Line == from.Line && t.Type == hclsyntax.TokenQuotedLit:
			text := bytes.TrimRight(bytes.SplitN(t.Bytes, []byte("\n"), 2)[0], "\r")
			end = hcl.Pos{Line: from.Line, Column: t.Range.Start.Column + len([]rune(string(text))), Byte: t.Range.Start.Byte + len(text)}
		}
	}
	return end
}

// marker returns an error for an unclosed comment or for a merge conflict marker. Both make the
// rest of the file unreadable.
func marker(tokens hclsyntax.Tokens, i int, first bool) *hcl.Diagnostic {
	t := tokens[i]
	switch {
	case t.Type == hclsyntax.TokenSlash && follows(tokens, i, hclsyntax.TokenStar):
		at := hcl.RangeBetween(t.Range, tokens[i+1].Range)
		return syntaxError(at, "Comment not closed", "The comment that starts here must end with */.")
	case first && t.Range.Start.Column == 1 && strings.HasPrefix(lineAt(tokens, i), "<<<<<<<"):
		return syntaxError(t.Range, "Merge conflict", "Git left a merge conflict here: two versions of the same lines. Keep one version, and remove the lines with <<<<<<<, ======= and >>>>>>>.")
	}
	return nil
}

// follows reports whether the next token has the type typ and follows without a space.
func follows(tokens hclsyntax.Tokens, i int, typ hclsyntax.TokenType) bool {
	return i+1 < len(tokens) && tokens[i+1].Type == typ && tokens[i+1].Range.Start.Byte == tokens[i].Range.End.Byte
}

// lineAt returns the text of a line from token i on. Several spaces between two tokens become
// one.
func lineAt(tokens hclsyntax.Tokens, i int) string {
	var b strings.Builder
	for j := i; j < len(tokens); j++ {
		t := tokens[j]
		if t.Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenComment || t.Type == hclsyntax.TokenEOF || t.Range.Start.Line != tokens[i].Range.Start.Line {
			break
		}
		if j > i && tokens[j-1].Range.End.Byte < t.Range.Start.Byte {
			b.WriteByte(' ')
		}
		b.Write(t.Bytes)
	}
	return b.String()
}

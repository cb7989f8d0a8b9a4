package syntax

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// explained makes one error for each cause of what HCL's parser says about a source:
// after an unclosed quote, for instance, it finds something wrong with every line. What
// it is about is said in the words of those who write configurations.
func explained(diags hcl.Diagnostics, tokens hclsyntax.Tokens, hidden bool) hcl.Diagnostics {
	if len(diags) == 0 {
		return nil
	}
	s := &faulty{tokens: tokens, hidden: hidden}
	root := s.unclosed()
	if root != nil {
		// What follows is understood wrongly, and what is around it has no end either.
		diags = slices.DeleteFunc(diags, func(d *hcl.Diagnostic) bool {
			return d.Subject.Start.Line >= root.Subject.Start.Line || strings.HasPrefix(d.Summary, "Unclosed ") || strings.HasPrefix(d.Summary, "Unterminated ")
		})
		diags = append(diags, root)
	}
	diags = firstOfLines(diags)
	for _, d := range diags {
		if d != root {
			s.reword(d)
		}
	}
	return s.runs(diags)
}

// maxBetween is how many errors may stand between two that say the same for those to
// be of one run.
const maxBetween = 5

// runs makes one error of those in neighbouring lines that say the same, at the first of
// them: something else that was pasted. What is said of a line between two of them follows
// from what they say.
func (s *faulty) runs(diags hcl.Diagnostics) hcl.Diagnostics {
	lines := s.lines()
	var out hcl.Diagnostics
	for i := 0; i < len(diags); {
		first, last := diags[i], i
		for j := i + 1; j < len(diags) && j <= last+1+maxBetween && neighbours(lines, diags[j-1], diags[j]); j++ {
			if diags[j].Summary == first.Summary && diags[j].Detail == first.Detail {
				last = j
			}
		}
		if last > i {
			first.Detail += fmt.Sprintf(" It goes on like this, at least to line %d.", diags[last].Subject.Start.Line)
		}
		out = append(out, first)
		i = last + 1
	}
	return out
}

// lines are the lines that have more in them than a comment.
func (s *faulty) lines() []int {
	var lines []int
	for _, t := range s.tokens {
		if t.Type != hclsyntax.TokenNewline && t.Type != hclsyntax.TokenComment {
			lines = append(lines, t.Range.Start.Line)
		}
	}
	return slices.Compact(lines)
}

// neighbours reports whether there is no line between two errors.
func neighbours(lines []int, a, b *hcl.Diagnostic) bool {
	next, _ := slices.BinarySearch(lines, a.Subject.Start.Line+1)
	return next == len(lines) || lines[next] >= b.Subject.Start.Line
}

// explainedJSON is explained for the JSON syntax: after the first error, nothing around it
// is complete.
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
			said := syntaxError(*d.Subject, "Object expected", "What stands in the file is one JSON object: { \"NAME\": VALUE }.")
			d.Summary, d.Detail = said.Summary, said.Detail
		case "Invalid JSON string":
			d.Detail = "A text begins and ends with a double quote, in one line. In it, \\ begins one of \\n, \\r, \\t, \\\", \\\\, \\/, \\b, \\f and \\uNNNN."
		}
	}
	return diags
}

// firstOfLines keeps one error a line: the others follow from it. A character that does
// not belong into the language explains what the parser makes of it.
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

// faulty is a source whose syntax is wrong.
type faulty struct {
	tokens hclsyntax.Tokens
	hidden bool // nothing of it is shown
	// open are the quotes, brackets and blocks that the scan is in.
	open []opener
	// suspect is what should have ended earlier, by its indentation.
	suspect *opener
	// before is the line that it should have ended before.
	before int
}

// opener is the start of something that has an end.
type opener struct {
	hclsyntax.Token
	indent int // of its line
	line   int // the place of the first token of its line
}

// closers are what ends what.
var closers = map[hclsyntax.TokenType]hclsyntax.TokenType{
	hclsyntax.TokenOBrace: hclsyntax.TokenCBrace, hclsyntax.TokenOBrack: hclsyntax.TokenCBrack, hclsyntax.TokenOParen: hclsyntax.TokenCParen,
	hclsyntax.TokenOQuote: hclsyntax.TokenCQuote, hclsyntax.TokenOHeredoc: hclsyntax.TokenCHeredoc,
	hclsyntax.TokenTemplateInterp: hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenTemplateControl: hclsyntax.TokenTemplateSeqEnd,
}

func isCloser(t hclsyntax.TokenType) bool {
	for _, closer := range closers {
		if closer == t {
			return true
		}
	}
	return false
}

// unclosed finds the first thing that has no end, or that ends and has no begin; nil if
// there is none.
func (s *faulty) unclosed() *hcl.Diagnostic {
	lineStart := 0
	for i, t := range s.tokens {
		first := i == 0 || s.tokens[i-1].Range.End.Line > s.tokens[i-1].Range.Start.Line || s.tokens[i-1].Type == hclsyntax.TokenNewline
		if first {
			lineStart = i
			s.suspectBefore(i)
		}
		if d := s.marker(i, first); d != nil {
			return d
		}
		_, opens := closers[t.Type]
		switch {
		case opens:
			s.open = append(s.open, opener{t, s.tokens[lineStart].Range.Start.Column - 1, lineStart})
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
		return syntaxError(at, "Text without an end", "The text that begins here ends with a line in which nothing but %s stands, and there is none.", name)
	case hclsyntax.TokenOQuote:
		return s.unclosedQuote(s.tokens[len(s.tokens)-1])
	}
	if s.suspect != nil {
		return s.notClosed(*s.suspect, fmt.Sprintf("By the indentation it should end before line %d.", s.before))
	}
	return s.notClosed(last, "There is none.")
}

// suspectBefore notes a block or map that is still open although a line is not indented
// any more.
func (s *faulty) suspectBefore(i int) {
	t := s.tokens[i]
	if len(s.open) == 0 || s.suspect != nil || t.Type != hclsyntax.TokenIdent {
		return
	}
	top := s.open[len(s.open)-1]
	if top.Type == hclsyntax.TokenOBrace && t.Range.Start.Column-1 <= top.indent && t.Range.Start.Line > top.Range.Start.Line {
		s.suspect, s.before = &top, t.Range.Start.Line
	}
}

// close ends what a closing token stands for.
func (s *faulty) close(t hclsyntax.Token, first bool) *hcl.Diagnostic {
	if !slices.ContainsFunc(s.open, func(o opener) bool { return closers[o.Type] == t.Type }) {
		what := map[hclsyntax.TokenType]string{hclsyntax.TokenCBrace: "brace", hclsyntax.TokenCBrack: "bracket", hclsyntax.TokenCParen: "parenthesis"}[t.Type]
		return syntaxError(t.Range, "Closed twice", "Nothing is open here that this %s could close. Take it away, or look above for what ends too early.", what)
	}
	top := s.open[len(s.open)-1]
	if closers[top.Type] != t.Type {
		hint := fmt.Sprintf("Instead there is %q in line %d.", t.Bytes, t.Range.Start.Line)
		if t.Range.Start.Line == top.Range.Start.Line {
			hint = fmt.Sprintf("Instead there is %q.", t.Bytes)
		}
		return s.notClosed(top, hint)
	}
	if first && s.suspect == nil && top.Type == hclsyntax.TokenOBrace && t.Range.Start.Column-1 < top.indent {
		s.suspect, s.before = &top, t.Range.Start.Line
	}
	s.open = s.open[:len(s.open)-1]
	return nil
}

// notClosed is about a bracket or the like; hint says where its end would have to be.
func (s *faulty) notClosed(o opener, hint string) *hcl.Diagnostic {
	switch o.Type {
	case hclsyntax.TokenOBrace:
		return syntaxError(o.Range, "Brace not closed", "The block or map that begins here needs a } at its end. %s", hint)
	case hclsyntax.TokenOBrack:
		return syntaxError(o.Range, "Bracket not closed", "What begins here needs a ] at its end. %s", hint)
	case hclsyntax.TokenOParen:
		return syntaxError(o.Range, "Parenthesis not closed", "What begins here needs a ) at its end. %s", hint)
	}
	return syntaxError(o.Range, "Brace not closed", "What begins with %s within the text needs a } at its end. %s", o.Bytes, hint)
}

// unclosedQuote is about a text in quotes that is not over when its line is.
func (s *faulty) unclosedQuote(end hclsyntax.Token) *hcl.Diagnostic {
	quote := s.open[len(s.open)-1]
	if len(s.open) > 1 && quote.Range.End.Byte == end.Range.Start.Byte {
		// The quote is the last of its line, within "${...": it was to close the text.
		if around := s.open[len(s.open)-2]; closers[around.Type] == hclsyntax.TokenTemplateSeqEnd {
			return s.notClosed(around, "The text ends before that.")
		}
	}
	at := quote.Range
	at.End = lastOfLine(s.tokens, quote.Range.Start)
	if quote.Range.Start.Line != end.Range.Start.Line {
		for _, t := range s.tokens {
			if t.Range.Start.Byte > quote.Range.Start.Byte && closers[t.Type] == hclsyntax.TokenTemplateSeqEnd {
				return s.notClosed(opener{Token: t}, "The line ends before that.")
			}
		}
	}
	if at.End.Byte == quote.Range.End.Byte {
		return syntaxError(quote.Range, unclosedQuote, "A text would begin with this quote, and the line ends. Perhaps the quote at the start of the text is missing.")
	}
	return syntaxError(at, unclosedQuote, "The text that begins here has no closing quote in its line. A text of several lines is written as <<EOT, the lines, and a line with EOT; a quote within a text as \\\".")
}

const unclosedQuote = "Quote not closed"

// lastOfLine is where a line ends.
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

// marker is about what makes nonsense of everything behind it.
func (s *faulty) marker(i int, first bool) *hcl.Diagnostic {
	t := s.tokens[i]
	switch {
	case t.Type == hclsyntax.TokenSlash && s.follows(i, hclsyntax.TokenStar):
		at := hcl.RangeBetween(t.Range, s.tokens[i+1].Range)
		return syntaxError(at, "Comment not closed", "The comment that begins here needs a */ at the end.")
	case first && t.Range.Start.Column == 1 && strings.HasPrefix(s.line(i), "<<<<<<<"):
		return syntaxError(t.Range, "Merge conflict", "From here on there are two versions of the same lines, with markers of git. Keep one, and take the lines with <<<<<<<, ======= and >>>>>>> away.")
	}
	return nil
}

// follows reports whether the next token is of a type, with nothing between them.
func (s *faulty) follows(i int, typ hclsyntax.TokenType) bool {
	return i+1 < len(s.tokens) && s.tokens[i+1].Type == typ && s.tokens[i+1].Range.Start.Byte == s.tokens[i].Range.End.Byte
}

// line is what stands in a line from a token on, without the spaces between tokens that
// are more than one.
func (s *faulty) line(i int) string {
	var b strings.Builder
	for j := i; j < len(s.tokens); j++ {
		t := s.tokens[j]
		if t.Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenComment || t.Type == hclsyntax.TokenEOF || t.Range.Start.Line != s.tokens[i].Range.Start.Line {
			break
		}
		if j > i && s.tokens[j-1].Range.End.Byte < t.Range.Start.Byte {
			b.WriteByte(' ')
		}
		b.Write(t.Bytes)
	}
	return b.String()
}

package syntax

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/internal/budget"
)

// checkSyntax reports a source that would exhaust the stack when it is parsed or evaluated. It
// counts brackets and operators first, because almost no file has enough of them.
//
// joined is the most that the parser may copy to join the pieces of texts.
func checkSyntax(lex lexer, joined int) func(source []byte, name string, start hcl.Pos) *hcl.Diagnostic {
	return func(source []byte, name string, start hcl.Pos) *hcl.Diagnostic {
		openers, operators, elements := 0, 0, 0
		for _, c := range source {
			switch c {
			case ',', '\n':
				elements++
			case '{', '(', '[', '"', '<':
				openers++
				operators++
			case '!', '+', '-', '*', '/', '%', '=', '>', '&', '|', '?', '$':
				operators++
			}
		}
		if elements > maxElements {
			return syntaxError(hcl.Range{Filename: name, Start: start, End: start}, "File too large",
				"The file has more than %d lines and list elements. Put data into another file, and read it with csvdecode(file(...)).", maxElements)
		}
		if tooManyTokens(source, name, start, lex) {
			return largeFile(name, start)
		}
		pieces := elements + operators // of texts, at most
		if openers <= maxNesting && operators <= maxOperators && pieces*(len(source)+pieces*pieceSize) <= joined && !hasHugeNumber(source) {
			return nil
		}
		tokens, _ := lex(source, name, start) // the parser reports lexical errors, too
		n := nesting{levels: []level{{lines: true}}, maxJoined: joined}
		for i := range tokens {
			if d := n.next(tokens, i); d != nil {
				return d
			}
		}
		return nil
	}
}

// largeFile returns the error for a file with more tokens than fit into the memory.
func largeFile(name string, start hcl.Pos) *hcl.Diagnostic {
	return syntaxError(hcl.Range{Filename: name, Start: start, End: start}, "File too large",
		"The file has more than %d words, strings and symbols. Split it: kolla reads all *.hcl files of a directory as one configuration. Put data into another file, and read it with csvdecode(file(...)).", maxTokens)
}

// tooManyTokens reports whether a source has more than about maxTokens tokens. It splits the
// source into tokens only as far as they cannot be too many.
func tooManyTokens(source []byte, name string, start hcl.Pos, lex lexer) bool {
	tokens, end := 0, 0
	for {
		from := end
		if end += tokensFit(source[end:], maxTokens-tokens); end == len(source) {
			return false
		}
		if end-from < maxTokens/10 {
			return true
		}
		found, _ := lex(source[:end], name, start)
		tokens = len(found)
	}
}

// tokensFit returns the length of a start of the source that has at most n tokens: each word, and
// each sign outside of words, is at most one.
func tokensFit(source []byte, n int) int {
	inWord := false
	for i, c := range source {
		switch {
		case c == ' ' || c == '\t':
			inWord = false
			continue
		case c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			if inWord {
				continue
			}
			inWord = true
		default:
			inWord = false
		}
		if n--; n < 0 {
			return i
		}
	}
	return len(source)
}

// nesting counts the open levels around a place.
type nesting struct {
	levels    []level
	operators int // sum of all levels
	controls  int // open %{if} and %{for} of all levels
	joined    int // bytes that the parser copies to join texts, of all levels
	maxJoined int
}

// level is one open bracket, block or template.
type level struct {
	lines     bool // a line break ends an expression
	text      bool // the literal part of a template
	operators int  // of the expression so far
	controls  int
	joins     int // of two pieces of a text
	piece     int // length of the text up to here, since its start or the last template sequence
}

// joinedPerByte is the part of maxJoined for a byte of a template. A loop or a file in JSON can
// have many templates.
const joinedPerByte = 12 << 10

// pieceSize is the memory of a piece of a text. The parser moves all later pieces for each one
// that it joins to the one before.
const pieceSize = 16

// text counts what the parser copies for a piece of a text.
func (n *nesting) text(length int) {
	top := &n.levels[len(n.levels)-1]
	if top.piece > 0 && length > 0 {
		top.joins++
		n.joined += top.piece + length
	}
	top.piece += length
	n.joined += top.joins * pieceSize
}

// sequence ends a piece of a text, and counts what the parser copies for a template sequence.
func (n *nesting) sequence() {
	n.text(0)
	n.levels[len(n.levels)-1].piece = 0
}

func (n *nesting) next(tokens hclsyntax.Tokens, i int) *hcl.Diagnostic {
	t := tokens[i]
	top := &n.levels[len(n.levels)-1]
	switch t.Type {
	case hclsyntax.TokenOBrace:
		n.open(level{lines: !forFollows(tokens[i+1:])})
	case hclsyntax.TokenTemplateInterp:
		n.sequence()
		n.operator()
		n.open(level{})
	case hclsyntax.TokenOBrack, hclsyntax.TokenOParen:
		n.operator()
		n.open(level{})
	case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		n.open(level{text: true})
	case hclsyntax.TokenTemplateControl:
		n.control(tokens[i+1:])
		n.sequence()
		n.open(level{})
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen,
		hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
		n.close()
	case hclsyntax.TokenComma:
		n.end(top)
	case hclsyntax.TokenNewline, hclsyntax.TokenComment:
		if top.lines && bytes.HasSuffix(t.Bytes, []byte("\n")) {
			n.end(top)
		}
	case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
		n.text(len(t.Bytes))
		if err := budget.CheckDigits(string(t.Bytes)); err != nil {
			return syntaxError(t.Range, "Value too large", "%s.", words.Sentence(err))
		}
	case hclsyntax.TokenNumberLit:
		if hasHugeNumber(t.Bytes) {
			return syntaxError(t.Range, "Number out of range", "A number may have at most %d digits and an exponent below 1000.", maxDigits)
		}
	case hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPlus, hclsyntax.TokenMinus, hclsyntax.TokenPercent,
		hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
		hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq, hclsyntax.TokenAnd, hclsyntax.TokenOr,
		hclsyntax.TokenBang, hclsyntax.TokenQuestion:
		n.operator()
	}
	if len(n.levels)+n.controls > maxNesting+1 {
		return tooDeep(t.Range)
	}
	if n.joined > n.maxJoined {
		return syntaxError(t.Range, "String too long", "The strings up to line %d have too many lines and escape sequences. Put a long string into another file, and read it with file(...).", t.Range.Start.Line)
	}
	if n.operators > maxOperators {
		return syntaxError(t.Range, "Expression too long", "An expression may have at most %d operators. Split it into local values, or use `for` over a list.", maxOperators)
	}
	return nil
}

func tooDeep(at hcl.Range) *hcl.Diagnostic {
	return syntaxError(at, "Nested too deep", "At line %d, column %d, blocks, brackets and templates are nested more than %d levels deep. Move inner parts into local values, or correct the program that generated the file.", at.Start.Line, at.Start.Column, maxNesting)
}

func (n *nesting) open(l level) { n.levels = append(n.levels, l) }

func (n *nesting) close() {
	if len(n.levels) == 1 {
		return // one too many, which the parser reports
	}
	top := &n.levels[len(n.levels)-1]
	n.end(top)
	n.controls -= top.controls
	n.levels = n.levels[:len(n.levels)-1]
}

func (n *nesting) operator() {
	top := &n.levels[len(n.levels)-1]
	if !top.text {
		top.operators++
		n.operators++
	}
}

// end ends an expression of a level.
func (n *nesting) end(l *level) {
	n.operators -= l.operators
	l.operators = 0
}

// control counts the start or the end of a %{if} or %{for}. The end is a control, too.
func (n *nesting) control(after hclsyntax.Tokens) {
	top := &n.levels[len(n.levels)-1]
	switch word(after) {
	case "if", "for":
		top.controls++
		n.controls++
	case "endif", "endfor":
		if top.controls > 0 {
			top.controls--
			n.controls--
		}
	}
}

// forFollows reports whether a brace begins a for expression, in which line breaks have no
// meaning.
func forFollows(after hclsyntax.Tokens) bool {
	for len(after) > 0 && (after[0].Type == hclsyntax.TokenNewline || after[0].Type == hclsyntax.TokenComment) {
		after = after[1:]
	}
	return word(after) == "for"
}

func word(tokens hclsyntax.Tokens) string {
	if len(tokens) == 0 || tokens[0].Type != hclsyntax.TokenIdent {
		return ""
	}
	return string(tokens[0].Bytes)
}

// checkJSON is checkSyntax for the JSON syntax. The templates in its texts are checked when
// they are parsed.
func checkJSON(source []byte, name string, pos hcl.Pos) *hcl.Diagnostic {
	depth, tokens, inText := 0, 0, false
	for i := 0; i < len(source); i++ {
		c := source[i]
		if c == '{' || !inText && !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)) { // also of templates
			if tokens++; tokens > maxTokens {
				return largeFile(name, pos)
			}
		}
		switch {
		case c == '\\' && inText:
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '[' || c == '{':
			if depth++; depth > maxNesting {
				return tooDeep(placeOf(source, name, i, 1))
			}
		case c == ']' || c == '}':
			depth--
		case c >= '0' && c <= '9':
			number := numberAt(source[i:])
			if hasHugeNumber(number) {
				return syntaxError(placeOf(source, name, i, len(number)), "Number out of range", "A number may have at most %d digits and an exponent below 1000.", maxDigits)
			}
			i += len(number) - 1
		}
	}
	return nil
}

// numberAt returns the number at the start of a source.
func numberAt(source []byte) []byte {
	end := bytes.IndexFunc(source, func(r rune) bool { return !strings.ContainsRune("0123456789.eE+-", r) })
	if end < 0 {
		return source
	}
	return source[:end]
}

// placeOf returns the range of length bytes of a file, from the offset at.
func placeOf(source []byte, name string, at, length int) hcl.Range {
	lineStart := 1 + bytes.LastIndexByte(source[:at], '\n')
	start := hcl.Pos{Line: 1 + bytes.Count(source[:at], []byte("\n")), Column: 1 + utf8.RuneCount(source[lineStart:at]), Byte: at}
	end := start
	end.Column += utf8.RuneCount(source[at : at+length])
	end.Byte += length
	return hcl.Range{Filename: name, Start: start, End: end}
}

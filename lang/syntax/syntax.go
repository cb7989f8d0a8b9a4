// Package syntax parses and formats HCL, in both of its syntaxes. It is the only package of the
// language that calls HCL's parsers. The parsers recurse as deep as a source is nested, and a
// program cannot recover from an exhausted stack. For this reason, the package checks each
// source first and reports excessive nesting as an error.
package syntax

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"

	"kolla.openstack.org/kolla/internal/files"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/internal/budget"
)

// JSONExtension is the file name extension of the JSON syntax.
const JSONExtension = ".hcl.json"

// Limits of one file. Files that people write stay far below them. The limits protect the
// memory and the stack from a damaged or wrongly generated file: a program does not survive
// their exhaustion.
const (
	maxSource       = 4 << 20 // bytes
	maxElements     = 400_000 // lines, and elements of lists
	maxTokens       = 1_000_000
	maxNesting      = 500      // levels of blocks, brackets and templates
	maxOperators    = 10_000   // in one expression
	maxJoined       = 16 << 30 // bytes that the parser copies to join the pieces of texts
	maxDigits       = 1_000    // of a number, with its exponent written out
	maxSyntaxErrors = 20       // shown at most
)

// Read reads a configuration file. It stops one byte after the size limit, and Parse reports
// the excess.
func Read(name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSource+1))
}

// Parse checks the syntax of one file. It returns the source for quotes in diagnostics, even if
// the source has errors, unless the source is not a text.
func Parse(name string, source []byte) (map[string]*hcl.File, hcl.Diagnostics) {
	return parseSource(name, source, false)
}

// ParseHidden is Parse for a file that may contain secrets: its diagnostics do not quote the
// file.
func ParseHidden(name string, source []byte) (map[string]*hcl.File, hcl.Diagnostics) {
	return parseSource(name, source, true)
}

func parseSource(name string, source []byte, hidden bool) (map[string]*hcl.File, hcl.Diagnostics) {
	file, diags := parseFile(name, source, hidden)
	return map[string]*hcl.File{name: file}, fewerSyntaxErrors(diags)
}

func parseFile(name string, source []byte, hidden bool) (*hcl.File, hcl.Diagnostics) {
	if d := noText(name, source, hcl.InitialPos); d != nil {
		return &hcl.File{Body: hcl.EmptyBody()}, hcl.Diagnostics{d}
	}
	check, parse := checkSyntax(hclsyntax.LexConfig, maxJoined), native(hidden)
	if strings.HasSuffix(name, ".json") { // a file with values may be called x.tfvars.json
		check, parse = checkJSON, parseJSON
	}
	if d := check(source, name, hcl.InitialPos); d != nil {
		return &hcl.File{Body: hcl.EmptyBody(), Bytes: source}, hcl.Diagnostics{d}
	}
	file, diags := parse(source, name)
	for _, d := range diags {
		// The JSON parser counts the end of the file as one more character.
		d.Subject.End.Byte = min(d.Subject.End.Byte, len(source))
		d.Subject.Start.Byte = min(d.Subject.Start.Byte, d.Subject.End.Byte)
	}
	return file, diags
}

func parseJSON(source []byte, name string) (*hcl.File, hcl.Diagnostics) {
	file, diags := json.Parse(source, name)
	return file, explainedJSON(diags)
}

// native returns the parser of the native syntax.
func native(hidden bool) func(source []byte, name string) (*hcl.File, hcl.Diagnostics) {
	return func(source []byte, name string) (*hcl.File, hcl.Diagnostics) {
		return parseNative(source, name, hidden)
	}
}

func parseNative(source []byte, name string, hidden bool) (*hcl.File, hcl.Diagnostics) {
	file, diags := hclsyntax.ParseConfig(source, name, hcl.InitialPos)
	if diags.HasErrors() {
		tokens, _ := hclsyntax.LexConfig(source, name, hcl.InitialPos)
		diags = explained(diags, tokens, hidden)
		if slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool { return d.Summary == unclosedQuote }) {
			file.Nav = nil // its description of the enclosing block is wrong
		}
	}
	if body, ok := file.Body.(*hclsyntax.Body); ok {
		guardDecisions(body)
		measureParts(body)
	}
	return file, diags
}

// Expression parses an expression that is not part of a file in the native syntax.
func Expression(source []byte, name string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	return parseWithin(source, name, start, hclsyntax.LexExpression, hclsyntax.ParseExpression)
}

// Template parses a template that is not part of a file in the native syntax.
func Template(source []byte, name string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	return parseWithin(source, name, start, hclsyntax.LexTemplate, hclsyntax.ParseTemplate)
}

type (
	lexer  func([]byte, string, hcl.Pos) (hclsyntax.Tokens, hcl.Diagnostics)
	parser func([]byte, string, hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics)
)

func parseWithin(source []byte, name string, start hcl.Pos, lex lexer, parse parser) (hclsyntax.Expression, hcl.Diagnostics) {
	joined := min(maxJoined, len(source)*joinedPerByte)
	for _, check := range []func([]byte, string, hcl.Pos) *hcl.Diagnostic{checkSize, checkSyntax(lex, joined)} {
		if d := check(source, name, start); d != nil {
			return nil, hcl.Diagnostics{d}
		}
	}
	expr, diags := parse(source, name, start)
	if diags.HasErrors() {
		tokens, _ := lex(source, name, start)
		diags = explained(diags, tokens, true)
	}
	if expr != nil {
		guardDecisions(expr)
		measureParts(expr)
	}
	return expr, diags
}

// syntaxError returns an error at a place of a file that is not parsed.
func syntaxError(at hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at}
}

// noText returns an error if a file is too large or is not a text in UTF-8, else nil.
func noText(name string, source []byte, start hcl.Pos) *hcl.Diagnostic {
	if d := checkSize(source, name, start); d != nil {
		return d
	}
	at := firstBad(source)
	if at < 0 {
		return nil
	}
	place := placeOf(source, name, at, 0)
	if bytes.HasPrefix(source, []byte{0xff, 0xfe}) || bytes.HasPrefix(source, []byte{0xfe, 0xff}) {
		return syntaxError(place, "Not a text", "The file is a text in UTF-16, as some editors save it. Save it as UTF-8.")
	}
	return syntaxError(place, "Not a text", "The file is not a text in UTF-8: in line %d, column %d, there is the byte 0x%02x. Save it as UTF-8, or take it out of the directory.",
		place.Start.Line, place.Start.Column, source[at])
}

// firstBad returns the offset of the first byte that a text cannot contain, or -1.
func firstBad(source []byte) int {
	at := bytes.IndexByte(source, 0)
	if utf8.Valid(source) {
		return at
	}
	for i := 0; i < len(source) && i != at; {
		r, size := utf8.DecodeRune(source[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return at
}

func checkSize(source []byte, name string, start hcl.Pos) *hcl.Diagnostic {
	if len(source) <= maxSource {
		return nil
	}
	return syntaxError(hcl.Range{Filename: name, Start: start, End: start}, "File too large",
		"The file has more than %d MiB. Split it: all files of a directory count as one. What is no configuration, such as data that file(...) reads, belongs into a file with another ending.", maxSource>>20)
}

// fewerSyntaxErrors shortens a long list of errors: after so many errors, most follow from an
// earlier one.
func fewerSyntaxErrors(diags hcl.Diagnostics) hcl.Diagnostics {
	if len(diags) <= maxSyntaxErrors+1 {
		return diags
	}
	rest := diags[maxSyntaxErrors:]
	return append(diags[:maxSyntaxErrors:maxSyntaxErrors], syntaxError(*rest[0].Subject, "More errors in this file",
		"There are %d more errors of syntax from here on. Correct the first ones; the others may follow from them.", len(rest)))
}

// hugeNumber finds candidates for numbers that are too large to compute with. A match may also
// be part of a text.
var hugeNumber = regexp.MustCompile(`[0-9][eE][-+]?[0-9]{4}|[0-9]{1000}`)

// hasHugeNumber reports whether hugeNumber matches. It skips the regular expression, which takes
// a sixth of the time of parsing, if the source has no exponent and no long number.
func hasHugeNumber(source []byte) bool {
	digits := 0
	for _, c := range source {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case digits > 0 && (c == 'e' || c == 'E'):
			return hugeNumber.Match(source)
		default:
			digits = 0
		}
		if digits == 1000 {
			return true
		}
	}
	return false
}

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
				"The file has more than %d lines and elements of lists. Data belong into another file, which an expression reads: csvdecode(file(...)).", maxElements)
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
		"The file has more than %d words, texts and signs. Split it: all files of a directory count as one. Data belong into another file, which an expression reads: csvdecode(file(...)).", maxTokens)
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
			return syntaxError(t.Range, "Number out of range", "A number may have at most %d digits, and an exponent below 1000.", maxDigits)
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
		return syntaxError(t.Range, "Text too long", "The texts up to line %d have too many lines and escapes. A long text belongs into another file, which an expression reads: file(...).", t.Range.Start.Line)
	}
	if n.operators > maxOperators {
		return syntaxError(t.Range, "Expression too long", "An expression may have at most %d operators. Make local values of its parts, or a list, over which `for` goes.", maxOperators)
	}
	return nil
}

func tooDeep(at hcl.Range) *hcl.Diagnostic {
	return syntaxError(at, "Nested too deep", "In line %d, column %d, blocks, brackets and templates are nested more than %d deep. Make local values of what is inside, or correct what generated the file.", at.Start.Line, at.Start.Column, maxNesting)
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
				return syntaxError(placeOf(source, name, i, len(number)), "Number out of range", "A number may have at most %d digits, and an exponent below 1000.", maxDigits)
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

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

	"kolla.openstack.org/kolla/internal/base/files"
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
// the source has errors, unless the source is not text.
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

// noText returns an error if a file is too large or not UTF-8 text, else nil.
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
		return syntaxError(place, "Not UTF-8", "The file is UTF-16. Some editors save files this way. Save it as UTF-8.")
	}
	return syntaxError(place, "Not UTF-8", "The file is not UTF-8: line %d, column %d contains the byte 0x%02x. Save it as UTF-8, or move it to another directory.",
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
		"The file is larger than %d MiB. Split it: kolla reads all *.hcl files of a directory as one configuration. Put data that is not configuration into a file with another extension, and read it with file(...).", maxSource>>20)
}

// fewerSyntaxErrors shortens a long list of errors: after so many errors, most follow from an
// earlier one.
func fewerSyntaxErrors(diags hcl.Diagnostics) hcl.Diagnostics {
	if len(diags) <= maxSyntaxErrors+1 {
		return diags
	}
	rest := diags[maxSyntaxErrors:]
	return append(diags[:maxSyntaxErrors:maxSyntaxErrors], syntaxError(*rest[0].Subject, "More errors in this file",
		"There are %d more syntax errors after this. Correct the first errors: they may be the cause of the others.", len(rest)))
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

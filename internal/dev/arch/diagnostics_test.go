package arch_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ungolden maps the diagnostics without a golden file, by the start of summary or detail, to the
// reasons.
var ungolden = map[string]string{
	"Cannot read the catalogue":                    "the catalogue is a part of the program",
	"Function %q has no result for such arguments": "no function panics that is known",
	"Value not evaluated":                          "it would be a mistake of the program",
}

// TestEveryDiagnostic checks that every diagnostic in the sources of lang is in a golden file.
func TestEveryDiagnostic(t *testing.T) {
	var shown []string
	for _, pattern := range []string{"diagnostics/*/want.txt", "bounds/*.txt", "data/*/want.txt", "policies/*/want.txt", "console/want.txt"} {
		names, err := filepath.Glob(filepath.Join(root, "lang/testdata", pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("no golden files %s: %v", pattern, err)
		}
		for _, name := range names {
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range strings.Split("\n\n"+string(source), "\n\nError: ") {
				shown = append(shown, strings.Split(d, "\n\nWarning: ")...)
			}
		}
	}
	found := diagnosticsIn(t)
	for _, want := range []string{`There is no %s %q`, `Circular reference`, `No cloud block`, `Too many modules`, `Nested too deep`, `Value outside of a section`, `Unsuitable value for %q`} {
		if !slices.ContainsFunc(found, func(d written) bool { return d.summary == want }) {
			t.Errorf("%q is not found: the test does not see what it should", want)
		}
	}
	for _, d := range found {
		if golden := slices.ContainsFunc(shown, d.pattern.MatchString); golden == d.excused() {
			t.Errorf("%s: %q, %q: in a golden file: %v; in the list of those that need none: %v", d.at, d.summary, d.detail, golden, d.excused())
		}
	}
}

// written is a diagnostic in the source. Summary and detail are format strings. The detail is empty
// if it is not a format string.
type written struct {
	at              string
	summary, detail string
	pattern         *regexp.Regexp
}

// excused reports whether a diagnostic needs no golden file.
func (d written) excused() bool {
	for start := range ungolden {
		if strings.HasPrefix(d.summary, start) || strings.HasPrefix(d.detail, start) {
			return true
		}
	}
	return false
}

// diagnosticsIn finds all calls in lang that report a diagnostic.
func diagnosticsIn(t *testing.T) []written {
	t.Helper()
	var out []written
	inspect(t, "lang", func(call *ast.CallExpr, at token.Position) {
		if d, ok := reported(call); ok {
			d.at = at.String()
			d.pattern = regexp.MustCompile(`^` + pattern(d.summary) + `\n(  at .*\n)?(  where .*\n)*  ` + pattern(d.detail))
			out = append(out, d)
		}
	})
	return out
}

// reporting maps functions that report a diagnostic to the index of the summary among their
// arguments. The detail is the next argument.
var reporting = map[string]int{
	"Error": 1, "error": 1, "Warn": 1, "Alert": 1, "Unsuitable": 2, "Undeclared": 1, "syntaxError": 1, "Spend": 3, "UnmetCondition": 4,
}

// reported parses a call of such a function.
func reported(call *ast.CallExpr) (d written, ok bool) {
	var name string
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	at, ok := reporting[name]
	if !ok || len(call.Args) < at+1 {
		return d, false
	}
	switch name {
	case "Unsuitable": // (evaluator, block, attribute, detail, ...)
		d.summary = "Unsuitable value for %q"
		if attribute, ok := format(call.Args[at]); ok {
			d.summary = "Unsuitable value for " + strconv.Quote(attribute)
		}
	case "Undeclared": // (range, noun, name, known)
		noun, ok := format(call.Args[at])
		if !ok {
			noun = "%s"
		}
		d.summary = "There is no " + noun + " %q"
		return d, true
	default:
		if d.summary, ok = format(call.Args[at]); !ok {
			return d, false // a variable: it was a literal in the caller
		}
	}
	if len(call.Args) > at+1 {
		d.detail, _ = format(call.Args[at+1])
	}
	return d, true
}

// format returns a string literal, or the format of a Sprintf.
func format(expr ast.Expr) (text string, ok bool) {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expr.Value)
		return text, err == nil
	case *ast.CallExpr:
		if f, ok := expr.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Sprintf" {
			return format(expr.Args[0])
		}
	}
	return "", false
}

var verb = regexp.MustCompile(`%[0-9]*[a-zU]`)

// pattern returns a regular expression for the results of a format.
func pattern(format string) string {
	parts := verb.Split(format, -1)
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return strings.ReplaceAll(strings.Join(parts, `(?s:.*?)`), "\n", `\n *`)
}

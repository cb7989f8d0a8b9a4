package syntax_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang/syntax"
)

// TestOneParser holds that only this package parses what may be nested: it refuses what
// would overflow the stack, which nothing survives.
func TestOneParser(t *testing.T) {
	names, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"../*/*.go", "../internal/*/*.go"} {
		within, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, within...)
	}
	found := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			f, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			from, _ := f.X.(*ast.Ident)
			if from == nil || from.Name != "hclsyntax" || f.Sel.Name != "ParseConfig" && f.Sel.Name != "ParseExpression" && f.Sel.Name != "ParseTemplate" {
				return true
			}
			found++
			if filepath.Base(name) != "syntax.go" || filepath.Dir(name) != "../syntax" {
				t.Errorf("%s: %s is called; syntax.Expression and syntax.Template have bounds", fset.Position(n.Pos()), f.Sel.Name)
			}
			return true
		})
	}
	if found < 3 {
		t.Errorf("only %d calls of the parser are found", found)
	}
}

// TestSyntaxOfParts parses all that the faulty files begin and end with: whatever is
// missing, there are few errors, and each has a place in the file.
func TestSyntaxOfParts(t *testing.T) {
	names, err := filepath.Glob("../testdata/diagnostics/syntax/*.hcl")
	if err != nil || len(names) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range source {
			for _, part := range [][]byte{source[:i], source[i:], slices.Concat(source[:i], source[i+1:])} {
				_, diags := syntax.Parse("part.hcl", part)
				lines := map[int]bool{}
				for _, d := range diags {
					if d.Subject.Start.Byte > d.Subject.End.Byte || d.Subject.End.Byte > len(part) {
						t.Fatalf("%q: %s: %v is not in the file", part, d.Summary, d.Subject)
					}
					if lines[d.Subject.Start.Line] {
						t.Fatalf("%q: two errors in line %d", part, d.Subject.Start.Line)
					}
					lines[d.Subject.Start.Line] = true
				}
			}
		}
	}
}

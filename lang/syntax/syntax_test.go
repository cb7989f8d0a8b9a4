package syntax_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneParser holds that only this package parses what may be nested: it refuses what
// would overflow the stack, which nothing survives.
func TestOneParser(t *testing.T) {
	names, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	within, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names = append(names, within...)
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

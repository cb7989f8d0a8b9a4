package lang

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// TestPanicsInFunctions checks that a function which panics says so in words.
func TestPanicsInFunctions(t *testing.T) {
	l := newLoader(t.TempDir(), Options{})
	l.functions["broken"] = function.New(&function.Spec{
		Type: function.StaticReturnType(cty.String),
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) { panic("hunter2") },
	})
	expr, diags := hclsyntax.ParseExpression([]byte(`"x${broken()}"`), "x.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if v := l.constant.Value(expr); v.IsKnown() {
		t.Errorf("value %#v", v)
	}
	const want = `Function "broken" has no result for such arguments.`
	if len(l.report.All()) != 1 || l.report.All()[0].Detail != want {
		t.Errorf("got %v, want %q", l.report.All(), want)
	}
}

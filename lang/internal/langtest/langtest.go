// Package langtest has what the tests of the stages of lang share: a configuration from text,
// and an environment that knows no names.
package langtest

import (
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/lang/functions"
	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Module reads the root module of a configuration from the text of its only file, main.hcl.
func Module(t testing.TB, report *diag.Reporter, text string) (root *source.Module, files map[string]*hcl.File) {
	t.Helper()
	r := &source.Reader{
		FS: fstest.MapFS{"main.hcl": {Data: []byte(text)}}, Dir: ".",
		Report: report, Files: map[string]*hcl.File{}, Contents: map[string]string{},
	}
	root, ok := r.Configuration()
	if !ok {
		t.Fatalf("the configuration cannot be read: %v", report.Sorted())
	}
	return root, r.Files
}

// Env returns an environment that knows functions, and no names.
func Env(report *diag.Reporter) *eval.Env {
	limits := budget.New()
	return &eval.Env{
		Report: report, Decisions: eval.NewDecisions(), Scope: eval.NewScope(nil),
		Functions: functions.Table(functions.NewFiles("."), limits), Memo: eval.NewMemo(limits),
	}
}

// Expression parses an expression.
func Expression(t testing.TB, text string) hclsyntax.Expression {
	t.Helper()
	expr, diags := syntax.Expression([]byte(text), "main.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return expr
}

// Summaries returns the summaries of all diagnostics, in the order of the source.
func Summaries(report *diag.Reporter) []string {
	out := []string{}
	for _, d := range report.Sorted() {
		out = append(out, d.Summary)
	}
	return out
}

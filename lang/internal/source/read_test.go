package source_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/syntax"
)

// TestFileSystem checks that a configuration and its modules can come from any file system,
// in both syntaxes.
func TestFileSystem(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	r := &source.Reader{
		FS: fstest.MapFS{
			"cloud.hcl":          file("cloud \"test\" {}\nmodule \"edge\" {\n  source = \"./edge\"\n}\n"),
			"more.hcl.json":      file(`{"role": {"control": {"nodes": ["a"]}}}`),
			"kolla.vars.hcl":     file("not a block"),
			"edge/main.hcl":      file("service \"keystone\" {\n  nonsense = 1\n  workload \"api\" {}\n}\n"),
			"elsewhere/file.hcl": file("nothing of it is read"),
		},
		Dir: ".", Report: diag.New(), Files: map[string]*hcl.File{}, Contents: map[string]string{},
		Literal: func(b *source.Block, argument string) string {
			v, _ := syntax.Constant(b.Attributes[argument].Expr)
			return v.AsString()
		},
	}
	root, ok := r.Configuration()
	if !ok || len(root.Calls) != 1 {
		t.Fatalf("ok: %v, %+v, %v", ok, root, r.Report.Sorted())
	}
	if root.Document.One("cloud", "test") == nil || root.Document.One("role", "control") == nil {
		t.Error("blocks of the configuration are missing")
	}
	edge := root.Calls[0]
	service := edge.Document.One("service", "keystone")
	if edge.Path() != "module.edge." || service == nil || service.One("workload", "api") == nil {
		t.Errorf("the module %s has %+v", edge.Path(), service)
	}
	var summaries []string
	for _, d := range r.Report.Sorted() {
		summaries = append(summaries, d.Summary+" at "+diag.Position(*d.Subject))
	}
	// A service may leave a required argument to its definition, a cloud may not. Any other
	// argument of a service may be an input.
	if want := []string{"Missing argument at cloud.hcl:1"}; !slices.Equal(summaries, want) {
		t.Errorf("got %q, want %q", summaries, want)
	}
	if len(r.Contents) != 3 || r.Contents["file edge/main.hcl"] == "" || r.Files["edge/main.hcl"] == nil {
		t.Errorf("contents %v, files %v", r.Contents, r.Files)
	}
}

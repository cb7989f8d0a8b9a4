package lang_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang"
)

// inFiles evaluates expressions to JSON, in a copy of testdata/functions. prepare
// may change that before.
func inFiles(t *testing.T, expressions []string, prepare func(dir string)) ([]string, *lang.Config, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/functions")); err != nil {
		t.Fatal(err)
	}
	var env strings.Builder
	for i, expression := range expressions {
		fmt.Fprintf(&env, "      E%d = jsonencode(%s)\n", i, expression)
	}
	write(t, filepath.Join(dir, "cloud.hcl"), fmt.Sprintf(`
cloud "test" {
  release = "2025.1"
}

definition "own" {
  workload "w" {
    kind  = "Deployment"
    image = "own"
    env = {
%s    }
  }
}

service "own" {}
`, env.String()))
	if prepare != nil {
		prepare(dir)
	}
	config, diags := lang.Load(dir, lang.Options{Catalogue: smallCatalogue()})
	values := map[string]string{}
	for _, s := range config.Services {
		for _, e := range s.Workloads[0].Pod.Env {
			values[e.Name] = show(e.Value)
		}
	}
	out := make([]string, len(expressions))
	for i := range out {
		out[i] = values[fmt.Sprintf("E%d", i)]
	}
	return out, config, diags
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFunctionExamples holds that every function is described, and that its
// example gives what the reference says.
func TestFunctionExamples(t *testing.T) {
	functions := lang.Functions()
	var expressions []string
	for _, f := range functions {
		if f.Doc == "" || !strings.HasSuffix(f.Doc, ".") || !strings.Contains(f.Example, f.Name+"(") {
			t.Errorf("%s is not described: %+v", f.Name, f)
		}
		expressions = append(expressions, f.Example, f.Result)
	}
	got, _, diags := inFiles(t, expressions, nil)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	for i, f := range functions {
		if diff := cmp.Diff(got[2*i+1], got[2*i]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Example, diff)
		}
	}
}

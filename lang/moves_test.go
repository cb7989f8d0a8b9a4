package lang_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang"
)

// Imports of what is not declared are an error, or collected.
func TestUndeclaredImports(t *testing.T) {
	dir := t.TempDir()
	source := `cloud "prod" {
  release = "2025.1"
}
manifest "here" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "here" } }
}
import {
  to = "manifest.here/ConfigMap/here"
  id = "openstack/here"
}
import {
  to = "manifest.new/ConfigMap/new"
  id = "openstack/new"
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, diags := lang.Load(dir, lang.Options{}); !diags.HasErrors() || !strings.Contains(diags[0].Detail, "-generate-config-out=FILE") {
		t.Errorf("without the option: %v", diags)
	}
	config, diags := lang.Load(dir, lang.Options{Undeclared: true})
	if diags.HasErrors() || len(config.Imports) != 1 || len(config.Undeclared) != 1 || config.Undeclared[0].To.Block != "manifest.new" {
		t.Errorf("with the option: %v, imports %v, undeclared %v", diags, config.Imports, config.Undeclared)
	}
}

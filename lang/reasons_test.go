package lang_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// trimDir takes the directory of a test off the name of a file.
func trimDir(name string) string {
	if strings.HasPrefix(name, configs.CatalogueDir) {
		return name
	}
	return filepath.Base(name)
}

// TestReasons checks that whatever is needed has a reason, and that the first
// reference to it counts.
func TestReasons(t *testing.T) {
	config, diags := load(t, lang.Options{}, `
cloud "test" {
  release = "2025.1"
}
locals {
  cache = service.memcached.address
  via   = local.cache
}
service "memcached" {}
service "mariadb" {
  depends_on = [service.memcached]
}
service "keystone" {
  depends_on = [service.mariadb, manifest.extra]
}
manifest "extra" {
  depends_on = [service.mariadb]
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "extra" }
    data       = { cache = local.via }
  }
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var got []string
	add := func(name string, needs []string, reasons []configs.Reason) {
		if len(needs) != len(reasons) {
			t.Errorf("%s needs %v, and has %d reasons", name, needs, len(reasons))
		}
		for i, r := range reasons {
			if r.Needs != needs[i] {
				t.Errorf("%s: reason %d is for %s, want %s", name, i, r.Needs, needs[i])
			}
			got = append(got, fmt.Sprintf("%s -> %s %t %q %s:%d", name, r.Needs, r.DependsOn, r.Through, trimDir(r.Range.Filename), r.Range.Start.Line))
		}
	}
	for _, s := range config.Services {
		add(s.Name, s.Needs, s.Reasons)
	}
	for _, m := range config.Manifests {
		add(m.Name, m.Needs, m.Reasons)
	}
	want := []string{
		`mariadb -> service.memcached true "" cloud.hcl:11`,
		`keystone -> manifest.extra true "" cloud.hcl:14`,
		`keystone -> service.mariadb false "" <catalogue>/keystone.hcl:10`,
		`keystone -> service.memcached false "" <catalogue>/keystone.hcl:25`,
		`extra -> service.mariadb true "" cloud.hcl:17`,
		`extra -> service.memcached false "local.via" cloud.hcl:22`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// TestReasonsOfModules checks that what stands in a module has the reasons of the
// module block as well.
func TestReasonsOfModules(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"cloud.hcl": `
cloud "test" {
  release = "2025.1"
}
service "memcached" {
}
service "mariadb" {
}
module "edge" {
  source     = "./edge"
  depends_on = [service.mariadb]
  cache      = service.memcached.address
}
`,
		"edge/main.hcl": `
variable "cache" {}
manifest "note" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "note" }
    data       = { cache = var.cache }
  }
}
`,
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, diags := lang.Load(dir, lang.Options{Catalogue: smallCatalogue()})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var got []string
	for _, r := range config.Manifests[0].Reasons {
		got = append(got, fmt.Sprintf("%s %t %q line %d", r.Needs, r.DependsOn, r.Through, r.Range.Start.Line))
	}
	want := []string{
		`service.mariadb true "" line 11`,
		`service.memcached false "module.edge.var.cache" line 8`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestReadme holds that the configurations in the README are valid, and in
// canonical form.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```hcl\n(.*?)^```$").FindAllSubmatch(readme, -1)
	if len(blocks) < 2 {
		t.Fatalf("found %d configurations", len(blocks))
	}
	dir := t.TempDir()
	manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: extra }\n"
	if err := os.MkdirAll(filepath.Join(dir, "manifests"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifests", "extra.yaml"), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	var config []byte
	for _, block := range blocks {
		config = append(config, block[1]...)
	}
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), config, 0o644); err != nil {
		t.Fatal(err)
	}
	loaded, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if _, diags := openstack.Render(loaded, openstack.Offline()); len(diags) > 0 {
		t.Fatal(diags)
	}
	if got := lang.Format(config); string(got) != string(config) {
		t.Errorf("not in canonical form, want:\n%s", got)
	}
}

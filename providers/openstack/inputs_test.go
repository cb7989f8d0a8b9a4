package openstack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestGlanceInputs checks the errors for invalid stores, and that the settings of a store may
// contain a secret.
func TestGlanceInputs(t *testing.T) {
	for said, want := range map[string]string{
		`stores = {}`: "at least one store",
		`stores = { paste_deploy = { type = "http" } }`:                                                                       "no other section has it",
		`stores = { "A B" = { type = "http" } }`:                                                                              "no other section has it",
		`stores = { nas = { type = "flie" } }`:                                                                                "Did you mean \"file\"?",
		"stores = { web = { type = \"http\" } }\n  default_store = \"file\"":                                                  "none of the stores: web",
		`stores = { s3 = { type = "s3", settings = { s3_store_secret_key = secret.s3.value, s3_store_bucket = "images" } } }`: "",
	} {
		dir := t.TempDir()
		text := "cloud \"c\" {\n  release = \"2026.1\"\n}\n\nsecret \"s3\" {\n  from_env = \"S3\"\n}\n\nservice \"glance\" {\n  " + said + "\n}\n"
		for _, name := range []string{"mariadb", "memcached", "keystone"} {
			text += fmt.Sprintf("\nservice %q {}\n", name)
		}
		if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		config, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
		if want != "" {
			if len(diags) != 1 || !strings.Contains(diags[0].Detail, want) || diags[0].Subject.Filename != filepath.Join(dir, "cloud.hcl") {
				t.Errorf("%s: %v, want %q", said, diags, want)
			}
			continue
		}
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for _, o := range render(t, config, facts()) {
			if strings.HasPrefix(logical(o), "service.glance/Secret/glance-api.conf-secrets") {
				parts := fmt.Sprint(o.Data["secrets.conf"].Parts)
				if !strings.Contains(parts, "s3_store_secret_key") || strings.Contains(parts, "s3_store_bucket") {
					t.Errorf("the secret part has: %s", parts)
				}
			}
		}
	}
}

// TestOVNInputs checks the errors for invalid networks and interfaces, and for two members, which
// are worse than one.
func TestOVNInputs(t *testing.T) {
	for text, want := range map[string]string{
		`service "ovn" { replicas = 2 }`:                                                                                     "worse than one",
		`service "ovn" { replicas = 1 }`:                                                                                     "",
		`service "ovn" { replicas = 3 }`:                                                                                     "",
		`service "ovn-controller" { tunnel_interface = "eth1" }`:                                                             "",
		`service "ovn-controller" { tunnel_interface = "a name with spaces" }`:                                               "at most 15 letters",
		"service \"ovn-controller\" {\n  tunnel_interface = \"eth1\"\n  tunnel_network = \"198.51.100.0/24\"\n}":             "tunnel_network says it already",
		`service "ovn-controller" { bridges = { a = { bridge = "br-a", network = "203.0.113.0/24" } } }`:                     "",
		`service "ovn-controller" { bridges = { a = { bridge = "br-a", network = "eth2" } } }`:                               "has an interface, or a network",
		`service "ovn-controller" { bridges = { a = { bridge = "br-a", interface = "eth2", network = "203.0.113.0/24" } } }`: "has an interface, or a network",
	} {
		for _, name := range []string{"ovn", "openvswitch", "ovn-controller"} {
			if !strings.Contains(text, fmt.Sprintf("service %q", name)) {
				text += fmt.Sprintf("\nservice %q {}", name)
			}
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte("cloud \"c\" {\n  release = \"2026.1\"\n}\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
		if want == "" && diags.HasErrors() || want != "" && (len(diags) != 1 || !strings.Contains(diags[0].Detail, want)) {
			t.Errorf("%s: %v, want %q", text, diags, want)
		}
	}
}

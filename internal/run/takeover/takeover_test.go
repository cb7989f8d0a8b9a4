package takeover_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/run/takeover"
)

// cloud writes the files of a small cloud, and imports it.
func cloud(t *testing.T, globals, passwords string, overrides map[string]string) (takeover.Result, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{"hosts": "[control]\nc1\nc2\n[network]\nc1\n[compute]\nn1\n[storage]\nc1\n", "globals.yml": globals, "passwords.yml": passwords}
	for name, text := range overrides {
		all["config/"+name] = text
	}
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in, diags, err := takeover.Read(takeover.Sources{
		Inventory: filepath.Join(dir, "hosts"), Globals: filepath.Join(dir, "globals.yml"), Passwords: filepath.Join(dir, "passwords.yml"),
	})
	if err != nil || diags.HasErrors() {
		t.Fatal(err, diags)
	}
	return takeover.Convert(in, takeover.Options{Name: "c"})
}

// leak returns the first file or message that has a text.
func leak(result takeover.Result, diags hcl.Diagnostics, hidden string) string {
	if strings.Contains(diags.Error(), hidden) {
		return diags.Error()
	}
	for _, f := range result.Files {
		if !f.Secret && strings.Contains(string(f.Content), hidden) {
			return f.Path
		}
	}
	return ""
}

const minimal = "openstack_release: \"2025.1\"\nkolla_internal_vip_address: 192.0.2.10\nneutron_plugin_agent: ovn\n"

// TestPasswordsStay checks that a value of passwords.yml is only in files with secrets, whatever refers to
// it: each variable that the tables name, and options of overrides.
func TestPasswordsStay(t *testing.T) {
	const hidden = "qzxjv7-hidden"
	var m struct {
		Defaults map[string]string
		Carried  []struct{ Variable string }
		Services []struct{ Secrets map[string]string }
	}
	source, err := os.ReadFile("mapping.yaml")
	if err != nil || yaml.Unmarshal(source, &m) != nil {
		t.Fatal(err)
	}
	var variables, passwords []string
	for _, c := range m.Carried {
		variables = append(variables, c.Variable)
	}
	variables = append(variables, slices.Collect(maps.Keys(m.Defaults))...)
	for _, s := range m.Services {
		passwords = append(passwords, slices.Collect(maps.Values(s.Secrets))...)
	}
	slices.Sort(passwords)
	text := "hidden_password: " + hidden + "\ncinder_rbd_secret_uuid: " + hidden + "-uuid\nopaque: " + hidden + "-x\n"
	for i, name := range slices.Compact(passwords) {
		text += fmt.Sprintf("%s: %s-%d\n", name, hidden, i)
	}
	overrides := map[string]string{
		"nova.conf":             "[a]\nx = {{ hidden_password }}\ny = mysql://u:" + hidden + "@h/d\nz = before " + hidden + " after\nw = {{ opaque }}\n",
		"glance/policy.yaml":    "a: " + hidden + "\n",
		"nfs_shares":            hidden + ":/x\n",
		"keystone/other.conf":   hidden,
		"heat/heat-engine.conf": "[DEFAULT]\na = {{ nova_database_password }}\n",
	}
	slices.Sort(variables)
	converted := 0
	for _, name := range slices.Compact(variables) {
		if strings.Contains(minimal, name+":") {
			continue
		}
		for _, value := range []string{"\"{{ hidden_password }}\"", "\"a,{{ opaque }}\""} {
			globals := minimal + name + ": " + value + "\n"
			for _, on := range []string{"enable_cinder", "enable_cinder_backend_nfs"} {
				if name != on {
					globals += on + ": yes\n"
				}
			}
			result, diags := cloud(t, globals, text, overrides)
			if place := leak(result, diags, hidden); place != "" {
				t.Errorf("%s = %s: the value is in %s", name, value, place)
			}
			if !diags.HasErrors() {
				converted++
			}
		}
	}
	// Also if the password file itself sets what is no password.
	result, diags := cloud(t, minimal, text+"openstack_region_name: "+hidden+"\nkolla_external_fqdn: "+hidden+"\n", nil)
	if place := leak(result, diags, hidden); place != "" || diags.HasErrors() {
		t.Errorf("the value is in %q: %v", place, diags)
	}
	if converted < 150 {
		t.Errorf("only %d clouds were converted", converted)
	}
}

// TestQuorums checks the numbers of members: RabbitMQ and MariaDB take one, three or five.
func TestQuorums(t *testing.T) {
	result, diags := cloud(t, minimal, "a:\n", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, f := range result.Files {
		switch text := string(f.Content); f.Path {
		case "cloud.hcl":
			for _, want := range []string{"service \"mariadb\" {}", "service \"ovn\" {}", "service \"keystone\" {\n  replicas = 2\n}"} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
		case "report.md":
			if !strings.Contains(text, "rabbitmq has 1 member instead of 2: kolla runs 1, 3 and 5.") {
				t.Errorf("the report does not say it:\n%s", text)
			}
		}
	}
}

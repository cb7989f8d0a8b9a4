package recipe_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stub is a program that only logs its calls. Its Keystone has no domains.
const stub = `#!/bin/sh
echo "${0##*/} $*" >>"$CALLS"
case "$*" in "domain show"*) exit 1 ;; esac
`

// TestExtendStart checks what the images do for Kolla's variables, before or instead of the start
// of the service.
func TestExtendStart(t *testing.T) {
	domain := []string{
		"openstack domain show heat_user_domain",
		"openstack domain create heat_user_domain",
		"openstack user create --domain heat_user_domain --password secret heat_domain_admin",
		"openstack role add --domain heat_user_domain --user-domain heat_user_domain --user heat_domain_admin admin",
	}
	novaSync := []string{"nova-manage api_db sync", "nova-manage db sync --local_cell"}
	for _, test := range []struct {
		layer, env string
		want       []string // "started": the service starts
	}{
		{"barbican", "", []string{"started"}},
		{"barbican", "KOLLA_BOOTSTRAP=", []string{"barbican-db-manage upgrade"}},
		{"cinder", "", []string{"started"}},
		{"cinder", "KOLLA_BOOTSTRAP=", []string{"cinder-manage db sync"}},
		{"cinder", "KOLLA_OSM=", []string{"cinder-manage db online_data_migrations"}},
		{"glance", "", []string{"started"}},
		{"glance", "KOLLA_BOOTSTRAP=", []string{"glance-manage db_sync", "glance-manage db_load_metadefs"}},
		{"glance", "KOLLA_UPGRADE=", nil},
		{"glance", "KOLLA_UPGRADE= GLANCE_DB_EXPAND=", []string{"glance-manage db expand"}},
		{"glance", "KOLLA_UPGRADE= GLANCE_DB_MIGRATE=", []string{"glance-manage db migrate"}},
		{"glance", "KOLLA_UPGRADE= GLANCE_DB_CONTRACT=", []string{"glance-manage db contract"}},
		{"heat", "", []string{"started"}},
		{"heat", "KOLLA_BOOTSTRAP= HEAT_DOMAIN_ADMIN_PASSWORD=secret", append([]string{"heat-manage db_sync"}, domain...)},
		{"neutron", "", []string{"started"}},
		{"neutron", "KOLLA_BOOTSTRAP=", []string{"neutron-db-manage --subproject neutron upgrade head"}},
		{"neutron", "KOLLA_UPGRADE=", nil},
		{"neutron", "KOLLA_UPGRADE= NEUTRON_DB_EXPAND=", []string{"neutron-db-manage --subproject neutron upgrade --expand"}},
		{"neutron", "KOLLA_UPGRADE= NEUTRON_DB_CONTRACT=", []string{"neutron-db-manage --subproject neutron upgrade --contract"}},
		{"nova", "", []string{"started"}},
		{"nova", "KOLLA_BOOTSTRAP=", append(slices.Clone(novaSync), "nova-manage db online_data_migrations")},
		{"nova", "KOLLA_UPGRADE=", novaSync},
		{"nova", "KOLLA_UPGRADE_CHECK=", []string{"nova-status upgrade check"}},
		{"nova", "KOLLA_OSM=", []string{"nova-manage db online_data_migrations"}},
		{"placement", "", []string{"started"}},
		{"placement", "KOLLA_BOOTSTRAP=", []string{"placement-manage db sync", "placement-manage db online_data_migrations"}},
		{"placement", "KOLLA_UPGRADE=", []string{"placement-manage db sync"}},
		{"placement", "KOLLA_OSM=", []string{"placement-manage db online_data_migrations"}},
	} {
		t.Run(test.layer+" "+test.env, func(t *testing.T) {
			got := extendStart(t, test.layer, strings.Fields(test.env))
			logs := "install -d -m 0755 -o " + test.layer + " -g kolla /var/log/kolla/" + test.layer
			if diff := cmp.Diff(append([]string{logs}, test.want...), got); diff != "" {
				t.Errorf("what is run (-want +got):\n%s", diff)
			}
		})
	}
}

// extendStart runs a layer's kolla_extend_start like kolla_start does, with stubs in place of all
// programs, and returns their calls.
func extendStart(t *testing.T, layer string, env []string) []string {
	t.Helper()
	dir := t.TempDir()
	script, calls := filepath.Join(dir, "extend"), filepath.Join(dir, "calls")
	files := map[string]string{script: string(file(t, layer, "usr/local/bin/kolla_extend_start"))}
	for _, name := range []string{
		"install", "openstack", "started",
		"barbican-db-manage", "cinder-manage", "glance-manage", "heat-manage", "neutron-db-manage", "nova-manage", "nova-status",
		"placement-manage",
	} {
		files[filepath.Join(dir, name)] = stub
	}
	for name, content := range files {
		if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sh := exec.Command("sh", "-euc", `. "$0"; started`, script)
	sh.Env = append(slices.Clone(env), "PATH="+dir+":"+os.Getenv("PATH"), "CALLS="+calls)
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

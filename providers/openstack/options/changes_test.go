package options_test

import (
	"cmp"
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack/options"
)

// changes describes the changes of options between two releases, one a line.
func changes(from, to string, files ...configs.ConfigFile) []string {
	config := &configs.Config{Cloud: configs.Cloud{Release: to}, Services: []configs.Service{{Name: "s", Configs: files}}}
	var out []string
	for _, c := range options.Changes(config, from) {
		out = append(out, fmt.Sprintf("%s:%d %s %s %s in %s, now %s", c.At.Filename, c.At.Start.Line, c.Service, c.Option, c.Kind, c.Since, cmp.Or(c.Now.String(), "-")))
	}
	return out
}

// TestOptionChanges checks what an operator hears about the options of a configuration before an upgrade.
func TestOptionChanges(t *testing.T) {
	for _, test := range []struct {
		name     string
		from, to string
		file     string
		lines    []string
		want     []string
	}{
		{
			name: "removed, at the line of the option", from: "2025.1", to: "2026.1", file: "nova.conf",
			lines: []string{"[DEFAULT] debug = true", "[DEFAULT] osapi_compute_workers = 5"},
			want:  []string{"nova.conf.hcl:2 Nova [DEFAULT] osapi_compute_workers removed in 2026.1, now -"},
		},
		{
			name: "removed on the way", from: "2025.1", to: "2026.2", file: "nova.conf",
			lines: []string{"[DEFAULT] osapi_compute_workers = 5"},
			want:  []string{"nova.conf.hcl:1 Nova [DEFAULT] osapi_compute_workers removed in 2026.1, now -"},
		},
		{
			name: "deprecated before, and removed now", from: "2026.1", to: "2026.2", file: "cinder.conf",
			lines: []string{"[oslo_messaging_rabbit] heartbeat_in_pthread = true", "[DEFAULT] image_conversion_cpu_limit = 60"},
			want: []string{
				"cinder.conf.hcl:1 Cinder [oslo_messaging_rabbit] heartbeat_in_pthread removed in 2026.2, now -",
				"cinder.conf.hcl:2 Cinder [DEFAULT] image_conversion_cpu_limit deprecated in 2026.2, now -",
			},
		},
		{
			name: "in a backend", from: "2026.1", to: "2026.2", file: "cinder.conf",
			lines: []string{"[DEFAULT] enabled_backends = fast", "[fast] volume_driver = x", "[fast] flashsystem_iscsi_portid = 1"},
			want:  []string{"cinder.conf.hcl:3 Cinder [fast] flashsystem_iscsi_portid removed in 2026.2, now -"},
		},
		{
			name: "a whole group", from: "2025.1", to: "2026.2", file: "magnum.conf",
			lines: []string{"[trust] roles = x", "[trust] trustee_domain_name = magnum"},
			want: []string{
				"magnum.conf.hcl:1 Magnum [trust] roles removed in 2026.2, now -",
				"magnum.conf.hcl:2 Magnum [trust] trustee_domain_name removed in 2026.2, now -",
			},
		},
		{
			name: "renamed", from: "2025.1", to: "2026.2", file: "ml2_conf.ini",
			lines: []string{"[ml2] tenant_network_types = geneve", "[ml2] project_network_types = geneve"},
			want:  []string{"ml2_conf.ini.hcl:1 Neutron [ml2] tenant_network_types renamed in 2026.1, now [ml2] project_network_types"},
		},
		{
			name: "renamed before, and the former name is gone", from: "2025.1", to: "2026.2", file: "nova.conf",
			lines: []string{"[DEFAULT] dhcp_domain = example.org"},
			want:  []string{"nova.conf.hcl:1 Nova [DEFAULT] dhcp_domain removed in 2026.1, now [api] dhcp_domain"},
		},
		{
			name: "a value", from: "2025.1", to: "2026.2", file: "keystone.conf",
			lines: []string{"[cache] backend = oslo_cache.mongo"},
			want:  []string{"keystone.conf.hcl:1 Keystone [cache] backend unsuitable in 2026.2, now -"},
		},
		{
			name: "wrong or deprecated before", from: "2025.1", to: "2025.2", file: "nova.conf",
			lines: []string{"[DEFAULT] debgu = true", "[DEFAULT] debug = maybe", "[DEFAULT] logdir = /x", "[none] x = y"},
		},
		{name: "the same release", from: "2025.1", to: "2025.1", file: "nova.conf", lines: []string{"[DEFAULT] osapi_compute_workers = 5"}},
		{name: "back", from: "2026.1", to: "2025.1", file: "ml2_conf.ini", lines: []string{"[ml2] project_network_types = geneve"}},
		{name: "no table", from: "2025.1", to: "2026.1", file: "ironic-inspector.conf", lines: []string{"[discovery] enabled_bmc_address_version = 4"}},
		{name: "an unknown release", from: "2024.2", to: "2026.1", file: "nova.conf", lines: []string{"[DEFAULT] osapi_compute_workers = 5"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := gocmp.Diff(test.want, changes(test.from, test.to, ini(test.file, test.lines...))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestOptionChangesOfMany checks that a value for many files is removed only if no file has it any longer,
// and that options of the catalogue are left out.
func TestOptionChangesOfMany(t *testing.T) {
	lines := []string{"[oslo_messaging_rabbit] heartbeat_in_pthread = true"}
	nova, cinder := ini("x", lines...), ini("x", lines...)
	nova.Name, cinder.Name = "nova.conf", "cinder.conf"
	want := []string{"x.hcl:1 Nova [oslo_messaging_rabbit] heartbeat_in_pthread removed in 2026.2, now -"}
	if diff := gocmp.Diff(want, changes("2025.1", "2026.2", nova, cinder)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	own := ini("nova.conf", "[DEFAULT] osapi_compute_workers = 5")
	own.Options[0].Origin.Range.Filename = configs.CatalogueDir + "/nova.hcl"
	if got := changes("2025.1", "2026.2", own); len(got) > 0 {
		t.Errorf("of the catalogue: %q", got)
	}
}

package options_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/catalogue"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/releases"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/providers/openstack/options"
)

// ini makes a file of lines "[group] option = value". Each line has its own place.
func ini(name string, lines ...string) configs.ConfigFile {
	f := configs.ConfigFile{Name: name, Format: "ini"}
	for i, line := range lines {
		section, rest, _ := strings.Cut(strings.TrimPrefix(line, "["), "] ")
		key, value, _ := strings.Cut(rest, " = ")
		at := hcl.Pos{Line: i + 1, Byte: i}
		f.Options = append(f.Options, configs.Option{
			Section: section, Key: key, Values: []configs.Text{configs.Plain(value)},
			Origin: configs.Origin{Layer: "service", Range: hcl.Range{Filename: name + ".hcl", Start: at, End: at}},
		})
	}
	return f
}

func check(release string, files ...configs.ConfigFile) []string {
	config := &configs.Config{Cloud: configs.Cloud{Release: release}, Services: []configs.Service{{Name: "s", Configs: files}}}
	return messages(options.Check(config))
}

func messages(diags hcl.Diagnostics) []string {
	var out []string
	for _, d := range diags {
		out = append(out, d.Summary+": "+d.Detail)
	}
	return out
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name    string
		release string // 2025.1
		file    string
		lines   []string
		want    []string
	}{
		{
			name: "right", file: "keystone.conf",
			lines: []string{"[DEFAULT] debug = true", "[token] expiration = 3600", "[database] connection = mysql+pymysql://x"},
		},
		{
			name: "near miss", file: "keystone.conf",
			lines: []string{"[token] expiratoin = 3600"},
			want:  []string{`No option "expiratoin" in [token]: Keystone 2025.1 reads no such option from keystone.conf, and would ignore it. Did you mean "expiration"?`},
		},
		{
			name: "another group's", file: "keystone.conf",
			lines: []string{"[DEFAULT] max_pool_size = 5"},
			want:  []string{`No option "max_pool_size" in [DEFAULT]: Keystone 2025.1 reads no such option from keystone.conf, and would ignore it. [database] has it.`},
		},
		{
			name: "group, once", file: "keystone.conf",
			lines: []string{"[databse] connection = x", "[databse] max_retries = 1"},
			want:  []string{`No group [databse] in keystone.conf: Keystone 2025.1 reads no such group, and would ignore it. Did you mean "database"?`},
		},
		{
			name: "group like no other", file: "nova.conf",
			lines: []string{"[my_own_things] virt_type = kvm"},
			want:  []string{`No group [my_own_things] in nova.conf: Nova 2025.1 reads no such group, and would ignore it. As for "virt_type", [libvirt] has it.`},
		},
		{name: "group of a plugin", file: "ml2_conf.ini", lines: []string{"[apic_aim_things] some_key = x"}},
		{
			name: "renamed", file: "nova.conf",
			lines: []string{"[glance] glance_api_servers = x", "[DEFAULT] log-dir = /x", "[DEFAULT] logdir = /x"},
			want: []string{
				`No option "glance_api_servers" in [glance]: Nova 2025.1 reads no such option from nova.conf, and would ignore it.`,
				`[DEFAULT] logdir is deprecated: It is now [DEFAULT] log_dir. Nova 2025.1 still reads the former name, later releases may not.`,
			},
		},
		{
			name: "types", file: "nova.conf",
			lines: []string{
				"[DEFAULT] debug = maybe", "[DEFAULT] my_ip = nova-1.example", "[vnc] novncproxy_port = 70000",
				"[DEFAULT] ram_allocation_ratio = much", "[libvirt] virt_type = kmv", "[DEFAULT] rootwrap_config = ",
				"[api_database] max_pool_size = five", "[DEFAULT] osapi_compute_listen_port = $metadata_listen_port",
			},
			want: []string{
				`Unsuitable value for [DEFAULT] debug: Nova 2025.1 only takes true or false, and this is "maybe".`,
				`Unsuitable value for [vnc] novncproxy_port: Nova 2025.1 only takes a port from 0 to 65535, and this is "70000".`,
				`Unsuitable value for [DEFAULT] ram_allocation_ratio: Nova 2025.1 only takes a number of at least 0, and this is "much".`,
				`Unsuitable value for [libvirt] virt_type: Nova 2025.1 only takes "kvm", "lxc", "qemu" or "parallels", and this is "kmv".`,
				`Unsuitable value for [api_database] max_pool_size: Nova 2025.1 only takes a whole number, and this is "five".`,
			},
		},
		{
			name: "auth", file: "nova.conf",
			lines: []string{
				"[keystone_authtoken] auth_url = http://k", "[keystone_authtoken] username = nova", "[keystone_authtoken] user_domain_name = Default",
				"[service_user] application_credential_id = x", "[neutron] project-name = service", "[keystone_authtoken] user_name = nova",
				"[keystone_authtoken] pasword = x",
			},
			want: []string{
				`[keystone_authtoken] user_name is deprecated: It is now username. Nova 2025.1 still reads the former name, later releases may not.`,
				`No option "pasword" in [keystone_authtoken]: Nova 2025.1 reads no such option from nova.conf, and would ignore it. Did you mean "password"?`,
			},
		},
		{
			// A former name of an option counts only if the group chooses the plugin that had the
			// name.
			name: "former names of plugins", file: "nova.conf",
			lines: []string{
				"[neutron] auth_type = password", "[neutron] url = http://n", "[neutron] authorization_code = x",
				"[keystone_authtoken] auth_type = password", "[keystone_authtoken] tenant_name = service",
				"[cinder] auth_type = admin_token", "[cinder] url = http://c",
				"[placement] url = http://p", // no plugin is chosen, so the former name may be right
				"[service_user] auth_type = v2password", "[service_user] tenant_name = service",
				"[ironic] auth_type = my_own", "[ironic] url = http://i",
			},
			want: []string{
				`No option "authorization_code" in [neutron]: Nova 2025.1 reads no such option from nova.conf, and would ignore it.`,
				`[keystone_authtoken] tenant_name is deprecated: It is now project_name. Nova 2025.1 still reads the former name, later releases may not.`,
				`[cinder] url is deprecated: It is now endpoint. Nova 2025.1 still reads the former name, later releases may not.`,
			},
		},
		{
			name: "section of its own for auth", file: "nova.conf",
			lines: []string{"[placement] auth_section = everyone", "[everyone] auth_url = x", "[everyone] username = nova"},
		},
		{
			name: "cinder backends", file: "cinder.conf",
			lines: []string{
				"[DEFAULT] enabled_backends = rbd-1, lvm-1", "[rbd-1] volume_driver = x", "[rbd-1] rbd_pool = volumes",
				"[lvm-1] volume_grop = cinder", "[off] volume_driver = y", "[off] rbd_user = z",
				"[backend_defaults] rbd_user = z", "[fc-zone-manager] fc_fabric_names = one", "[one] fc_fabric_address = x",
			},
			want: []string{`No option "volume_grop" in [lvm-1]: Cinder 2025.1 reads no such option from cinder.conf, and would ignore it. Did you mean "volume_group"?`},
		},
		{
			name: "former names in a backend", file: "cinder.conf",
			lines: []string{"[DEFAULT] enabled_backends = lvm-1", "[lvm-1] iscsi_secondary_ip_addresses = 192.0.2.1"},
			want:  []string{`[lvm-1] iscsi_secondary_ip_addresses is deprecated: It is now [lvm-1] target_secondary_ip_addresses. Cinder 2025.1 still reads the former name, later releases may not.`},
		},
		{
			name: "nothing near", file: "keystone.conf",
			lines: []string{"[memcache] servers = x", "[cache] backnd = x", "[even] x = y"},
			want: []string{
				`No group [memcache] in keystone.conf: Keystone 2025.1 reads no such group, and would ignore it.`,
				`No option "backnd" in [cache]: Keystone 2025.1 reads no such option from keystone.conf, and would ignore it. Did you mean "backend"?`,
				`No group [even] in keystone.conf: Keystone 2025.1 reads no such group, and would ignore it.`,
			},
		},
		{
			name: "glance stores", file: "glance-api.conf",
			lines: []string{
				"[DEFAULT] enabled_backends = fast:rbd, cheap:file, web:http", "[glance_store] default_backend = fast",
				"[fast] rbd_store_pool = images", "[cheap] filesystem_store_datadir = /x", "[os_glance_tasks_store] filesystem_store_datadir = /y",
				"[fast] rbd_store_pol = images",
			},
			want: []string{`No option "rbd_store_pol" in [fast]: Glance 2025.1 reads no such option from glance-api.conf, and would ignore it. Did you mean "rbd_store_pool"?`},
		},
		{
			name: "manila backends", file: "manila.conf",
			lines: []string{"[DEFAULT] enabled_share_backends = generic", "[generic] share_driver = x", "[generic] driver_handles_share_servers = true"},
		},
		{
			name: "keystone's own", file: "keystone.conf",
			lines: []string{
				"[auth] methods = password,token,openid,custom", "[auth] custom = x", "[openid] remote_id_attribute = HTTP_OIDC_ISS",
				"[federation] trusted_dashboard = http://x",
			},
		},
		{name: "a domain's file", file: "keystone.users.conf", lines: []string{"[ldap] url = ldap://x", "[identity] driver = ldap"}},
		{
			name: "prefixes", file: "nova.conf",
			lines: []string{"[devices] enabled_mdev_types = nvidia-35", "[mdev_nvidia-35] device_addresses = x", "[vif_plug_ovs_privileged] helper_command = sudo x"},
		},
		{name: "no table", file: "galera.cnf", lines: []string{"[mysqld] max_connectoins = x"}},
		{
			name: "between releases", release: "2025.2", file: "keystone.conf",
			lines: []string{"[token] expiratoin = 1", "[token] expiration = 1"},
			want:  []string{`No option "expiratoin" in [token]: Keystone 2025.2 reads no such option from keystone.conf, and would ignore it. Did you mean "expiration"?`},
		},
		{
			name: "to be removed", file: "nova.conf",
			lines: []string{"[wsgi] secure_proxy_ssl_header = x", "[glance] api_servers = http://x"},
			want: []string{
				`[wsgi] secure_proxy_ssl_header is deprecated: It is going to be removed. Nova 2025.1 still reads it, later releases may not.` +
					` The reason: The functionality of this parameter is duplicate of the http_proxy_to_wsgi middleware of oslo.middleware and will be completely replaced.`,
				`[glance] api_servers is deprecated: It is going to be removed. Nova 2025.1 still reads it, later releases may not.`,
			},
		},
		{
			name: "near miss after a prefix", file: "designate.conf",
			lines: []string{"[service:wroker] workers = 2", "[handler:mine] zone_id = x"},
			want:  []string{`No group [service:wroker] in designate.conf: Designate 2025.1 reads no such group, and would ignore it. Did you mean "service:worker"?`},
		},
		{
			name: "auth that no generator lists", file: "cloudkitty.conf",
			lines: []string{"[collector_gnocchi] auth_section = keystone_authtoken", "[fetcher_keystone] auth_type = password", "[fetcher_keystone] username = x"},
		},
		{
			name: "not renamed yet", release: "2025.1", file: "ml2_conf.ini",
			lines: []string{"[ml2] tenant_network_types = geneve"},
		},
		{
			name: "perhaps not renamed yet", release: "2025.2", file: "ml2_conf.ini",
			lines: []string{"[ml2] tenant_network_types = geneve", "[ml2] project_network_types = geneve"},
		},
		{
			name: "renamed since", release: "2026.1", file: "ml2_conf.ini",
			lines: []string{"[ml2] tenant_network_types = geneve"},
			want:  []string{`[ml2] tenant_network_types is deprecated: It is now [ml2] project_network_types. Neutron 2026.1 still reads the former name, later releases may not.`},
		},
		{
			name: "gone since", release: "2026.1", file: "nova.conf",
			lines: []string{"[DEFAULT] osapi_compute_workers = 5"},
			want:  []string{`No option "osapi_compute_workers" in [DEFAULT]: Nova 2026.1 reads no such option from nova.conf, and would ignore it. It is gone from 2026.1 on.`},
		},
		{
			name: "gone and renamed since", release: "2026.2", file: "nova.conf",
			lines: []string{"[DEFAULT] osapi_compute_workers = 5", "[DEFAULT] dhcp_domain = x", "[DEFAULT] never_there = x"},
			want: []string{
				`No option "osapi_compute_workers" in [DEFAULT]: Nova 2026.2 reads no such option from nova.conf, and would ignore it. It is gone from 2026.1 on.`,
				`No option "dhcp_domain" in [DEFAULT]: Nova 2026.2 reads no such option from nova.conf, and would ignore it. It is now [api] dhcp_domain.`,
				`No option "never_there" in [DEFAULT]: Nova 2026.2 reads no such option from nova.conf, and would ignore it.`,
			},
		},
		{
			name: "gone", release: "2026.1", file: "ironic-inspector.conf", lines: []string{"[nonsense] x = y"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.release == "" {
				test.release = "2025.1"
			}
			got := check(test.release, ini(test.file, test.lines...))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestCheckSecret checks that no message shows a sensitive value, and that a generated value, which
// is not known yet, is not checked.
func TestCheckSecret(t *testing.T) {
	f := ini("keystone.conf", "[token] expiration = hunter2", "[token] expiration = x")
	f.Options[0].Values[0][0].Sensitive = true
	f.Options[1].Values[0] = configs.Text{{Secret: &configs.SecretRef{Service: "s", Secret: "t", Key: "value"}}}
	got := check("2025.1", f)
	want := []string{"Unsuitable value for [token] expiration: Keystone 2025.1 only takes a whole number of at least 0, and the value that is given is not."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestCheckUnknown checks that unknown and sensitive values cause no false warning.
func TestCheckUnknown(t *testing.T) {
	unknown := ini("cinder.conf", "[DEFAULT] enabled_backends = x", "[fast] rbd_pool = volumes", "[DEFAULT] debgu = true", "[DEFAULT] debug = ")
	for name, value := range map[string]configs.Text{
		"with an error": nil,
		"deferred":      {{Literal: "lvm,"}, {Deferred: []string{"data.object.x"}}},
		"generated":     {{Secret: &configs.SecretRef{Service: "s", Secret: "t", Key: "value"}}},
		"sensitive":     {{Literal: "fast", Sensitive: true}},
	} {
		unknown.Options[0].Values = []configs.Text{value}
		unknown.Options[3].Values = []configs.Text{value}
		if name == "sensitive" {
			unknown.Options[3].Values = nil
		}
		got := check("2025.1", unknown)
		if len(got) != 1 || !strings.HasPrefix(got[0], `No option "debgu"`) {
			t.Errorf("%s: %q", name, got)
		}
	}
	partial := ini("cloudkitty.conf", "[collector_gnocchi] username = x", "[perhaps] username = x", "[DEFAULT] debgu = true")
	partial.Partial = true // auth_section may be in the rest
	if got := check("2025.1", partial); len(got) != 1 || !strings.HasPrefix(got[0], `No option "debgu"`) {
		t.Errorf("partial: %q", got)
	}
	auth := ini("keystone.conf", "[auth] methods = x", "[auth] custom = x")
	auth.Options[0].Values = []configs.Text{nil}
	if got := check("2025.1", auth); len(got) != 0 {
		t.Errorf("auth methods: %q", got)
	}
}

// TestCheckPart checks that, if services may be missing, there is no warning about options that may
// be for a missing service.
func TestCheckPart(t *testing.T) {
	f := ini("placement.conf", "[libvirt] virt_type = kvm", "[DEFAULT] debgu = true", "[DEFAULT] debug = maybe")
	f.Options[0].Origin.Layer, f.Options[2].Origin.Layer = "cloud", "cloud"
	config := &configs.Config{Cloud: configs.Cloud{Release: "2025.1"}, Services: []configs.Service{{Configs: []configs.ConfigFile{f}}}}
	got := messages(options.CheckPart(config))
	want := []string{
		`No option "debgu" in [DEFAULT]: Placement 2025.1 reads no such option from placement.conf, and would ignore it. Did you mean "debug"?`,
		`Unsuitable value for [DEFAULT] debug: Placement 2025.1 only takes true or false, and this is "maybe".`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := options.Check(config); len(got) != 3 {
		t.Errorf("of all: %q", messages(got))
	}
}

// TestCheckForMany checks that an option for many files is reported if no file has it, also among
// the files of a service that reads several, and that an option with several values is reported once.
func TestCheckForMany(t *testing.T) {
	lines := []string{"[DEFAULT] debgu = true", "[DEFAULT] debug = true", "[DEFAULT] transport_url = rabbit://x"}
	var files []configs.ConfigFile
	for _, name := range []string{"nova.conf", "nova-api.conf", "cell0.conf"} {
		f := ini(name, lines...)
		for i := range f.Options {
			f.Options[i].Origin = configs.Origin{Layer: "directory", Range: hcl.Range{Filename: "global.conf", Start: hcl.Pos{Line: i + 1, Byte: i}}}
			f.Options[i].Values = append(f.Options[i].Values, f.Options[i].Values...)
		}
		files = append(files, f)
	}
	want := []string{
		`No option "debgu" in [DEFAULT]: Nova 2025.1 reads no such option from nova.conf, and would ignore it. Did you mean "debug"?`,
		"[DEFAULT] debug has 2 values: The service reads only the last one.",
	}
	if diff := cmp.Diff(want, check("2025.1", files...)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestCheckPlaces checks that each warning points at the wrong part of a line, and that the
// warnings are sorted by line.
func TestCheckPlaces(t *testing.T) {
	f := ini("nova.conf", "[DEFAULT] debug = maybe", "[libvrt] virt_type = kvm", "[libvirt] virt_typ = kvm", "[DEFAULT] logdir = x", "[libvrt] cpu_mode = x")
	at := func(line, column int) hcl.Range {
		pos := hcl.Pos{Line: line, Column: column, Byte: 100*line + column}
		return hcl.Range{Filename: "cloud.hcl", Start: pos, End: pos}
	}
	for i := range f.Options {
		line := 10 - i
		f.Options[i].Origin = configs.Origin{Section: at(line, 1), Key: at(line, 2), Range: at(line, 3)}
	}
	f.Options[2].Origin.Key = hcl.Range{} // in a computed map
	var got []string
	config := &configs.Config{Cloud: configs.Cloud{Release: "2025.1"}, Services: []configs.Service{{Configs: []configs.ConfigFile{f}}}}
	for _, d := range options.Check(config) {
		got = append(got, fmt.Sprintf("%d:%d %s", d.Subject.Start.Line, d.Subject.Start.Column, d.Summary))
	}
	want := []string{
		"6:1 No group [libvrt] in nova.conf",
		"7:2 [DEFAULT] logdir is deprecated",
		`8:3 No option "virt_typ" in [libvirt]`,
		"10:3 Unsuitable value for [DEFAULT] debug",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestCheckForManyFiles checks that an option set for many files must exist in one of them, and
// that a missing option is reported once.
func TestCheckForManyFiles(t *testing.T) {
	lines := []string{"[oslo_messaging_rabbit] rabbit_quorum_queue = true", "[libvirt] virt_type = kvm", "[libvirt] virt_typ = kvm"}
	nova, placement, other := ini("x", lines...), ini("x", lines...), ini("x", lines[2])
	nova.Name, placement.Name = "nova.conf", "placement.conf"
	got := check("2025.1", placement, nova)
	if len(got) != 1 || !strings.HasPrefix(got[0], `No option "virt_typ" in [libvirt]: Nova`) && !strings.HasPrefix(got[0], "No group [libvirt] in placement.conf") {
		t.Errorf("warnings: %q", got)
	}
	other.Name = "unknown.ini"
	other.Options[0].Origin = nova.Options[2].Origin
	if got := check("2025.1", placement, nova, other); len(got) != 0 {
		t.Errorf("an unknown file may have it, and yet: %q", got)
	}
}

// TestCatalogue checks that all options of the built-in catalogue exist in every release. The only
// deprecated options that it may set are heartbeat_in_pthread, which APIs under uWSGI need, and
// enforce_scope of Barbican, which is off by default there. Both are gone from 2026.2 on.
func TestCatalogue(t *testing.T) {
	definitions, diags := catalogue.Describe(openstack.Catalogue())
	if diags.HasErrors() || len(definitions) == 0 {
		t.Fatal(diags)
	}
	inputs := map[string]string{
		"barbican": `
  keystone_listener = true
`,
		"ceph": `
  external = { host = "192.0.2.20" }
  keyrings = { glance = "[client.glance]", cinder = "[client.cinder]", cinder-backup = "[client.cinder-backup]" }
`,
		"cinder": `
  backends = {
    fake = { type = "other", settings = { volume_driver = "cinder.tests.fake_driver.FakeLoggingVolumeDriver" } }
    nas  = { type = "nfs", share = "nas.example.org:/volumes", storage_class = "nas" }
    pool = { type = "rbd" }
  }
  backup = {}
`,
		"glance": `
  stores = { file = { type = "file" }, pool = { type = "rbd" }, web = { type = "http" } }
`,
		"neutron-sriov": `
  devices = { physnet1 = ["ens2f0"] }
`,
	}
	for _, release := range releases.Names() {
		text := fmt.Sprintf("cloud %q {\n  release = %q\n}\n", "c", release)
		for _, d := range definitions {
			if !d.Abstract && !slices.Contains([]string{"fluentd", "rsyslog"}, d.Name) { // collectors of the block logging
				text += fmt.Sprintf("service %q {\n%s}\n", d.Name, inputs[d.Name])
			}
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(messages(options.CheckAll(load(t, dir))), func(message string) bool {
			return strings.HasPrefix(message, "[oslo_messaging_rabbit] heartbeat_in_pthread is deprecated") ||
				message == "[oslo_policy] enforce_scope is deprecated: It is going to be removed. Barbican "+release+" still reads it, later releases may not."
		})
		if len(got) != 0 {
			t.Errorf("%s:\n%s", release, strings.Join(got, "\n"))
		}
	}
}

// TestCheckTrustsTheCatalogue checks that Check does not report mistakes in the catalogue, because
// only kolla can fix them.
func TestCheckTrustsTheCatalogue(t *testing.T) {
	f := ini("keystone.conf", "[token] expiratoin = 1")
	f.Options[0].Origin.Range.Filename = configs.CatalogueDir + "/keystone.hcl"
	if got := check("2025.1", f); len(got) != 0 {
		t.Errorf("warnings: %q", got)
	}
	config := &configs.Config{Cloud: configs.Cloud{Release: "2025.1"}, Services: []configs.Service{{Configs: []configs.ConfigFile{f}}}}
	if got := options.CheckAll(config); len(got) != 1 {
		t.Errorf("all warnings: %q", messages(got))
	}
}

func TestExamples(t *testing.T) {
	for _, name := range []string{"all-in-one", "multinode", "real-keystone"} {
		if got := messages(options.Check(load(t, filepath.Join("../../../examples", name)))); len(got) != 0 {
			t.Errorf("%s:\n%s", name, strings.Join(got, "\n"))
		}
	}
}

func load(t *testing.T, dir string) *configs.Config {
	t.Helper()
	config, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return config
}

// BenchmarkCheck checks 2,000 services, each with its own file.
func BenchmarkCheck(b *testing.B) {
	var lines []string
	for range 20 {
		lines = append(lines, "[DEFAULT] debug = true", "[oslo_messaging_rabbit] rabbit_quorum_queue = true")
	}
	lines = append(lines, "[DEFAULT] debgu = true")
	config := &configs.Config{Cloud: configs.Cloud{Release: "2025.1"}}
	names := []string{"keystone.conf", "nova.conf", "cinder.conf", "neutron.conf", "glance-api.conf", "heat.conf", "manila.conf"}
	for i := range 2000 {
		f := ini(names[i%len(names)], lines...)
		for j := range f.Options {
			f.Options[j].Origin.Range.Start.Line = i
			f.Options[j].Origin.Range.Start.Byte = i*100 + j
		}
		config.Services = append(config.Services, configs.Service{Name: fmt.Sprint(i), Configs: []configs.ConfigFile{f}})
	}
	for b.Loop() {
		options.Check(config)
	}
}

// TestTypical checks that typical config files cause only the warnings in the golden file: a newer
// release has fewer options.
func TestTypical(t *testing.T) {
	names, err := filepath.Glob("testdata/typical/*")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for _, release := range releases.Names() {
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var section string
			var lines []string
			for line := range strings.Lines(strings.TrimSpace(string(text))) {
				if line = strings.TrimSpace(line); strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
					section = line
					continue
				}
				lines = append(lines, section+" "+line)
			}
			for _, message := range check(release, ini(filepath.Base(name), lines...)) {
				fmt.Fprintf(&got, "%s: %s\n", release, message)
			}
		}
	}
	golden.Compare(t, "testdata/typical.golden.txt", got.Bytes())
}

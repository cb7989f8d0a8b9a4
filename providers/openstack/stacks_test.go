package openstack_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	v1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestStacks compares the objects of Heat, Cinder and Horizon with golden files, in each release.
func TestStacks(t *testing.T) {
	inEachRelease(t, "testdata/stacks", "heat", "cinder", "horizon")
}

// TestFoundInTheCatalogue checks that services that find each other in Keystone's catalogue may
// connect, even without a reference and without an exposure.
func TestFoundInTheCatalogue(t *testing.T) {
	config := inRelease(t, "testdata/stacks", newest)
	for i := range config.Services {
		config.Services[i].Exposure = ""
	}
	objects := render(t, config, facts())
	policies, pods := policiesOf(t, objects), endsOf(t, objects)
	for _, c := range []struct {
		from, to string
		port     int
		want     bool
	}{
		{"horizon-web", "heat-api", 8004, true}, // Horizon has no reference to Heat
		{"cinder-volume", "heat-api-cfn", 8000, true},
		{"heat-engine", "cinder-api", 8776, true},
		{"heat-engine", "horizon-web", 8080, false},   // Horizon is not in the catalogue
		{"memcached-server", "heat-api", 8004, false}, // Memcached does not use Keystone
	} {
		if got := open(t, policies, pods[c.from], pods[c.to], v1.ProtocolTCP, c.port); got != c.want {
			t.Errorf("%s connects to %s:%d: %t, want %t", c.from, c.to, c.port, got, c.want)
		}
	}
}

// stackOptions returns all options of a cloud, by SERVICE FILE SECTION KEY, and the contents of
// files without options, by SERVICE FILE.
func stackOptions(config *configs.Config) map[string]string {
	out := map[string]string{}
	for _, s := range config.Services {
		for _, f := range s.Configs {
			out[s.Name+" "+f.Name] = f.Content.Masked()
			for _, o := range f.Options {
				out[s.Name+" "+f.Name+" "+o.Section+" "+o.Key] = o.Values[0].Masked()
			}
		}
	}
	return out
}

func checkOptions(t *testing.T, config *configs.Config, want map[string]string) {
	t.Helper()
	got := stackOptions(config)
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s: %q, want %q", name, got[name], value)
		}
	}
}

// TestStacksOverrides checks that override files of kolla-ansible apply to the same services and
// config files as in kolla-ansible.
func TestStacksOverrides(t *testing.T) {
	checkOptions(t, inRelease(t, "testdata/stacks", newest), map[string]string{
		"heat heat-api.conf DEFAULT max_stacks_per_tenant":                    "200",
		"heat heat-engine.conf DEFAULT max_stacks_per_tenant":                 "200",
		"heat heat-engine.conf DEFAULT num_engine_workers":                    "4",
		"heat heat-api.conf DEFAULT num_engine_workers":                       "",
		"heat heat-db.conf DEFAULT max_stacks_per_tenant":                     "",
		"cinder cinder-volume.conf rbd-1 rbd_flatten_volume_from_snapshot":    "true",
		"cinder cinder-volume.conf nfs-1 nfs_sparsed_volumes":                 "false",
		"cinder cinder-scheduler.conf rbd-1 rbd_flatten_volume_from_snapshot": "",
		"cinder policy.yaml":                                        "\"volume:create\": \"rule:xena_system_admin_or_project_member\"\n",
		"horizon _9999-custom-settings.py":                          "SESSION_TIMEOUT = 7200\n",
		"heat heat-api-uwsgi.ini uwsgi add-header":                  "Connection: close",
		"heat heat-api-cfn-uwsgi.ini uwsgi add-header":              "Connection: close",
		"cinder cinder-api-uwsgi.ini uwsgi add-header":              "Connection: close",
		"horizon horizon-uwsgi.ini uwsgi add-header":                "Connection: close",
		"cinder cinder-volume.conf cinder_sys_admin capabilities":   "",
		"cinder cinder-volume.conf cinder_sys_admin helper_command": "privsep-helper --config-file /etc/cinder/cinder.conf",
		"cinder cinder-backup.conf privsep_osbrick helper_command":  "privsep-helper --config-file /etc/cinder/cinder.conf",
		"cinder ceph.client.cinder.keyring":                         "(sensitive)",
		"cinder cinder-volume.conf rbd-1 rbd_secret_uuid":           "925c675e-6b39-5a00-be22-f24300d3b0e4",
	})
}

// TestStacksJobs checks that a job reads only the options of its database, so that it runs again
// only if these change.
func TestStacksJobs(t *testing.T) {
	var jobs []string
	for _, s := range inRelease(t, "testdata/stacks", "2025.1").Services {
		if !slices.Contains([]string{"heat", "cinder", "horizon"}, s.Name) {
			continue
		}
		for _, job := range s.Jobs {
			command := strings.NewReplacer(script(t, "cinder/retire.py"), "retire.py", script(t, "check.py"), "check.py").Replace(strings.Join(job.Pod.Command, " "))
			jobs = append(jobs, s.Name+" "+job.When+" "+job.Name+": "+command+", "+strings.Join(job.Pod.Configs, " "))
		}
		for _, f := range s.Configs {
			for _, o := range f.Options {
				if strings.HasSuffix(f.Name, "-db.conf") && o.Section != "database" && o.Key != "use_stderr" {
					t.Errorf("%s has [%s] %s", f.Name, o.Section, o.Key)
				}
			}
		}
	}
	slices.Sort(jobs)
	want := []string{
		"cinder after db-online: cinder-manage db online_data_migrations, cinder-db.conf",
		"cinder after retire: python3 -c retire.py, cinder-db.conf",
		"cinder before db-sync: cinder-manage db sync, cinder-db.conf",
		"cinder check upgrade-check: python3 -c check.py cinder-status, policy.yaml cinder-check.conf ceph.conf",
		"heat before db-sync: heat-manage db_sync, heat-db.conf",
		"heat check upgrade-check: python3 -c check.py heat-status, heat-api.conf",
	}
	if diff := cmp.Diff(want, jobs); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

// stackCloud loads a cloud with these blocks. The servers that the blocks need exist elsewhere.
func stackCloud(t *testing.T, blocks string) (*configs.Config, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	text := `
cloud "c" {
  release = "2025.2"
}

role "control" {
  nodes = ["n1"]
}

service "mariadb" {
  external = { host = "db.example.org" }

  secret "root" {
    from_env = "ROOT"
  }
}

service "rabbitmq" {
  external = { host = "mq.example.org", port = 5673, transport_url = null }

  secret "admin" {
    from_env = "MQ_ADMIN"
  }
}

service "memcached" {
  external = { host = "cache.example.org", servers = "cache-1.example.org:11211,cache-2.example.org:11211" }
}

service "keystone" {
  external = { host = "identity.example.org", admin_password = null }

  secret "admin" {
    from_env = "ADMIN"
  }
}
` + blocks
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
}

// TestStacksElsewhere checks that all servers that these services need may exist elsewhere.
func TestStacksElsewhere(t *testing.T) {
	config, diags := stackCloud(t, `
service "heat" {
  role = role.control
}

service "cinder" {
  role     = role.control
  backends = { fake = { type = "other", settings = { volume_driver = "cinder.tests.fake_driver.FakeLoggingVolumeDriver" } } }
}

service "horizon" {
  role  = role.control
  hosts = ["dashboard.example.org"]
}
`)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	objects := render(t, config, facts())
	checkOptions(t, config, map[string]string{
		"heat heat-engine.conf database connection":               "mysql+pymysql://heat:(sensitive)@db.example.org:3306/heat",
		"heat heat-engine.conf DEFAULT transport_url":             "rabbit://heat:(sensitive)@mq.example.org:5673/heat",
		"heat heat-engine.conf cache memcache_servers":            "cache-1.example.org:11211,cache-2.example.org:11211",
		"heat heat-engine.conf clients_keystone auth_uri":         "http://identity.example.org:5000",
		"heat heat-engine.conf volumes backups_enabled":           "false",
		"heat heat-engine.conf DEFAULT heat_metadata_server_url":  "http://heat-api-cfn.openstack:8000",
		"cinder cinder-volume.conf keystone_authtoken auth_url":   "http://identity.example.org:5000/v3",
		"cinder cinder-volume.conf fake volume_backend_name":      "fake",
		"cinder cinder-volume.conf DEFAULT enabled_backends":      "fake",
		"cinder cinder-scheduler.conf DEFAULT glance_api_servers": "",
		"cinder ceph.conf": "",
	})
	engine, _, _ := podOf(t, find(t, objects, "Deployment/heat-engine"))
	probe := engine.Containers[0].ReadinessProbe.Exec.Command
	if got := probe[len(probe)-3:]; !slices.Equal(got, []string{"connected", "heat-engine", "5673"}) {
		t.Errorf("the engine is ready when %v", got)
	}
	for _, o := range objects {
		if name := o.Address.Name; name == "cinder-backup" || strings.HasPrefix(name, "mariadb-server") {
			t.Errorf("there is %s", o.Address)
		}
	}
}

// TestCinderBackends checks that a backend that cannot work is an error at its line, and that the
// error says which settings the backend needs.
func TestCinderBackends(t *testing.T) {
	for name, c := range map[string]struct{ backends, want string }{
		"type":       {`{ a = { type = "lvm" } }`, "Types are nfs, other and rbd."},
		"misspelt":   {`{ a = { type = "nfz" } }`, `Did you mean "nfs"?`},
		"no keyring": {"{ a = { type = \"rbd\" } }\n}\n\nservice \"ceph\" {\n  external = { host = \"192.0.2.20\" }", "keyrings = { cinder = ... }"},
		"none":       {`{}`, "Cinder needs backends"},
		"no type":    {`{ a = { pool = "volumes" } }`, `backends["a"] needs an attribute "type"`},
		"no driver":  {`{ a = { type = "other" } }`, "with volume_driver among its settings"},
		"no share":   {`{ a = { type = "nfs" } }`, "a share such as"},
		"no path":    {`{ a = { type = "nfs", share = "nas.example.org" } }`, "a share such as"},
		"two shares": {`{ a = { type = "nfs", share = "a:/b" }, b = { type = "nfs", share = "a:/c" } }`, "only one"},
		"no ceph":    {`{ a = { type = "rbd" } }`, `"ceph"`},
		"nothing":    {"", `"backends"`},
		"iSCSI": {
			"{\n    san = { type = \"other\", settings = { volume_driver = \"cinder.volume.drivers.pure.PureISCSIDriver\" } }\n  }\n}\n\nservice \"nova-compute\" {\n  role = role.control",
			"No server could attach a volume of san: the hypervisors of nova-compute have neither iscsid nor multipathd",
		},
	} {
		t.Run(name, func(t *testing.T) {
			backends := ""
			if c.backends != "" {
				backends = "  backends = " + c.backends + "\n"
			}
			_, diags := stackCloud(t, "\nservice \"cinder\" {\n  role = role.control\n"+backends+"}\n")
			var text []string
			for _, d := range diags {
				text = append(text, d.Summary+": "+d.Detail)
				if d.Subject == nil || filepath.Base(d.Subject.Filename) != "cloud.hcl" {
					t.Errorf("no line of the configuration: %v", d)
				}
			}
			if !strings.Contains(strings.Join(text, "\n"), c.want) {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

// TestCinderDrivers checks which drivers are refused beside hypervisors of nova-compute, and that no
// driver is refused without these.
func TestCinderDrivers(t *testing.T) {
	const hypervisors = "\nservice \"nova-compute\" {\n  role = role.control\n}\n"
	for settings, refused := range map[string]bool{
		`volume_driver = "cinder.volume.drivers.lvm.LVMVolumeDriver"`:                                         true,
		`volume_driver = "cinder.volume.drivers.pure.PureNVMEDriver"`:                                         true,
		`volume_driver = "cinder.volume.drivers.solidfire.SolidFireDriver"`:                                   true,
		`volume_driver = "cinder.volume.drivers.ceph.rbd_iscsi.RBDISCSIDriver"`:                               true,
		`volume_driver = "cinder.volume.drivers.netapp.common.NetAppDriver"`:                                  true,
		`volume_driver = "cinder.volume.drivers.netapp.common.NetAppDriver", netapp_storage_protocol = "nfs"`: false,
		`volume_driver = "cinder.volume.drivers.dell_emc.powerstore.nfs.PowerStoreNFSDriver"`:                 false,
		`volume_driver = "cinder.volume.drivers.rbd.RBDDriver"`:                                               false,
		`volume_driver = "cinder.tests.fake_driver.FakeLoggingVolumeDriver"`:                                  false,
		`volume_driver = "vendor.Driver"`:                                                                     false,
	} {
		for _, more := range []string{hypervisors, ""} {
			_, diags := stackCloud(t, "\nservice \"cinder\" {\n  role = role.control\n  backends = { a = { type = \"other\", settings = { "+settings+" } } }\n}\n"+more)
			if got, want := strings.Contains(diags.Error(), "No server could attach a volume of a"), refused && more != ""; got != want {
				t.Errorf("%s%s: refused is %t, want %t: %v", settings, more, got, want, diags)
			}
		}
	}
}

// TestCinderKeepsSettingsSecret checks that the settings of a driver may contain secrets.
func TestCinderKeepsSettingsSecret(t *testing.T) {
	config, diags := stackCloud(t, `
secret "array" {
  from_env = "ARRAY"
}

service "cinder" {
  role = role.control
  backends = {
    array = { type = "other", settings = { volume_driver = "cinder.volume.drivers.pure.PureISCSIDriver", pure_api_token = secret.array.value } }
  }
}
`)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	checkOptions(t, config, map[string]string{"cinder cinder-volume.conf array pure_api_token": "(sensitive)"})
}

// TestHorizonSettings runs the settings file as Horizon does, with a session key at the path that a
// pod has it.
func TestHorizonSettings(t *testing.T) {
	const asHorizon = `
import json, sys
settings = {"HORIZON_CONFIG": {}} # as Horizon's own settings have it
exec(sys.stdin.read(), settings)
print(json.dumps({k: v for k, v in settings.items() if k.isupper()}, sort_keys=True))
`
	config, diags := stackCloud(t, `
service "horizon" {
  role  = role.control
  hosts = ["dashboard.example.org"]
}
`)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	key := filepath.Join(t.TempDir(), "value")
	if err := os.WriteFile(key, []byte("not-a-real-key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, settings := range map[string]string{
		"multi": stackOptions(inRelease(t, "testdata/stacks", newest))["horizon _9998-kolla-settings.py"],
		"small": stackOptions(config)["horizon _9998-kolla-settings.py"],
		"alone": stackOptions(written(t, `
service "keystone" {
  external = { host = "identity.example.org", admin_password = null }
}

service "horizon" {
  hosts = ["dashboard.example.org"]
}
`))["horizon _9998-kolla-settings.py"],
	} {
		python := exec.Command("python3", "-c", asHorizon)
		python.Stdin = strings.NewReader(strings.Replace(settings, "/run/secrets/session/value", key, 1))
		out, err := python.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		var got struct {
			Hosts   []string        `json:"ALLOWED_HOSTS"`
			Engine  string          `json:"SESSION_ENGINE"`
			Key     string          `json:"SECRET_KEY"`
			URL     string          `json:"OPENSTACK_KEYSTONE_URL"`
			Volumes map[string]bool `json:"OPENSTACK_CINDER_FEATURES"`
			Config  struct {
				Home string `json:"user_home"`
			} `json:"HORIZON_CONFIG"`
			Caches map[string]struct {
				Location any `json:"LOCATION"`
			} `json:"CACHES"`
		}
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if got.Config.Home != "/project/api_access/" {
			t.Errorf("%s: without Nova, people begin at %q", name, got.Config.Home)
		}
		host, url, engine := "dashboard.example.org", "http://identity.example.org:5000/v3", "cache"
		var caches any
		switch name {
		case "multi":
			host, url = "cloud.example.org", "http://keystone.openstack:5000/v3"
			caches = []any{"memcached-server-0.memcached-server.openstack:11211"}
		case "small":
			caches = []any{"cache-1.example.org:11211", "cache-2.example.org:11211"}
		case "alone":
			engine = "signed_cookies"
		}
		if !slices.Contains(got.Hosts, host) || !slices.Contains(got.Hosts, "horizon.openstack.svc") || slices.Contains(got.Hosts, "*") || slices.Contains(got.Hosts, "horizon.openstack.svc.cluster.local") {
			t.Errorf("%s: hosts %q", name, got.Hosts)
		}
		if got.Engine != "django.contrib.sessions.backends."+engine || got.Key != "not-a-real-key" || got.URL != url || got.Volumes["enable_backup"] != (name == "multi") {
			t.Errorf("%s: %+v", name, got)
		}
		if diff := cmp.Diff(caches, got.Caches["default"].Location); diff != "" {
			t.Errorf("%s: caches (-want +got):\n%s", name, diff)
		}
	}
}

// TestHorizonPlugins checks that Horizon has the panels of the declared services only.
func TestHorizonPlugins(t *testing.T) {
	config, diags := stackCloud(t, "\nservice \"horizon\" {\n  role = role.control\n}\n")
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	for want, config := range map[string]*configs.Config{"yes": inRelease(t, "testdata/stacks", newest), "no": config} {
		spec, _, _ := podOf(t, find(t, render(t, config, facts()), "Deployment/horizon-web"))
		env := map[string]string{}
		for _, e := range spec.Containers[0].Env {
			env[e.Name] = e.Value
		}
		if env["ENABLE_HEAT"] != want || env["ENABLE_OCTAVIA"] != "no" {
			t.Errorf("environment: %v", env)
		}
	}
}

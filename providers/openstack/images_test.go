package openstack_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/catalogue"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/releases"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// newest is the newest release that kolla deploys.
var newest = releases.Names()[len(releases.Names())-1]

// inRelease loads a cloud with a release and other variables, NAME=VALUE.
func inRelease(t *testing.T, dir, release string, others ...string) *configs.Config {
	t.Helper()
	distros := releases.Named(release).Distros
	debian := slices.IndexFunc(distros, func(d string) bool { return strings.HasPrefix(d, "debian-") })
	vars := []lang.Var{{Assignment: "release=" + release}, {Assignment: "distro=" + distros[debian]}}
	for _, assignment := range others {
		vars = append(vars, lang.Var{Assignment: assignment})
	}
	config, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue(), Vars: vars})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return config
}

// inEachRelease compares the objects of services with golden files: all objects in the first
// release, and the changes in each later one.
func inEachRelease(t *testing.T, dir string, services ...string) {
	t.Helper()
	in := func(release string) []byte {
		return dump(t, slices.DeleteFunc(render(t, inRelease(t, dir, release), facts()), func(o providers.Object) bool {
			return !slices.Contains(services, serviceOf(o))
		}))
	}
	names := releases.Names()
	first := in(names[0])
	golden.Compare(t, filepath.Join(dir, names[0]+".golden.yaml"), first)
	for _, release := range names[1:] {
		golden.CompareChanges(t, filepath.Join(dir, release+".golden.diff"), first, in(release))
	}
}

// TestBase compares the objects of MariaDB, RabbitMQ, Memcached and Keystone with golden files, in
// each release.
func TestBase(t *testing.T) {
	inEachRelease(t, "testdata/base", "mariadb", "rabbitmq", "memcached", "keystone")
}

// TestImages compares the objects of Placement, Barbican and Glance with golden files, in each
// release.
func TestImages(t *testing.T) {
	inEachRelease(t, "testdata/images", "placement", "barbican", "glance", "glance-rbd")
}

// TestCopies checks that copies of the catalogue's definitions in a configuration give the same
// objects as the originals.
func TestCopies(t *testing.T) {
	definitions, diags := catalogue.Describe(openstack.Catalogue())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, cloud := range []string{"testdata/images", "testdata/stacks", "testdata/servers"} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(cloud)); err != nil {
			t.Fatal(err)
		}
		for _, d := range definitions {
			if d.Abstract {
				continue // copies start from the catalogue's own
			}
			if err := os.WriteFile(filepath.Join(dir, d.Name+".hcl"), d.Source, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want := manifests(render(t, inRelease(t, cloud, newest), facts()))
		if diff := cmp.Diff(want, manifests(render(t, inRelease(t, dir, newest), facts()))); diff != "" {
			t.Errorf("of the catalogue, and of copies (-want +got):\n%s", diff)
		}
	}
}

// manifests returns the manifests of objects, by address.
func manifests(objects []providers.Object) map[string]any {
	out := map[string]any{}
	for _, o := range objects {
		out[o.Address.String()] = o.Manifest
	}
	return out
}

// TestImagesByRelease checks the commands that start the APIs in each release.
func TestImagesByRelease(t *testing.T) {
	for _, release := range releases.Names() {
		glance := "uwsgi --ini /etc/glance/glance-api-uwsgi.ini"
		if release < "2026.1" {
			glance = "glance-api"
		}
		want := map[string]string{
			"barbican/api":               "uwsgi --ini /etc/barbican/barbican-api-uwsgi.ini",
			"barbican/keystone-listener": "barbican-keystone-listener",
			"barbican/worker":            "barbican-worker",
			"glance/api":                 glance,
			"glance-rbd/api":             glance,
			"placement/api":              "uwsgi --ini /etc/placement/placement-api-uwsgi.ini",
		}
		got := map[string]string{}
		for _, s := range inRelease(t, "testdata/images", release).Services {
			for _, w := range s.Workloads {
				if name := s.Name + "/" + w.Name; want[name] != "" {
					_, command, found := strings.Cut(strings.Join(w.Pod.Command, " "), " "+"9292 ")
					if !found {
						command = strings.Join(w.Pod.Command, " ")
					}
					got[name] = command
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", release, diff)
		}
	}
}

// TestImagesOverrides checks that override files of kolla-ansible apply to the same services and
// config files as in kolla-ansible.
func TestImagesOverrides(t *testing.T) {
	got := map[string][]string{}
	for _, s := range inRelease(t, "testdata/images", newest).Services {
		for _, f := range s.Configs {
			for _, o := range f.Options {
				switch o.Key {
				case "max_allocation_candidates", "asynchronous_workers", "image_size_cap":
					got[o.Key] = append(got[o.Key], s.Name+"/"+f.Name+" = "+o.Values[0].Masked())
				}
			}
			if f.Name == "policy.yaml" || strings.HasSuffix(f.Name, ".keyring") {
				got[f.Name] = append(got[f.Name], s.Name+" = "+f.Content.Masked())
			}
		}
	}
	want := map[string][]string{
		"max_allocation_candidates":  {"placement/placement-api.conf = 500"},
		"asynchronous_workers":       {"barbican/barbican-worker.conf = 2"},
		"image_size_cap":             {"glance/glance-api.conf = 1099511627776", "glance-rbd/glance-api.conf = 1099511627776"},
		"policy.yaml":                {"glance = \"publicize_image\": \"role:admin\"\n", "glance-rbd = \"publicize_image\": \"role:admin\"\n"},
		"ceph.client.glance.keyring": {"glance-rbd = (sensitive)"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("overrides (-want +got):\n%s", diff)
	}
}

// TestImagesElsewhere checks that all servers that these services need may exist elsewhere, and
// that the config directory may have Ceph's files.
func TestImagesElsewhere(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cloud.hcl": `
cloud "c" {
  release    = "2025.2"
  config_dir = "config"
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
  external = { host = "mq.example.org", transport_url = null }

  secret "admin" {
    from_env = "MQ_ADMIN"
  }
}

service "memcached" {
  external = { host = "cache.example.org" }
}

service "keystone" {
  external = { host = "identity.example.org", admin_password = null }

  secret "admin" {
    from_env = "ADMIN"
  }
}

service "placement" {
  role = role.control
}

service "barbican" {
  role = role.control
}

service "glance" {
  role   = role.control
  stores = { rbd = { type = "rbd" } }
}
`,
		"config/glance/ceph.conf":                  "[global]\nmon_host = 192.0.2.20\n",
		"config/glance/ceph.client.glance.keyring": "[client.glance]\n\tkey = not-a-real-key\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := load(t, dir)
	render(t, config, facts())
	options := map[string]string{}
	for _, s := range config.Services {
		for _, f := range s.Configs {
			for _, o := range f.Options {
				options[s.Name+" "+f.Name+" "+o.Section+" "+o.Key] = o.Values[0].Masked()
			}
			if strings.HasPrefix(f.Name, "ceph.") {
				options[s.Name+" "+f.Name] = f.Content.Masked()
			}
		}
	}
	for name, want := range map[string]string{
		"placement placement-api.conf placement_database connection":        "mysql+pymysql://placement:(sensitive)@db.example.org:3306/placement",
		"placement placement-api.conf keystone_authtoken auth_url":          "http://identity.example.org:5000/v3",
		"placement placement-api.conf keystone_authtoken memcached_servers": "cache.example.org:11211",
		"barbican barbican-worker.conf DEFAULT transport_url":               "rabbit://barbican:(sensitive)@mq.example.org:5672/barbican",
		"glance glance-api.conf database connection":                        "mysql+pymysql://glance:(sensitive)@db.example.org:3306/glance",
		"glance ceph.conf":                  "[global]\nmon_host = 192.0.2.20\n",
		"glance ceph.client.glance.keyring": "(sensitive)",
	} {
		if options[name] != want {
			t.Errorf("%s: %q, not %q", name, options[name], want)
		}
	}
}

// TestImagesJobs checks that a job reads only the options of its database, so that it runs again
// only if these change.
func TestImagesJobs(t *testing.T) {
	seen := 0
	for _, s := range inRelease(t, "testdata/images", newest).Services {
		if !slices.Contains([]string{"placement", "barbican", "glance"}, s.Definition) {
			continue
		}
		for _, job := range s.Jobs {
			if job.When == "check" { // TestChecksReadTheFilesOfPods
				continue
			}
			seen++
			want := []string{s.Definition + "-db.conf"}
			if job.Name == "rewrap" { // reads the keys, too
				want = []string{"barbican-rewrap.conf"}
			}
			if diff := cmp.Diff(want, job.Pod.Configs); diff != "" {
				t.Errorf("job %s of %s reads (-want +got):\n%s", job.Name, s.Name, diff)
			}
		}
		for _, f := range s.Configs {
			if !strings.HasSuffix(f.Name, "-db.conf") {
				continue
			}
			for _, o := range f.Options {
				if o.Section != "DEFAULT" && o.Section != "database" && o.Section != "placement_database" || o.Section == "DEFAULT" && o.Key != "use_stderr" {
					t.Errorf("%s of %s has [%s] %s", f.Name, s.Name, o.Section, o.Key)
				}
			}
		}
	}
	if seen != 8 {
		t.Errorf("%d jobs", seen)
	}
}

// TestCephIsExternal checks that a Ceph that is not declared as external is an error, because kolla
// does not deploy Ceph.
func TestCephIsExternal(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte("cloud \"c\" {\n  release = \"2026.1\"\n}\n\nservice \"ceph\" {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
	want := "Nothing to deploy for service \"ceph\""
	if len(diags) != 1 || diags[0].Summary != want || !strings.Contains(diags[0].Detail, "external = {") || diags[0].Subject.Start.Line != 5 {
		t.Errorf("diagnostics: %v", diags)
	}
}

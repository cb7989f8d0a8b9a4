package openstack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/providers/openstack"
)

// TestThreads refuses every way to let a process of uWSGI answer several requests at once, at its
// line. What is right is "one"; the lines with "several" are refused.
func TestThreads(t *testing.T) {
	const config = `
cloud "c" {
  release    = "2026.1"
  config_dir = "config"

  defaults {
    config "placement-api-uwsgi.ini" {
      values = { uwsgi = {
        threads = 3 # several
      } }
    }
  }
}

service "mariadb" {}
service "memcached" {}

service "keystone" {
  config "keystone-uwsgi.ini" {
    values = { uwsgi = {
      processes = 8
      threads   = 2 # several
      async     = 1
    } }
  }
}

service "placement" {}

definition "api" {
  config "raw.ini" {
    format  = "raw"
    path    = "/etc/raw.ini"
    content = "[uwsgi]\nmodule = other:application\n  threads = 4\n" # several
  }

  config "notes.txt" {
    format  = "raw"
    path    = "/etc/notes.txt"
    content = "threads = 4\n"
  }

  workload "api" { # several
    kind    = "Deployment"
    image   = "api"
    command = ["sh", "-c", "exec /usr/bin/uwsgi --module other --threads=4"]
    config  = ["raw.ini", "notes.txt"]
  }

  workload "metadata" { # several
    kind    = "Deployment"
    image   = "api"
    command = ["uwsgi"]
    args    = ["--module", "other", "--gevent", "100"]
  }

  workload "worker" {
    kind    = "Deployment"
    image   = "api"
    command = ["worker", "--threads", "4"]

    env = {
      UWSGI_THREADS = 4 # several
      THREADS       = 4
    }
  }
}

service "api" {}
service "api-2" { definition = "api" }

definition "metric" {
  config "gnocchi-uwsgi.ini" {
    format = "ini"
    path   = "/etc/gnocchi-uwsgi.ini"
    values = { uwsgi = {
      module  = "gnocchi.rest.wsgi:application"
      threads = 8
    } }
  }

  workload "api" {
    kind    = "Deployment"
    image   = "gnocchi-api"
    command = ["uwsgi", "--ini", "/etc/gnocchi-uwsgi.ini", "--threads", "8"]
    config  = ["gnocchi-uwsgi.ini"]
  }
}

service "metric" {}

service "nova" {}
service "neutron" {}
service "rabbitmq" {}
service "ovn" {}
`
	dir := t.TempDir()
	for name, text := range map[string]string{"cloud.hcl": config, "config/nova/nova-api-uwsgi.ini": "[uwsgi]\nprocesses = 2\nthreads = 2 ; several\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var want, got []string
	for name, text := range map[string]string{"cloud.hcl": config, "config/nova/nova-api-uwsgi.ini": "\n\nthreads = 2 ; several"} {
		for i, line := range strings.Split(text, "\n") {
			if strings.Contains(line, " several") {
				want = append(want, fmt.Sprintf("%s:%d", name, i+1))
			}
		}
	}
	_, diags := openstack.Check(load(t, dir), facts())
	for _, d := range diags {
		if d.Severity != hcl.DiagError {
			continue
		}
		name, err := filepath.Rel(dir, d.Subject.Filename)
		if err != nil || !strings.Contains(d.Detail, "Keystone answers one user with the rights of another") {
			t.Errorf("%s %s: %v", d.Subject, d.Detail, err)
		}
		got = append(got, fmt.Sprintf("%s:%d", name, d.Subject.Start.Line))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("refused at %q, want %q", got, want)
	}
}

// TestAPIs checks how uWSGI runs each API of the catalogue: one request at a time, with a limit
// of time where no upload is possible, and with a probe that any answer satisfies.
func TestAPIs(t *testing.T) {
	uploads := map[string]string{"glance-api-uwsgi.ini": "", "horizon-uwsgi.ini": "3600"}
	for release, want := range map[string][]string{
		"2025.1": {"barbican-api", "cinder-api", "heat-api", "heat-api-cfn", "horizon", "keystone", "nova-api", "nova-metadata", "placement-api"},
		"2025.2": {"barbican-api", "cinder-api", "heat-api", "heat-api-cfn", "horizon", "keystone", "neutron-api", "nova-api", "nova-metadata", "placement-api"},
		"2026.1": {"barbican-api", "cinder-api", "glance-api", "heat-api", "heat-api-cfn", "horizon", "keystone", "neutron-api", "nova-api", "nova-metadata", "placement-api"},
	} {
		var got []string
		for _, dir := range []string{"base", "images", "servers", "stacks"} {
			config := inRelease(t, filepath.Join("testdata", dir), release)
			for _, s := range config.Services {
				for _, f := range s.Configs {
					options := map[string]string{}
					for _, o := range f.Options {
						if o.Section == "uwsgi" {
							options[o.Key] = o.Values[0].Masked()
						}
					}
					if len(options) == 0 {
						continue
					}
					got = append(got, strings.TrimSuffix(f.Name, "-uwsgi.ini"))
					limit, upload := uploads[f.Name]
					if !upload {
						limit = "360"
					}
					processes, err := strconv.Atoi(options["processes"])
					if options["threads"] != "1" || processes < 4 || err != nil || options["harakiri"] != limit {
						t.Errorf("%s %s runs with %v", release, f.Name, options)
					}
					for _, w := range s.Workloads {
						if slices.Contains(w.Pod.Configs, f.Name) && !upload && (w.Live == nil || len(w.Live.Exec) == 0 || w.Live.Exec[0] != "curl" || w.Live.Timeout < 60) {
							t.Errorf("%s %s is alive when %+v", release, f.Name, w.Live)
						}
					}
				}
			}
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("in %s uWSGI runs %q, want %q", release, got, want)
		}
	}
}

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

	"kolla.openstack.org/kolla/lang/releases"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestThreads checks that a process of uWSGI that answers several requests at once is an error, at
// the lines marked "several" and nowhere else.
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

  config "api.yaml" { # several
    format = "yaml"
    path   = "/etc/api.yaml"
    values = { uwsgi = { threads = 4, module = "other" } }
  }

  config "listed.json" {
    format  = "raw"
    path    = "/etc/listed.json"
    content = jsonencode({ uwsgi = [{ module = "other" }, { async = 4 }] }) # several
  }

  config "sections.ini" {
    format = "ini"
    path   = "/etc/sections.ini"
    values = {
      uwsgi   = { module = "other", ini = ":more", threads = 1 }
      more    = { threads = 5 } # several
      command = { threads = 6 } # several
      other   = { threads = 7 }
    }
  }

  config "secret.ini" {
    format    = "ini"
    path      = "/etc/secret.ini"
    sensitive = true
    values = {
      uwsgi = {
        module  = "other"
        threads = 9 # several
      }
    }
  }

  config "named.ini" {
    format  = "raw"
    path    = "/etc/named.ini"
    content = "[named]\nthreads = 4\n[unnamed]\nthreads = 4\n" # several
  }

  config "repeated.json" { # several
    format = "json"
    path   = "/etc/repeated.json"
    values = { uwsgi = { threads = [4], module = "other" } }
  }

  workload "named" {
    kind    = "Deployment"
    image   = "api"
    command = ["uwsgi", "--ini", "/etc/named.ini:named", "--module", "other"]
  }

  workload "variable" { # several
    kind    = "Deployment"
    image   = "api"
    command = ["sh", "-c", "UWSGI_THREADS=4 exec uwsgi --module other"]
  }

  workload "shell" { # several
    kind    = "Deployment"
    image   = "api"
    command = ["sh", "-c", "uwsgi --module other --threads=\"$THREADS\""]
  }

  workload "exporter" {
    kind    = "Deployment"
    image   = "api"
    command = ["uwsgi-exporter", "--config", "/etc/uwsgi.ini", "--threads", "4"]
  }

  workload "gunicorn" {
    kind    = "Deployment"
    image   = "api"
    command = ["gunicorn", "other"]
  }

  patch "Deployment/api*gunicorn" {
    object = { spec = { template = { spec = { containers = [{ name = "gunicorn", args = ["--threads", "4"] }] } } } }
  }

  config "central.ini" {
    format  = "raw"
    path    = "/etc/central.ini"
    content = "; uwsgi: threads = 5\n[uwsgi]\nthreads = 1 ; one\n[service:central]\nthreads = 1000\n"
  }

  config "scrape.yaml" {
    format = "yaml"
    path   = "/etc/scrape.yaml"
    values = { scrape = { uwsgi = "host:9117", threads = 4 } }
  }

  workload "set" { # several
    kind    = "Deployment"
    image   = "api"
    command = ["uwsgi_python3", "--ini", "/etc/sections.ini:command", "--set", "threads=4"]
  }

  workload "quoted" { # several
    kind    = "Deployment"
    image   = "api"
    command = ["sh", "-c", "exec uwsgi --module other '--threads=4'"]
  }

  workload "beside" { # several
    kind    = "Deployment"
    image   = "api"
    command = ["api"]

    sidecar "metadata" {
      image   = "api"
      command = ["uwsgi", "--module", "other", "--threads", "2"]
    }
  }

  patch "Deployment/api*patched" {
    object = { spec = { template = { spec = { containers = [{ name = "patched", args = ["--threads", "8"] }] } } } } # several
  }

  workload "patched" {
    kind    = "Deployment"
    image   = "api"
    command = ["uwsgi", "--module", "other"]
  }

  workload "worker" {
    kind    = "Deployment"
    image   = "api"
    command = ["worker", "--threads", "4"]
  }

  workload "environment" {
    kind    = "Deployment"
    image   = "api"
    command = ["uwsgi", "--module", "other"]

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

service "barbican" {
  config "barbican-api-uwsgi.ini" { sensitive = true }
}
service "neutron" {}
service "rabbitmq" {}
service "ovn" {}
`
	dir := t.TempDir()
	for name, text := range map[string]string{"cloud.hcl": config, "config/nova/nova-api-uwsgi.ini": "[uwsgi]\nprocesses = 2\nthreads = 2 ; several\n", "config/nova/nova-metadata-uwsgi.ini": "[uwsgi]\nthunder-lock = true\n  threads = 3\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var want, got []string
	for name, text := range map[string]string{"cloud.hcl": config, "config/nova/nova-api-uwsgi.ini": "\n\nthreads = 2 ; several", "config/nova/nova-metadata-uwsgi.ini": "\nwith a line that uWSGI does not continue: several"} {
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
		if name == "cloud.hcl" && strings.Contains(d.Detail, `"9"`) {
			t.Errorf("it shows a sensitive value: %s", d.Detail)
		}
		got = append(got, fmt.Sprintf("%s:%d", name, d.Subject.Start.Line))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("refused at %q, want %q", got, want)
	}
}

// TestAPIs checks how uWSGI runs each API of the catalogue: one request at a time, with a time
// limit if clients cannot upload data, and with a probe that accepts any answer.
func TestAPIs(t *testing.T) {
	uploads := map[string]string{"glance-api-uwsgi.ini": "", "horizon-uwsgi.ini": "3600"}
	for _, release := range releases.Names() {
		want := []string{"barbican-api", "cinder-api", "heat-api", "heat-api-cfn", "horizon", "keystone", "nova-api", "nova-metadata", "placement-api"}
		if release >= "2025.2" {
			want = append(want, "neutron-api")
		}
		if release >= "2026.1" {
			want = append(want, "glance-api")
		}
		slices.Sort(want)
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
					switch {
					case f.Name == "nova-api-uwsgi.ini":
						limit = "1860"
					case !upload:
						limit = "360"
					}
					processes, err := strconv.Atoi(options["processes"])
					if options["threads"] != "1" || processes < 4 || err != nil || options["harakiri"] != limit {
						t.Errorf("%s %s runs with %v", release, f.Name, options)
					}
					for _, w := range s.Workloads {
						if slices.Contains(w.Pod.Configs, f.Name) && !upload && (w.Live == nil || len(w.Live.Exec) == 0 || w.Live.Exec[0] != "curl" || w.Live.Period*(w.Live.Retries-1) <= 360) {
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

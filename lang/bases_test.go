package lang_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/catalogue"
	"kolla.openstack.org/kolla/lang/configs"
)

// baseCatalogue has a definition that others start from, with names that only the catalogue knows.
func baseCatalogue() fstest.MapFS {
	return fstest.MapFS{
		"common.hcl": {Data: []byte("locals {\n  options = { threads = 4 }\n}\n")},
		"bases.hcl": {Data: []byte(`definition "api" {
  abstract = true

  locals {
    uid   = 1
    group = local.uid
  }

  port "api" {
    expose = true
  }

  secret "key" {}

  config "*.conf" {
    path = "/etc/${definition.name}.conf"
    values = {
      DEFAULT = { debug = false, key = secret.key.value }
      server  = merge(local.options, { listen = port.api, home = path.module })
      cache   = { backend = "none" }
    }
  }

  job "migrate" {
    image  = "${definition.name}-tool"
    config = ["${definition.name}.conf"]
  }

  workload "daemon" {
    enabled = false
    kind    = "Deployment"
    image   = "${definition.name}-${workload.name}"
    user    = local.group

    ready { exec = ["check", workload.name] }
    resources { requests = { cpu = "1", memory = "1Gi" } }
  }

  workload "api" {
    from  = "daemon"
    ports = ["api"]

    ready {
      http   = "/"
      period = 7
    }
    resources { requests = { cpu = "2" } }
  }
}
`)},
		"paint.hcl": {Data: []byte(`definition "paint" {
  from = "api"

  port "api" {
    number = 8000
  }
}
`)},
	}
}

const baseCloud = "cloud \"test\" {\n  release = \"2025.1\"\n}\n"

// valuesOf are the values of a config file, by section and key.
func valuesOf(t *testing.T, s configs.Service, name string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, c := range s.Configs {
		if c.Name != name {
			continue
		}
		for _, o := range c.Options {
			for _, v := range o.Values {
				out[o.Section+"."+o.Key] = v.Masked()
			}
		}
	}
	return out
}

// TestBases checks that a definition overrides the one that it starts from by the rules of services,
// that a service overrides both, and that expressions know the names of the place where they stand.
func TestBases(t *testing.T) {
	config, diags := load(t, lang.Options{Catalogue: baseCatalogue()}, baseCloud+`
locals {
  options = "of the configuration"
}
definition "paint" { # it takes the place of the one that it starts from
  from = "paint"

  locals {
    uid = 7
  }
  config "paint.conf" {
    values = {
      DEFAULT = { debug = true }
      server  = { listen = null, threads = 8, note = local.options }
      cache   = null
    }
  }
  job "before" {
    image = "before"
  }
  job "migrate" {
    command = ["go"]
  }
  job "after" {
    image = "after"
  }
  workload "api" {
    resources { requests = { memory = null } }
  }
  workload "worker" {
    from = "daemon"

    ready { period = 9 }
    lifecycle { ignore_fields = ["spec.paused"] }
  }
}
service "paint" {
  config "paint.conf" {
    values = { server = { threads = 16 } }
  }
  workload "more" {
    from  = "worker"
    image = "other"
  }
}
`)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	s := config.Services[0]
	want := map[string]string{
		"DEFAULT.debug": "true", "DEFAULT.key": "(sensitive)",
		"server.threads": "16", "server.home": configs.CatalogueDir, "server.note": "of the configuration",
	}
	if diff := cmp.Diff(want, valuesOf(t, s, "paint.conf")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	var got []string
	for _, j := range s.Jobs {
		got = append(got, "job "+j.Name+" "+j.Pod.Image)
	}
	for _, w := range s.Workloads {
		got = append(got, strings.Join([]string{"workload", w.Name, w.Pod.Image, strings.Join(w.Pod.Ports, ",")}, " "))
		if w.Pod.User != 7 {
			t.Errorf("%s has user %d", w.Name, w.Pod.User)
		}
	}
	wantBlocks := []string{
		"job before before", "job migrate paint-tool", "job after after",
		"workload api paint-api api", "workload worker paint-worker ", "workload more other ",
	}
	if diff := cmp.Diff(wantBlocks, got); diff != "" {
		t.Errorf("jobs and workloads (-want +got):\n%s", diff)
	}
	for i, want := range []int{0, 1, 1} {
		if got := len(s.Workloads[i].Lifecycle.IgnoreFields); got != want {
			t.Errorf("%s ignores %d fields, want %d", s.Workloads[i].Name, got, want)
		}
	}
	if p := s.Workloads[0].Ready; p.HTTP != "/" || p.Period != 7 || len(p.Exec) != 0 {
		t.Errorf("api is ready by %+v", p)
	}
	if diff := cmp.Diff(map[string]string{"cpu": "2"}, s.Workloads[0].Pod.Requests); diff != "" {
		t.Errorf("requests of api (-want +got):\n%s", diff)
	}
	if p := s.Workloads[1].Ready; p.Period != 9 || cmp.Diff([]string{"check", "worker"}, p.Exec) != "" {
		t.Errorf("worker is ready by %+v", p)
	}
}

// TestBasesInModules checks that a base in a module knows the names of that module, and that the
// definition that starts from it knows those of its own.
func TestBasesInModules(t *testing.T) {
	config, diags := load(t, lang.Options{},
		"cloud.hcl", baseCloud+`
variable "who" {
  default = "root"
}
definition "base" {
  config "a.conf" {
    path   = "/etc/a.conf"
    values = { DEFAULT = { base = var.who, both = var.who } }
  }
  dynamic "job" {
    for_each = [var.who]
    labels   = ["job-${job.value}"]
    content {
      image = "${var.who}-${job.value}"
    }
  }
  workload "w" {
    kind   = "Deployment"
    image  = "a"
    config = ["a.conf"]
    env    = { BASE = var.who }
  }
}
module "edge" {
  source = "./edge"
  who    = "edge"
}
`, "edge/main.hcl", `
variable "who" {}
definition "own" {
  from = "base"
  config "a.conf" {
    values = { DEFAULT = { own = var.who, both = var.who } }
  }
  workload "w" {
    env = { OWN = var.who }
  }
}
service "own" {}
`)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	s := config.Services[0]
	if diff := cmp.Diff(map[string]string{"DEFAULT.base": "root", "DEFAULT.both": "edge", "DEFAULT.own": "edge"}, valuesOf(t, s, "a.conf")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if j := s.Jobs[0]; j.Name != "job-root" || j.Pod.Image != "root-root" {
		t.Errorf("job %q has image %q", j.Name, j.Pod.Image)
	}
	env := map[string]string{}
	for _, e := range s.Workloads[0].Pod.Env {
		env[e.Name] = e.Value.Masked()
	}
	if diff := cmp.Diff(map[string]string{"BASE": "root", "OWN": "edge"}, env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
}

// TestPlacesOfBases checks that a mistake in a base, and one in a definition that starts from it, are
// reported where they stand.
func TestPlacesOfBases(t *testing.T) {
	fsys := baseCatalogue()
	fsys["paint.hcl"] = &fstest.MapFile{Data: []byte("definition \"paint\" {\n  from = \"api\"\n\n  port \"api\" {\n    number = \"x\"\n  }\n}\n")}
	fsys["common.hcl"] = &fstest.MapFile{Data: []byte("")}
	_, diags := load(t, lang.Options{Catalogue: fsys}, baseCloud+"service \"paint\" {}\n")
	got := string(render(diags, ""))
	for _, want := range []string{"cloud.hcl:4,1-16", "<catalogue>/paint.hcl:5.", "<catalogue>/bases.hcl:19."} {
		if !strings.Contains(got, want) {
			t.Errorf("nothing is reported at %s:\n%s", want, got)
		}
	}
}

// TestDescribedBases checks that a definition is described with all that it starts from, and that its
// source is its own.
func TestDescribedBases(t *testing.T) {
	infos, diags := catalogue.Describe(baseCatalogue())
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	api, paint := infos[0], infos[1]
	if !api.Abstract || len(api.Ports) > 0 || !strings.Contains(string(api.Source), "abstract = true") {
		t.Errorf("the base: %+v", api)
	}
	want := catalogue.Definition{
		Name: "paint", From: "api",
		Ports:     []catalogue.Port{{Name: "api", Number: 8000, Expose: true}},
		Images:    []string{"paint-api", "paint-tool"},
		Secrets:   []catalogue.Secret{{Name: "key", Kind: "password"}},
		Configs:   []catalogue.Config{{Name: "paint.conf", Path: "/etc/paint.conf"}},
		Workloads: []catalogue.Workload{{Name: "api", Kind: "Deployment"}},
		Jobs:      []string{"migrate"},
	}
	if !strings.HasPrefix(string(paint.Source), "definition \"paint\" {\n  from = \"api\"\n") || strings.Contains(string(paint.Source), "threads") {
		t.Errorf("source:\n%s", paint.Source)
	}
	paint.Source = nil
	if diff := cmp.Diff(want, paint); diff != "" {
		t.Errorf("described (-want +got):\n%s", diff)
	}
}

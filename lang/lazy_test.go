package lang_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"kolla.openstack.org/kolla/lang"
)

// TestCatalogueLocals checks that the definitions of the catalogue share local values, and
// read files of the catalogue.
func TestCatalogueLocals(t *testing.T) {
	catalogue := fstest.MapFS{
		"common.hcl": {Data: []byte(`locals {
  uid  = local.base + 1
  base = 41
  tag  = "${cloud.release}-x"
}
`)},
		"web.hcl": {Data: []byte(`definition "web" {
  locals {
    tag = "own"
  }

  workload "w" {
    kind    = "Deployment"
    image   = "web"
    user    = local.uid
    command = ["sh", "-c", file("${path.module}/web/start.sh")]
    args    = [local.tag, fileexists("${path.module}/web/none.sh") ? "there" : "none"]
  }
}

definition "other" {
  workload "w" {
    kind  = "Deployment"
    image = "other"
    args  = [local.tag]
  }
}
`)},
		"web/start.sh": {Data: []byte("exec web\n")},
	}
	options := lang.Options{Catalogue: catalogue}
	config, diags := load(t, options, `
cloud "c" {
  release = "2025.1"
}
service "web" {}
service "other" {}
locals {
  uid = 7
}
`)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	web, other := config.Services[0].Workloads[0].Pod, config.Services[1].Workloads[0].Pod
	if web.User != 42 || web.Command[2] != "exec web\n" || !slices.Equal(web.Args, []string{"own", "none"}) {
		t.Errorf("the pod is %+v", web)
	}
	if !slices.Equal(other.Args, []string{"2025.1-x"}) {
		t.Errorf("the other pod is %+v", other)
	}
	before := config.Digest
	catalogue["web/start.sh"] = &fstest.MapFile{Data: []byte("exec web -v\n")}
	config, _ = load(t, options, "cloud \"c\" {\n  release = \"2025.1\"\n}\nservice \"web\" {}\n")
	if config.Digest == before {
		t.Error("another script of the catalogue does not change the digest")
	}
}

// TestMissingServices checks that a service that is read within try or can may be missing,
// is needed where it is there, and that cloud.services orders nothing.
func TestMissingServices(t *testing.T) {
	const definition = `
definition "web" {
  workload "w" {
    kind  = "Deployment"
    image = "web"
    args  = [try(service.memcached.host, "none"), contains(cloud.services, "agent") ? "agents" : "alone"]
  }
}

definition "agent" {
  workload "w" {
    kind  = "DaemonSet"
    image = "agent"
    args  = [service.web.host]
  }
}

service "web" {}
`
	s := serviceIn(t, "web", definition)
	if args := s.Workloads[0].Pod.Args; !slices.Equal(args, []string{"none", "alone"}) || len(s.Needs) > 0 {
		t.Errorf("alone: %q, needs %q", args, s.Needs)
	}
	s = serviceIn(t, "web", definition+`
service "memcached" {}

service "agents" {
  for_each   = toset(["a"])
  definition = "agent"
}
`)
	if args := s.Workloads[0].Pod.Args; !slices.Equal(args, []string{"memcached.openstack", "agents"}) || !slices.Equal(s.Needs, []string{"service.memcached"}) {
		t.Errorf("with others: %q, needs %q", args, s.Needs)
	}
	s = serviceIn(t, "web", definition+`
service "memcached" {
  enabled = false
}

service "agents" {
  count      = 0
  definition = "agent"
}
`)
	if args := s.Workloads[0].Pod.Args; !slices.Equal(args, []string{"none", "alone"}) {
		t.Errorf("with others that do not count: %q", args)
	}
}

// TestLazyFromAnywhere checks that each service that reads one of a module needs it, where
// only the evaluation shows that: not the first reader alone.
func TestLazyFromAnywhere(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cloud.hcl": `
cloud "test" {
  release = "2025.1"
}

definition "page" {
  locals {
    cache = try(service.memcached.servers, "none")
  }

  workload "web" {
    kind  = "Deployment"
    image = "page"
    env   = { CACHE = local.cache }
  }
}

module "backing" {
  source = "./backing"
}

service "a" {
  definition = "page"
}

service "b" {
  definition = "page"
}
`,
		"backing/memcached.hcl": "service \"memcached\" {}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, diags := lang.Load(dir, lang.Options{Catalogue: builtinCatalogue()})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	for _, s := range config.Services {
		if s.Definition != "page" {
			continue
		}
		if want := []string{"module.backing.service.memcached"}; !slices.Equal(s.Needs, want) {
			t.Errorf("%s needs %q, want %q", s.Name, s.Needs, want)
		}
		if got := s.Workloads[0].Pod.Env[0].Value.Masked(); !strings.HasPrefix(got, "memcached-server-0.") {
			t.Errorf("%s has the cache %q", s.Name, got)
		}
	}
}

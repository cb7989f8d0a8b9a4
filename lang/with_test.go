package lang_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// TestWith checks that a service in the place of another one takes all of it: references,
// databases and the order.
func TestWith(t *testing.T) {
	source := `
cloud "test" {
  release = "2025.1"
}

definition "shop" {
  locals {
    cache = service.memcached.address
  }

  database "shop" {}

  config "shop.conf" {
    path   = "/etc/shop.conf"
    values = { DEFAULT = { cache = service.memcached.host, none = try(service.nobody.host, "none") } }
  }

  workload "shop" {
    kind   = "Deployment"
    image  = "shop"
    config = ["shop.conf"]
    env    = { URL = database.shop.url, CACHE = local.cache }
  }

  output "cache" {
    value = service.memcached.url
  }
}

service "mariadb" {}

service "db2" {
  definition = "mariadb"
}

service "memcached" {}

service "cache" {
  for_each   = toset(["a", "b"])
  definition = "memcached"
  name       = "cache-${each.key}"
}

service "shop" {}

service "branch" {
  for_each   = toset(["a"])
  definition = "shop"
  with       = { mariadb = service.db2, memcached = service.cache[each.key] }

  database "shop" {
    name = "branch"
  }
}
`
	config, diags := load(t, lang.Options{}, "cloud.hcl", source)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	at := func(name string) configs.Service {
		i := slices.IndexFunc(config.Services, func(s configs.Service) bool { return s.Block == name })
		if i < 0 {
			t.Fatalf("there is no %s", name)
		}
		return config.Services[i]
	}
	for name, want := range map[string]struct {
		server, cache, host string
		needs               []string
	}{
		"service.shop":        {"mariadb", "memcached.openstack:11211", "memcached.openstack", []string{"service.mariadb", "service.memcached"}},
		`service.branch["a"]`: {"db2", "cache-a.openstack:11211", "cache-a.openstack", []string{`service.cache["a"]`, `service.cache["b"]`, "service.db2"}},
	} {
		s := at(name)
		if got := s.Databases[0].Server; got != want.server {
			t.Errorf("the database of %s is on %s", name, got)
		}
		if got := s.Workloads[0].Pod.Env[0].Value.Masked(); got != want.cache {
			t.Errorf("%s has the cache %s", name, got)
		}
		if got := s.Configs[0].Options[0].Values[0].Masked(); got != want.host {
			t.Errorf("the file of %s names %s", name, got)
		}
		if diff := cmp.Diff(want.needs, s.Needs); diff != "" {
			t.Errorf("%s needs (-want +got):\n%s", name, diff)
		}
	}
	// Those that the definition names need not be there.
	for _, b := range []string{"service \"mariadb\" {}\n", "service \"memcached\" {}\n", "service \"shop\" {}\n"} {
		source = strings.Replace(source, b, "", 1)
	}
	if _, diags := load(t, lang.Options{}, "cloud.hcl", source); len(diags) > 0 {
		t.Errorf("without them:\n%s", render(diags, ""))
	}
}

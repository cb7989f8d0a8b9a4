package lang_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// placesOf are the role and the exposure of each service: "control public".
func placesOf(config *configs.Config) map[string]string {
	out := map[string]string{}
	for _, s := range config.Services {
		out[s.Name] = s.Role + " " + s.Exposure
	}
	return out
}

// TestDefaultPlace checks which services take the role and the exposure of the cloud.
func TestDefaultPlace(t *testing.T) {
	config, diags := load(t, lang.Options{},
		"cloud.hcl", `
cloud "test" {
  release = "2025.1"
  defaults {
    role   = role.control
    expose = exposure.public
  }
}
role "control" { nodes = ["a"] }
role "compute" { nodes = ["b"] }
exposure "public" { vip = "192.0.2.10" }
exposure "other" { vip = "192.0.2.11" }

service "mariadb" {}
service "memcached" { role = null }
service "keystone" {}
service "inside" {
  definition = "keystone"
  expose     = null
  role       = role.compute
  database "keystone" { name = "inside" }
  port "public" { node_port = 30501 }
}
service "elsewhere" {
  definition = "keystone"
  expose     = exposure.other
  database "keystone" { name = "elsewhere" }
  port "public" { node_port = 30502 }
}
service "galera" {
  definition = "mariadb"
  external   = { host = "db.example.org" }
}
module "more" {
  source = "./more"
}
output "url" { value = service.keystone.public_url }
output "inside" { value = service.inside.public_url }
output "role" { value = service.keystone.role }
`, "more/services.hcl", `
service "front" {
  definition = "keystone"
  database "keystone" { name = "front" }
  port "public" {
    node_port = 30503
    public    = 5001
  }
}
service "cache" {
  for_each   = toset(["x", "y"])
  definition = "memcached"
  role       = role.edge
}
role "edge" { nodes = ["c"] }
`)
	want := map[string]string{
		"mariadb": "control ", "memcached": " ", "keystone": "control public", "inside": "compute ",
		"elsewhere": "control other", "galera": " ", "front": "control public", "cache-x": "edge ", "cache-y": "edge ",
	}
	if diff := cmp.Diff(want, placesOf(config)); diff != "" {
		t.Errorf("roles and exposures (-want +got):\n%s", diff)
	}
	// Service "inside" takes no exposure, and says a node port all the same.
	if len(diags) != 1 || diags[0].Summary != "Node port without effect" || diags[0].Subject.Start.Line != 22 {
		t.Errorf("diagnostics:\n%s", render(diags, ""))
	}
	outputs := map[string]string{}
	for _, o := range config.Outputs {
		outputs[o.Name] = o.Value.AsString()
	}
	if diff := cmp.Diff(map[string]string{"url": "http://192.0.2.10:5000", "inside": "http://inside.openstack:5000", "role": "control"}, outputs); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}

// TestDefaultPlaceOfEach checks that the defaults read which service they are for.
func TestDefaultPlaceOfEach(t *testing.T) {
	config, diags := load(t, lang.Options{}, `
cloud "test" {
  release = "2025.1"
  defaults {
    role   = startswith(self.name, "key") ? role.control : role.compute
    expose = self.role == "control" ? exposure.public : null

    dynamic "config" {
      for_each = ["*.conf"]
      labels   = [config.value]
      content {
        values = { DEFAULT = { debug = true } }
      }
    }
  }
}
role "control" { nodes = ["a"] }
role "compute" { nodes = ["b"] }
exposure "public" { vip = "192.0.2.10" }

service "mariadb" {}
service "memcached" {}
service "keystone" {}
`)
	want := map[string]string{"mariadb": "compute ", "memcached": "compute ", "keystone": "control public"}
	if diff := cmp.Diff(want, placesOf(config)); diff != "" || len(diags) > 0 {
		t.Errorf("roles and exposures (-want +got):\n%s%s", diff, render(diags, ""))
	}
}

// TestDefaultPlaceIsNeeded checks that a service needs what its role and its exposure need,
// and nothing of those that it does not take.
func TestDefaultPlaceIsNeeded(t *testing.T) {
	config, diags := load(t, lang.Options{}, `
cloud "test" {
  release = "2025.1"
  defaults {
    role   = role.control
    expose = exposure.public
  }
}
role "control" { nodes = [service.names.name] }
exposure "public" {
  vip   = "192.0.2.10"
  fqdn  = service.memcached.host
  nodes = role.control
}
exposure "other" { vip = "192.0.2.11" }

# The role needs this service, which therefore says another one.
service "names" {
  definition = "memcached"
  role       = null
}
service "memcached" {}
service "mariadb" { role = null }
service "keystone" {}
service "other" {
  definition = "keystone"
  expose     = exposure.other
  role       = null
  database "keystone" { name = "other" }
  port "public" { node_port = 30501 }
}
`)
	if len(diags) > 0 {
		t.Error(render(diags, ""))
	}
	want := map[string][]string{
		"names": nil, "mariadb": nil,
		"memcached": {"service.names"},
		"keystone":  {"service.mariadb", "service.memcached", "service.names"},
		"other":     {"service.mariadb", "service.memcached"},
	}
	got := map[string][]string{}
	for _, s := range config.Services {
		got[s.Name] = slices.Clone(s.Needs)
		for _, r := range s.Reasons {
			if r.Needs == "service.names" && (r.Through != "role.control" || r.Range.Start.Line != 5) {
				t.Errorf("%s needs %s through %s at %s", s.Name, r.Needs, r.Through, r.Range)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
}

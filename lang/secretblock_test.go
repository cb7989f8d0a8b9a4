package lang_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// writtenFiles writes files into a directory of their own.
func writtenFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSharedSecrets checks what a name means: a secret of the definition, else one of
// the module that the service stands in, else one around it; and that what refers to
// one comes after it.
func TestSharedSecrets(t *testing.T) {
	dir := writtenFiles(t, map[string]string{
		"main.hcl": `
cloud "site" {
  release = "2025.1"
}

secret "ca" {
  kind = "x509-ca"
}

secret "each" {
  for_each = toset(["a", "b"])
  kind     = "hex"
}

secret "off" {
  enabled = false
}

module "edge" {
  source = "./edge"
  token  = secret.each["b"].value
}

definition "web" {
  secret "token" {}

  workload "api" {
    kind  = "Deployment"
    image = "web"
    env = {
      OWN   = secret.token.value
      EACH  = secret.each["a"].value
      EDGE  = module.edge.key
      OFF   = try(secret.off.value, "none")
    }

    mount "ca" {
      path = "/etc/web/ca"
    }
  }
}

secret "token" {
  depends_on = [service.late]
}

service "web" {}

service "late" {
  definition = "late"
}

definition "late" {
  workload "api" {
    kind  = "Deployment"
    image = "late"
  }
}
`,
		"edge/main.hcl": `
variable "token" {
  sensitive = true
}

secret "key" {
  kind = "ssh"
  name = "edge-key"
}

output "key" {
  value     = secret.key.public_key
  sensitive = true
}

definition "far" {
  workload "api" {
    kind  = "Deployment"
    image = "far"
    env   = { KEY = secret.key.private_key, TOKEN = var.token }
  }
}

service "far" {}
`,
	})
	config, diags := lang.Load(dir, lang.Options{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	blocks := map[string]string{}
	for _, s := range config.Secrets {
		blocks[s.Block] = s.Name
	}
	want := map[string]string{
		"secret.ca": "ca", `secret.each["a"]`: "each-a", `secret.each["b"]`: "each-b", "secret.token": "token", "module.edge.secret.key": "edge-key",
	}
	if diff := cmp.Diff(want, blocks); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	for _, s := range config.Services {
		refs := map[string]string{}
		for _, w := range s.Workloads {
			for _, env := range w.Pod.Env {
				for _, ref := range env.Value.Refs() {
					refs[env.Name] = ref.Object() + " " + ref.Key
				}
			}
			for _, m := range w.Pod.Mounts {
				refs[m.Path] = configs.SecretRef{Service: m.Service, Secret: m.Secret}.Object()
			}
		}
		var wantRefs map[string]string
		var wantNeeds []string
		switch s.Name {
		case "web":
			wantRefs = map[string]string{"OWN": "web-token value", "EACH": "each-a value", "EDGE": "edge-key ssh-publickey", "/etc/web/ca": "ca"}
			wantNeeds = []string{"module.edge.secret.key", "secret.ca", `secret.each["a"]`}
		case "far":
			wantRefs = map[string]string{"KEY": "edge-key ssh-privatekey", "TOKEN": "each-b value"}
			wantNeeds = []string{"module.edge.secret.key", `secret.each["b"]`}
		default:
			wantRefs = map[string]string{}
		}
		if diff := cmp.Diff(wantRefs, refs); diff != "" {
			t.Errorf("what %s reads (-want +got):\n%s", s.Name, diff)
		}
		if diff := cmp.Diff(wantNeeds, s.Needs); diff != "" {
			t.Errorf("what %s needs (-want +got):\n%s", s.Name, diff)
		}
	}
}

// TestSecretsMadeForServices checks that a secret does not wait for what it is made for,
// and so can be mounted by it; it does for what is read from the cluster, and for what
// it says.
func TestSecretsMadeForServices(t *testing.T) {
	config, diags := load(t, lang.Options{}, `
cloud "test" {
  release = "2025.1"
}
locals {
  names = [service.web.host, "web.example.org"]
}
exposure "public" {
  vip = "192.0.2.7"
}
role "control" {
  nodes = ["ctl-1"]
}
definition "web" {
  port "https" {
    number = 443
  }
  workload "api" {
    kind  = "Deployment"
    image = "web"
    user  = 1000
    ports = ["https"]
    env   = { KEY = secret.tls.key }
    mount "tls" {
      path = "/etc/web/tls"
    }
  }
}
secret "ca" {
  kind = "x509-ca"
}
secret "tls" {
  kind         = "x509"
  ca           = secret.ca
  common_name  = service.web.host
  dns_names    = concat(local.names, [secret.tls.name], role.control.nodes)
  ip_addresses = [exposure.public.vip]
}
secret "after" {
  kind        = "x509-ca"
  common_name = data.note.object.data.host
  depends_on  = [manifest.last]
}
service "web" {}
manifest "note" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "note" }, data = { host = service.web.host } }
}
manifest "last" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "last" } }
}
data "note" {
  kind       = "ConfigMap"
  name       = "note"
  depends_on = [manifest.note]
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	got := map[string][]string{}
	for _, s := range config.Secrets {
		got[s.Block] = s.Needs
		if s.Block != "secret.tls" {
			continue
		}
		if diff := cmp.Diff([]string{"web.openstack", "web.example.org", "tls", "ctl-1"}, s.Cert.DNSNames); diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
	}
	got["service.web"] = config.Services[0].Needs
	want := map[string][]string{
		"secret.ca":    nil,
		"secret.tls":   {"secret.ca"},
		"secret.after": {"manifest.last", "manifest.note"},
		"service.web":  {"secret.tls"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
}

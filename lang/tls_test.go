package lang_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// tlsCloud has a service with ports of all kinds, and exposures with certificates from all sources.
const tlsCloud = `
cloud "test" { release = "2025.1" }

variable "encrypt" {
  type    = bool
  default = true
}

secret "ca" { kind = "x509-ca" }

exposure "own" {
  vip  = "192.0.2.10"
  fqdn = "cloud.example.org"

  dynamic "tls" {
    for_each = var.encrypt ? [1] : []
    content {}
  }
}

exposure "shared" {
  vip = "2001:db8::10"

  tls {
    ca            = secret.ca
    dns_names     = ["a.example.org", "a.example.org"]
    validity_days = 90
    algorithm     = "rsa"
    hsts_max_age  = 0
  }
}

exposure "given" {
  vip = "192.0.2.11"
  tls { secret_name = "given" }
}

exposure "files" {
  vip  = "192.0.2.12"
  fqdn = "files.example.org"

  tls {
    certificate_file = "files.crt"
    key_file         = "files.key"
  }
}

exposure "issued" {
  vip  = "192.0.2.13"
  fqdn = "issued.example.org"

  tls {
    issuer        = "letsencrypt"
    issuer_kind   = "ClusterIssuer"
    dns_names     = ["more.example.org"]
    validity_days = 60
  }
}

exposure "web" {
  domain = "web.example.org"
  vip    = "192.0.2.14"
  mode   = "ingress"
  tls { dns_names = ["web.example.com"] }
}

definition "h" {
  port "api" {
    number = 80
    expose = true
  }
  port "vnc" {
    number = 81
    expose = true
  }
  workload "w" {
    kind  = "Deployment"
    image = "d"
    ports = ["api"]
    ready {
      http = "/"
      port = "api"
    }
  }
  workload "v" {
    kind  = "Deployment"
    image = "d"
    ports = ["vnc"]
    ready {
      http = "/"
      port = "vnc"
    }
  }
  output "urls" {
    value = join(" ", [self.public_url, self.ports.vnc.public_url])
  }
}

service "h" { expose = exposure.web }

definition "d" {
  port "api" {
    number    = 80
    expose    = true
    public    = 443
    node_port = 30080
  }
  port "raw" {
    number    = 81
    expose    = true
    tls       = false
    node_port = 30081
  }
  port "udp" {
    number    = 82
    protocol  = "udp"
    expose    = true
    node_port = 30082
  }
  port "inside" {
    number = 83
  }
  workload "w" {
    kind  = "Deployment"
    image = "d"
    ports = ["api", "raw", "udp", "inside"]
  }
  output "urls" {
    value = join(" ", concat([self.url, self.public_url], [for p in ["api", "raw", "udp", "inside"] : self.ports[p].public_url]))
  }
}

service "d" { expose = exposure.own }
`

// TestTLS checks the URLs of services behind an exposure with TLS, and what the blocks become.
func TestTLS(t *testing.T) {
	load := func(variables ...string) *configs.Config {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(tlsCloud), 0o600); err != nil {
			t.Fatal(err)
		}
		config, diags := lang.Load(dir, lang.Options{Catalogue: smallCatalogue(), Vars: assigned(variables...)})
		if len(diags) > 0 {
			t.Fatal(string(render(diags, dir)))
		}
		return config
	}
	urls := func(c *configs.Config) string {
		text, _ := c.Services[1].Outputs["urls"].Unmark()
		return text.AsString()
	}
	config := load()
	if diff := cmp.Diff("http://d.openstack:80 https://cloud.example.org https://cloud.example.org http://cloud.example.org:81 udp://cloud.example.org:82 http://d.openstack:83", urls(config)); diff != "" {
		t.Errorf("URLs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("http://d.openstack:80 http://cloud.example.org:443 http://cloud.example.org:443 http://cloud.example.org:81 udp://cloud.example.org:82 http://d.openstack:83", urls(load("encrypt=false"))); diff != "" {
		t.Errorf("URLs without TLS (-want +got):\n%s", diff)
	}

	if text, _ := config.Services[0].Outputs["urls"].Unmark(); text.AsString() != "https://h.web.example.org https://h-vnc.web.example.org" {
		t.Errorf("the URLs of host names are %s", text.AsString())
	}

	type secret struct {
		Block, Exposure, Kind, Algorithm, Signer string
		Keys, Names, Addresses                   []string
		Files                                    map[string]string
	}
	got := map[string]secret{}
	for _, s := range config.Secrets {
		one := secret{Block: s.Block, Exposure: s.Exposure, Kind: s.Kind, Algorithm: s.Algorithm, Keys: s.Keys}
		if s.Cert != nil {
			one.Names, one.Addresses = s.Cert.DNSNames, s.Cert.IPAddresses
			if s.Cert.CA != nil {
				one.Signer = s.Cert.CA.Object()
			}
		}
		if s.Source != nil {
			one.Files = s.Source.Files
		}
		got[s.Name] = one
	}
	pair, signed := []string{"tls.crt", "tls.key"}, []string{"ca.crt", "tls.crt", "tls.key"}
	want := map[string]secret{
		"ca":              {Block: "secret.ca", Kind: "x509-ca", Algorithm: "ecdsa", Keys: pair},
		"exposure-own-ca": {Block: "exposure.own", Exposure: "own", Kind: "x509-ca", Algorithm: "ecdsa", Keys: pair},
		"exposure-own": {
			Block: "exposure.own", Exposure: "own", Kind: "x509", Algorithm: "ecdsa", Signer: "exposure-own-ca", Keys: signed,
			Names: []string{"cloud.example.org"}, Addresses: []string{"192.0.2.10"},
		},
		"exposure-shared": {
			Block: "exposure.shared", Exposure: "shared", Kind: "x509", Algorithm: "rsa", Signer: "ca", Keys: signed,
			Names: []string{"a.example.org"}, Addresses: []string{"2001:db8::10"},
		},
		"exposure-web-ca": {Block: "exposure.web", Exposure: "web", Kind: "x509-ca", Algorithm: "ecdsa", Keys: pair},
		"exposure-web": {
			Block: "exposure.web", Exposure: "web", Kind: "x509", Algorithm: "ecdsa", Signer: "exposure-web-ca", Keys: signed,
			Names: []string{"*.web.example.org", "web.example.com"},
		},
		"exposure-files": {
			Block: "exposure.files", Exposure: "files", Kind: "x509", Algorithm: "ecdsa", Keys: pair,
			Files: map[string]string{"tls.crt": "files.crt", "tls.key": "files.key"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	type tls struct {
		Source  configs.TLSSource
		Secret  string
		Hosts   string
		HSTS    int
		Private bool
	}
	settings := map[string]tls{}
	for _, x := range config.Exposures {
		settings[x.Name] = tls{x.TLS.Source, x.TLS.Secret, strings.Join(config.Hosts(&x), " "), x.TLS.HSTS, x.TLS.PrivateCA}
	}
	if diff := cmp.Diff(map[string]tls{
		"own":    {configs.TLSGenerated, "exposure-own", "cloud.example.org", 31536000, true},
		"shared": {configs.TLSGenerated, "exposure-shared", "2001:db8::10", 0, true},
		"given":  {configs.TLSSecret, "given", "192.0.2.11", 31536000, true},
		"files":  {configs.TLSFiles, "exposure-files", "files.example.org", 31536000, false},
		"issued": {configs.TLSIssued, "exposure-issued-tls", "issued.example.org", 31536000, true},
		"web":    {configs.TLSGenerated, "exposure-web", "h-vnc.web.example.org h.web.example.org", 0, true},
	}, settings); diff != "" {
		t.Errorf("exposures (-want +got):\n%s", diff)
	}
	request := configs.Issuer{Kind: "ClusterIssuer", Name: "letsencrypt", DNSNames: []string{"more.example.org"}, Algorithm: "ecdsa", Days: 60}
	if diff := cmp.Diff(request, *config.Exposure("issued").TLS.Issuer, cmpopts.IgnoreFields(configs.Issuer{}, "Range")); diff != "" {
		t.Errorf("the request for a certificate (-want +got):\n%s", diff)
	}
}

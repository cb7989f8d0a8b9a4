package lang_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
)

// TestPublicPort holds that URLs for clients outside follow the number at the exposure,
// and all else the number that the service says.
func TestPublicPort(t *testing.T) {
	s := serviceIn(t, "reader", `
exposure "outside" {
  vip = "192.0.2.10"
}

definition "web" {
  port "http" {
    number    = 80
    expose    = true
    node_port = 30080
    public    = 443
  }
  port "dns" {
    number   = 53
    protocol = "udp"
  }

  workload "w" {
    kind  = "Deployment"
    image = "web"
    ports = ["http", "dns"]

    ready {
      http    = "/"
      port    = "http"
      scheme  = "https"
      headers = { Host = "a", Accept = "b" }
    }
  }
}

service "web" {
  expose = exposure.outside

  port "http" {
    number = 8080
  }
}

service "plain" {
  definition = "web"
  expose     = exposure.outside

  port "http" {
    public    = null
    node_port = 30081
  }
}

service "reader" {}

definition "reader" {
  workload "w" {
    kind  = "Deployment"
    image = "reader"
    args = [
      service.web.url, service.web.public_url, service.web.ports.http.public_url, service.web.ports.dns.url,
      service.plain.public_url,
    ]
  }
}
`)
	want := []string{
		"http://web.openstack:8080", "http://192.0.2.10:443", "http://192.0.2.10:443", "udp://web.openstack:53",
		"http://192.0.2.10:80",
	}
	if diff := cmp.Diff(want, s.Workloads[0].Pod.Args); diff != "" {
		t.Errorf("what is read (-want +got):\n%s", diff)
	}
}

// TestProbe holds that a service overrides how a probe asks, and takes it away where it
// asks otherwise.
func TestProbe(t *testing.T) {
	const definition = `
definition "web" {
  port "http" {
    number = 80
  }
  workload "w" {
    kind  = "Deployment"
    image = "web"
    ports = ["http"]

    ready {
      http    = "/"
      port    = "http"
      scheme  = "https"
      headers = { Host = "a", Accept = "b" }
    }
  }
}
service "web" {
  workload "w" {
    ready {
      OVERRIDE
    }
  }
}
`
	for override, want := range map[string]*configs.Probe{
		`headers = { Accept = null, Other = "c" }`: {HTTP: "/", Port: "http", TLS: true, Headers: map[string]string{"Host": "a", "Other": "c"}, Period: 10, Timeout: 5, Retries: 3},
		`exec = ["true"]`:                          {Exec: []string{"true"}, Period: 10, Timeout: 5, Retries: 3},
	} {
		s := serviceIn(t, "web", strings.Replace(definition, "OVERRIDE", override, 1))
		if diff := cmp.Diff(want, s.Workloads[0].Ready, cmpopts.IgnoreTypes(hcl.Range{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", override, diff)
		}
	}
}

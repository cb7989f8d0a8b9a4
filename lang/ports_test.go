package lang_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
)

// TestProbe checks that a service overrides how a probe asks, and takes it away where it
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

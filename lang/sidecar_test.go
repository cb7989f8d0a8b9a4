package lang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
)

// TestSidecarOverlay checks that a service overrides steps and sidecars as it does other
// blocks of its definition.
func TestSidecarOverlay(t *testing.T) {
	s := serviceIn(t, "d", `
definition "d" {
  port "http" {
    number = 80
  }
  port "metrics" {
    number = 81
  }
  config "a.conf" {
    path   = "/etc/a.conf"
    values = { DEFAULT = { a = 1 } }
  }
  workload "w" {
    kind  = "Deployment"
    image = "d"
    ports = ["http"]

    init "gone" {
      command = ["gone"]
    }

    sidecar "side" {
      image = "side"
      env   = { A = "1", B = "1" }
      ports = ["metrics"]

      ready {
        tcp = "metrics"
      }
    }

    init "last" {
      command = ["last"]
    }
  }
}
service "d" {
  images = { side = "r/side:2" }

  workload "w" {
    init "gone" {
      enabled = false
    }

    sidecar "side" {
      user   = 7
      env    = { A = null, B = self.name }
      config = ["a.conf"]

      ready {
        exec = ["ready"]
      }
      resources {
        limits = { memory = "1Gi" }
      }
    }

    init "last" {
      image = "other"
    }

    sidecar "more" {
      image = "more"
    }
  }
}
`)
	want := []configs.Init{
		{
			Name: "side", Sidecar: true, Image: "r/side:2", User: 7, Ports: []string{"metrics"}, Configs: []string{"a.conf"},
			Env: []configs.Env{{Name: "B", Value: configs.Plain("d")}}, Limits: map[string]string{"memory": "1Gi"},
			Ready: &configs.Probe{Exec: []string{"ready"}, Period: 10, Timeout: 5, Retries: 3},
		},
		{Name: "last", Image: "other", Command: []string{"last"}},
		{Name: "more", Sidecar: true, Image: "more"},
	}
	if diff := cmp.Diff(want, s.Workloads[0].Pod.Inits, cmpopts.IgnoreTypes(hcl.Range{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("containers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"http", "metrics"}, s.Workloads[0].Pod.Ports); diff != "" {
		t.Errorf("ports of the pod (-want +got):\n%s", diff)
	}
	if got := s.Workloads[0].Drain; got != 5 {
		t.Errorf("it goes on serving for %d s", got)
	}
}

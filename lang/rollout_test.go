package lang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRolloutOverlay checks that a service adds workloads to wait for, and says how many pods
// are replaced at a time.
func TestRolloutOverlay(t *testing.T) {
	s := serviceIn(t, "d", `
definition "d" {
  workload "first" {
    kind  = "Deployment"
    image = "d"
  }
  workload "gone" {
    kind    = "Deployment"
    image   = "d"
    enabled = false
  }
  workload "set" {
    kind  = "StatefulSet"
    image = "d"
    order = "one-by-one"
  }
  workload "last" {
    kind            = "DaemonSet"
    image           = "d"
    update          = "on-delete"
    max_unavailable = 1
    after           = ["first", "gone"]
  }
}
service "d" {
  workload "last" {
    max_unavailable = "20%"
    after           = ["set"]
  }
}
`)
	last := s.Workloads[2]
	if diff := cmp.Diff([]string{"first", "set"}, last.After); diff != "" || last.MaxUnavailable != "20%" || !s.Workloads[1].OneByOne {
		t.Errorf("after (-want +got):\n%s\nmax_unavailable %s", diff, last.MaxUnavailable)
	}
}

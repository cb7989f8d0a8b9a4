package lang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMarks checks which labels and annotations objects and pods have.
func TestMarks(t *testing.T) {
	s := serviceIn(t, "d", `
definition "d" {
  workload "w" {
    kind        = "Deployment"
    image       = "d"
    labels      = { a = "definition", b = "definition" }
    annotations = { note = "several words" }
  }
  job "j" {
    image  = "d"
    labels = { a = "job" }
  }
}
service "d" {
  labels      = { team = self.name }
  annotations = { note = null }

  workload "w" {
    labels = { b = "service", a = null }
  }
}
`)
	got := []map[string]string{s.Labels, s.Annotations, s.Workloads[0].Pod.Labels, s.Workloads[0].Pod.Annotations, s.Jobs[0].Pod.Labels}
	want := []map[string]string{{"team": "d"}, {}, {"b": "service"}, {"note": "several words"}, {"a": "job"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels and annotations (-want +got):\n%s", diff)
	}
}

package openstack_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestRolloutPace checks the update strategies: how many pods may be replaced at a time.
func TestRolloutPace(t *testing.T) {
	for said, want := range map[string]any{
		"kind = \"Deployment\"":                                               map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": int64(0), "maxSurge": int64(1)}},
		"kind = \"Deployment\"\nhost_network = true":                          map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": int64(1), "maxSurge": int64(0)}},
		"kind = \"Deployment\"\nmax_unavailable = \"25%\"":                    map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": "25%", "maxSurge": int64(1)}},
		"kind = \"Deployment\"\nsurge = 0":                                    map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": int64(1), "maxSurge": int64(0)}},
		"kind = \"Deployment\"\nhost_network = true\nmax_unavailable = 0":     map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": int64(0), "maxSurge": int64(1)}},
		"kind = \"Deployment\"\nmax_unavailable = 2\nsurge = 3":               map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": int64(2), "maxSurge": int64(3)}},
		"kind = \"DaemonSet\"":                                                map[string]any{"type": "RollingUpdate"},
		"kind = \"DaemonSet\"\nmax_unavailable = \"10%\"":                     map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": "10%"}},
		"kind = \"DaemonSet\"\nsurge = 1":                                     map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": int64(0), "maxSurge": int64(1)}},
		"kind = \"DaemonSet\"\nupdate = \"on-delete\"\nmax_unavailable = 2":   map[string]any{"type": "OnDelete"},
		"kind = \"StatefulSet\"\nupdate = \"on-delete\"\nmax_unavailable = 2": map[string]any{"type": "OnDelete"},
		"kind = \"StatefulSet\"\norder = \"one-by-one\"\nafter = [\"first\"]": map[string]any{"type": "RollingUpdate"},
	} {
		t.Run(said, func(t *testing.T) {
			objects := render(t, written(t, `definition "d" {
  workload "w" {
    image = "d"
    `+said+`
  }

  workload "first" {
    kind  = "Deployment"
    image = "d"
  }
}

service "d" {}
`), facts())
			kind := strings.Split(said, "\"")[1]
			o := find(t, objects, kind+"/d-w")
			field := "updateStrategy"
			if kind == "Deployment" {
				field = "strategy"
			}
			got, _, _ := unstructured.NestedMap(o.Manifest.Object, "spec", field)
			if diff := cmp.Diff(want, any(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			number := ""
			if strings.Contains(said, "on-delete") {
				number = "2"
			}
			if at := o.Manifest.GetAnnotations()["kolla.openstack.org/max-unavailable"]; at != number {
				t.Errorf("annotation %q, want %q", at, number)
			}
			first := find(t, objects, "Deployment/d-first").Address
			if waits := slices.Contains(o.DependsOn, first); waits != strings.Contains(said, "after") {
				t.Errorf("waits for the other workload: %v", waits)
			}
			order, _, _ := unstructured.NestedString(o.Manifest.Object, "spec", "podManagementPolicy")
			if (order == "OrderedReady") != strings.Contains(said, "one-by-one") {
				t.Errorf("pod management %q", order)
			}
		})
	}
}

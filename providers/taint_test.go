package providers_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// TestKeepTaints checks that KeepTaints keeps the taints of the live Node, and that the manifest
// decides about the value of a common taint.
func TestKeepTaints(t *testing.T) {
	node := func(taints string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node"}}
		if taints != "" {
			u.SetAnnotations(map[string]string{providers.AnnotationTaints("c"): taints})
		}
		return u
	}
	for _, c := range []struct{ manifest, live, want string }{
		{"", "", ""},
		{"", "a:NoSchedule", "a:NoSchedule"},
		{"b:NoSchedule", "", "b:NoSchedule"},
		{"b=2:NoSchedule", "a:NoSchedule,b=1:NoSchedule", "a:NoSchedule,b=2:NoSchedule"},
		{"b:NoSchedule", "a:NoSchedule,b:NoSchedule", "a:NoSchedule,b:NoSchedule"},
	} {
		manifest := node(c.manifest)
		providers.KeepTaints(manifest, node(c.live), "c")
		if got := manifest.GetAnnotations()[providers.AnnotationTaints("c")]; got != c.want {
			t.Errorf("%q beside %q: %q", c.manifest, c.live, got)
		}
	}
}

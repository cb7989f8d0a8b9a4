package openstack_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// TestFollows checks that pods restart only when all pods that they follow run the new release.
func TestFollows(t *testing.T) {
	config := written(t, `definition "agent" {
  workload "agent" {
    kind   = "DaemonSet"
    image  = "agent"
    update = "on-delete"
  }
}

definition "boss" {
  workload "boss" {
    kind    = "Deployment"
    image   = "boss"
    follows = ["agent"]
  }
}

service "agent" {}

service "boss" {}
`)
	const image = "quay.io/openstack.kolla/agent:"
	// agent is a DaemonSet whose template has an image, and some of whose two pods are updated.
	agent := func(tag string, updated, generation int64) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{
			"kind":   "DaemonSet",
			"spec":   map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "agent", "image": image + tag}}}}},
			"status": map[string]any{"observedGeneration": int64(2), "desiredNumberScheduled": int64(2), "updatedNumberScheduled": updated},
		}}
		u.SetGeneration(generation)
		return u
	}
	boss := func(note string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"kind": "Deployment",
			"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{providers.AnnotationFollows: note}}}},
		}}
	}
	const present = "2025.1-rocky-9"
	for name, test := range map[string]struct {
		live map[string]*unstructured.Unstructured // by kind
		want string
	}{
		"nothing runs":            {nil, "2025.1"},
		"all as declared":         {map[string]*unstructured.Unstructured{"DaemonSet": agent(present, 2, 2), "Deployment": boss("2025.1")}, "2025.1"},
		"the template is old":     {map[string]*unstructured.Unstructured{"DaemonSet": agent("2024.2-rocky-9", 2, 2), "Deployment": boss("2024.2")}, "2024.2"},
		"one pod is new":          {map[string]*unstructured.Unstructured{"DaemonSet": agent(present, 1, 2), "Deployment": boss("2024.2")}, "2024.2"},
		"not seen yet":            {map[string]*unstructured.Unstructured{"DaemonSet": agent(present, 2, 3), "Deployment": boss("2024.2")}, "2024.2"},
		"all pods are new":        {map[string]*unstructured.Unstructured{"DaemonSet": agent(present, 2, 2), "Deployment": boss("2024.2")}, "2025.1"},
		"never noted, and so far": {map[string]*unstructured.Unstructured{"DaemonSet": agent(present, 1, 2)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts()
			f.Live = func(r providers.Ref) *unstructured.Unstructured { return test.live[r.GVK.Kind] }
			o := find(t, render(t, config, f), "Deployment/boss-boss")
			got, _, _ := unstructured.NestedString(o.Manifest.Object, "spec", "template", "metadata", "annotations", providers.AnnotationFollows)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

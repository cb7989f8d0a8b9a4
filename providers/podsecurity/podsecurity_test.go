package podsecurity_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/pod-security-admission/api"

	"kolla.openstack.org/kolla/providers/podsecurity"
)

// TestRefusal checks that the pods of each kind of object are found, and that a level refuses no
// pods that are not known yet.
func TestRefusal(t *testing.T) {
	spec := func(network any) map[string]any {
		return map[string]any{"hostNetwork": network, "containers": []any{map[string]any{"name": "c", "image": "i"}}}
	}
	template := func(network any) map[string]any {
		return map[string]any{"template": map[string]any{"spec": spec(network)}}
	}
	misspelt := spec(true)
	misspelt["hostnetwork"] = false // the server drops it
	for name, c := range map[string]struct {
		version, kind string
		spec          map[string]any
		refused       bool
	}{
		"pod":                  {"v1", "Pod", spec(true), true},
		"deployment":           {"apps/v1", "Deployment", template(true), true},
		"cron job":             {"batch/v1", "CronJob", map[string]any{"jobTemplate": map[string]any{"spec": template(true)}}, true},
		"with a misspelt name": {"v1", "Pod", misspelt, true},
		"harmless":             {"apps/v1", "Deployment", template(false), false},
		"not known yet":        {"apps/v1", "Deployment", template("(known after apply)"), false},
		"without pods":         {"v1", "Service", template(true), false},
		"kind of other group":  {"example.org/v1", "Deployment", template(true), false},
	} {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": c.version, "kind": c.kind, "spec": c.spec}}
			why := podsecurity.Refusal(object, podsecurity.Latest(podsecurity.Baseline))
			if got := why != ""; got != c.refused {
				t.Errorf("refused: %t (%s), want %t", got, why, c.refused)
			}
			if why := podsecurity.Refusal(object, podsecurity.Latest(podsecurity.Privileged)); why != "" {
				t.Errorf("the level privileged refuses: %s", why)
			}
		})
	}
}

// TestLevelOf checks the version of a namespace's level: its own, or that of the server.
func TestLevelOf(t *testing.T) {
	for name, c := range map[string]struct {
		labels map[string]string
		server string
		want   string
	}{
		"version of the server":    {map[string]string{api.EnforceLevelLabel: "baseline"}, "v1.33.4+k3s1", "baseline:v1.33"},
		"latest version":           {map[string]string{api.EnforceLevelLabel: "baseline", api.EnforceVersionLabel: "latest"}, "v1.33.4", "baseline:v1.33"},
		"own version":              {map[string]string{api.EnforceLevelLabel: "restricted", api.EnforceVersionLabel: "v1.30"}, "v1.33.4", "restricted:v1.30"},
		"server without a version": {map[string]string{api.EnforceLevelLabel: "baseline"}, "", "baseline:latest"},
		"invalid level":            {map[string]string{api.EnforceLevelLabel: "strict"}, "", "privileged:latest"},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := &unstructured.Unstructured{Object: map[string]any{}}
			namespace.SetLabels(c.labels)
			if got := podsecurity.LevelOf(namespace, c.server).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

package providers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

func secret(parts ...providers.DataPart) *providers.Object {
	return &providers.Object{
		Address: addrs.Object{Block: "service.keystone", Kind: "Secret", Name: "s"},
		Manifest: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1",
			"kind":       "Secret",
			"metadata":   map[string]any{"name": "s", "generation": int64(3)},
		}},
		Data: map[string]providers.SecretData{"key": {Parts: parts}},
	}
}

func TestDigest(t *testing.T) {
	plain := secret(providers.DataPart{Literal: "a"})
	sensitive := secret(providers.DataPart{Sensitive: "hunter2"})
	tests := map[string]struct {
		a, b *providers.Object
		same bool
	}{
		"same":                       {plain, secret(providers.DataPart{Literal: "a"}), true},
		"another literal":            {plain, secret(providers.DataPart{Literal: "b"}), false},
		"another sensitive value":    {sensitive, secret(providers.DataPart{Sensitive: "hunter3"}), true},
		"sensitive is not literal":   {sensitive, secret(providers.DataPart{Literal: "hunter2"}), false},
		"sensitive in a plan file":   {sensitive, secret(providers.DataPart{Omitted: true}), true},
		"through JSON":               {plain, throughJSON(t, plain), true},
		"sensitive, through JSON":    {secret(providers.DataPart{Omitted: true}), throughJSON(t, secret(providers.DataPart{Omitted: true})), true},
		"another part of the recipe": {plain, secret(providers.DataPart{From: &providers.SecretKey{Name: "a"}}), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.a.Digest() == test.b.Digest(); got != test.same {
				t.Errorf("same digest: %v, want %v", got, test.same)
			}
		})
	}
}

// jobOf returns a Job with the specification.
func jobOf(t *testing.T, spec string) *providers.Object {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: "+spec+"}"), &u.Object); err != nil {
		t.Fatal(err)
	}
	return &providers.Object{Manifest: u}
}

// TestRunDigest checks that a Job runs again if its pods do something else, and only then.
func TestRunDigest(t *testing.T) {
	const pod = "containers: [{name: a, image: b, command: [c], env: [{name: E, value: f}]}], volumes: [{name: v, configMap: {name: w}}]"
	for name, test := range map[string]struct {
		spec string
		same bool
	}{
		"what becomes of it":           {"{ttlSecondsAfterFinished: 5, template: {spec: {" + pod + "}}}", true},
		"how often it is tried":        {"{backoffLimit: 5, activeDeadlineSeconds: 60, parallelism: 2, suspend: true, template: {spec: {" + pod + "}}}", true},
		"a label and an annotation":    {"{template: {metadata: {labels: {a: b}, annotations: {a: b}}, spec: {" + pod + "}}}", true},
		"where it runs":                {"{template: {spec: {nodeSelector: {a: b}, tolerations: [{operator: Exists}], priorityClassName: high, " + pod + "}}}", true},
		"what it may use":              {"{template: {spec: {" + strings.Replace(pod, "image: b", "image: b, imagePullPolicy: Always, resources: {limits: {memory: 1Gi}}", 1) + "}}}", true},
		"defaults":                     {"{completions: 1, completionMode: NonIndexed, template: {spec: {hostAliases: [], initContainers: [], " + strings.Replace(pod, "name: w", "name: w, defaultMode: 420, optional: false", 1) + "}}}", true},
		"another image":                {"{template: {spec: {" + strings.Replace(pod, "image: b", "image: c", 1) + "}}}", false},
		"another command":              {"{template: {spec: {" + strings.Replace(pod, "[c]", "[d]", 1) + "}}}", false},
		"arguments":                    {"{template: {spec: {" + strings.Replace(pod, "[c]", "[c], args: [d]", 1) + "}}}", false},
		"an argument that means no":    {"{template: {spec: {" + strings.Replace(pod, "[c]", "[c, 'false']", 1) + "}}}", false},
		"another variable":             {"{template: {spec: {" + strings.Replace(pod, "value: f", "value: g", 1) + "}}}", false},
		"a variable that means no":     {"{template: {spec: {" + strings.Replace(pod, "value: f}", "value: f}, {name: G, value: 'false'}", 1) + "}}}", false},
		"another config file":          {"{template: {spec: {" + strings.Replace(pod, "name: w", "name: x", 1) + "}}}", false},
		"a checksum of a config file":  {"{template: {metadata: {annotations: {checksum/config: a}}, spec: {" + pod + "}}}", false},
		"a step before it":             {"{template: {spec: {initContainers: [{name: i, image: i}], " + pod + "}}}", false},
		"more of it":                   {"{completions: 2, template: {spec: {" + pod + "}}}", false},
		"nothing: it counts as run":    {"{completions: 0, template: {spec: {" + pod + "}}}", false},
		"the same image in a new step": {"{template: {spec: {" + strings.Replace(pod, "containers: [", "containers: [{name: n, image: b, command: [c]}, ", 1) + "}}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := jobOf(t, "{template: {spec: {"+pod+"}}}").RunDigest() == jobOf(t, test.spec).RunDigest(); got != test.same {
				t.Errorf("same run: %v, want %v", got, test.same)
			}
		})
	}
	if got := secret().RunDigest(); got != "" {
		t.Errorf("a Secret runs: %q", got)
	}
}

func throughJSON(t *testing.T, o *providers.Object) *providers.Object {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var back providers.Object
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	return &back
}

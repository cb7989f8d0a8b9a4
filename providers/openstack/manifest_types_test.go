package openstack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
)

// typeErrors returns the errors of a configuration, each with its line.
func typeErrors(t *testing.T, files map[string]string) []string {
	t.Helper()
	dir := t.TempDir()
	files["cloud.hcl"] = `cloud "c" { release = "2025.1" }` + "\n" + files["cloud.hcl"]
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, diags := rendered(load(t, dir), facts())
	var got []string
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			got = append(got, fmt.Sprintf("%s:%d: %s", filepath.Base(d.Subject.Filename), d.Subject.Start.Line, d.Detail))
		}
	}
	return got
}

// TestTypesInManifests checks that a value of the wrong type is an error at its line, and that the
// error does not show the value.
func TestTypesInManifests(t *testing.T) {
	const all = `manifest "a" { files = ["*.yaml"] }`
	const pod = `apiVersion: v1
kind: Pod
metadata:
  name: p
  labels: &labels
    version: 1.10
    "on": on
    tier: "1"
  annotations:
    <<: *labels
    tier: 2
spec:
  priority: "5"
  hostNetwork: "yes"
  nodeSelector: {disk: 7}
  new: {field: 1}
  containers:
    - name: main
      args: [-v, 12:30:45, 2001-01-01, 3]
      ports:
        - containerPort: "80"
      env:
        - name: ONE
          value: 1.50
        - {name: TWO, value: "2"}
      resources: {limits: {cpu: 1, memory: 0.5}}
      livenessProbe: {httpGet: {port: 80}, initialDelaySeconds: 2}
    - name: [x]
`
	const quote, words = " Quote it.", " Quote it: without quotes, YAML reads yes, no, on and off as true and false, too."
	got := typeErrors(t, map[string]string{"cloud.hcl": all, "pod.yaml": pod})
	want := []string{
		"pod.yaml:11: metadata.annotations.tier of Pod p has to be text, and this is a number." + quote,
		"pod.yaml:6: metadata.annotations.version of Pod p has to be text, and this is a number." + quote,
		"pod.yaml:7: metadata.annotations.on of Pod p has to be text, and this is true or false." + words,
		"pod.yaml:6: metadata.labels.version of Pod p has to be text, and this is a number." + quote,
		"pod.yaml:7: metadata.labels.on of Pod p has to be text, and this is true or false." + words,
		"pod.yaml:19: spec.containers[0].args[3] of Pod p has to be text, and this is a number." + quote,
		"pod.yaml:24: spec.containers[0].env[0].value of Pod p has to be text, and this is a number." + quote,
		"pod.yaml:21: spec.containers[0].ports[0].containerPort of Pod p has to be a number, and this is text. Write it without quotes.",
		"pod.yaml:28: spec.containers[1].name of Pod p has to be text, and this is a list.",
		"pod.yaml:14: spec.hostNetwork of Pod p has to be true or false, and this is text. Write it without quotes.",
		"pod.yaml:15: spec.nodeSelector.disk of Pod p has to be text, and this is a number." + quote,
		"pod.yaml:13: spec.priority of Pod p has to be a number, and this is text. Write it without quotes.",
	}
	sortedDiff(t, want, got)
	for name, test := range map[string]struct {
		file, text string
		want       []string
	}{
		"a ConfigMap": {
			file: "a.yaml", text: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  namespace: 5\ndata:\n  enabled: yes\n  at: 12:30:45\n",
			want: []string{"a.yaml:5: metadata.namespace of ConfigMap c has to be text, and this is a number." + quote, "a.yaml:7: data.enabled of ConfigMap c has to be text, and this is true or false." + words},
		},
		"a list": {
			file: "a.yaml", text: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n  data:\n    a: 1\n",
			want: []string{"a.yaml:11: data.a of ConfigMap b has to be text, and this is a number." + quote},
		},
		"JSON": {
			file: "a.yaml", text: "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\",\n\"metadata\": {\"name\": \"a\"},\n\"data\": {\n\"a\": 1}}\n",
			want: []string{"a.yaml:4: data.a of ConfigMap a has to be text, and this is a number." + quote},
		},
		"a kind of others": {
			file: "a.yaml", text: "apiVersion: example.org/v1\nkind: Widget\nmetadata:\n  name: w\n  labels:\n    size: 5\nspec:\n  size: 5\n",
			want: []string{"a.yaml:6: metadata.labels.size of Widget w has to be text, and this is a number." + quote},
		},
		"a Secret": {
			file: "a.yaml", text: "apiVersion: v1\nkind: Secret\nmetadata: {name: s, labels: {a: 1}}\nstringData:\n  password: 31337\n",
			want: []string{"a.yaml:3: metadata.labels.a of Secret s has to be text, and this is a number." + quote, `a.yaml:1: stringData["password"] of Secret openstack/s has to be a string. tostring(...) makes one.`},
		},
		"HCL": {
			file: "b.hcl", text: "manifest \"b\" {\n  object = {\n    apiVersion = \"v1\"\n    kind = \"ConfigMap\"\n    metadata = {\n      name = \"b\"\n      labels = {\n        version = 1.10\n      }\n    }\n    data = yamldecode(\"a: 1\\n\")\n  }\n}\n",
			want: []string{"b.hcl:8: metadata.labels.version of ConfigMap b has to be text, and this is a number." + quote, "b.hcl:11: data.a of ConfigMap b has to be text, and this is a number." + quote},
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{test.file: test.text}
			if strings.HasSuffix(test.file, ".yaml") {
				files["cloud.hcl"] = all
			}
			sortedDiff(t, test.want, typeErrors(t, files))
		})
	}
}

// sortedDiff compares errors, in the order of diagnostics.
func sortedDiff(t *testing.T, want, got []string) {
	t.Helper()
	less := func(a, b string) bool { return a < b }
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(less)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

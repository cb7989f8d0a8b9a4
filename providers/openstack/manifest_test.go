package openstack_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/providers/secrets"
)

// TestValuesOfSecretsInManifests checks that kolla reads the values of a Secret as the server
// would, or refuses them. A value that kolla left out would be deleted in the cluster.
func TestValuesOfSecretsInManifests(t *testing.T) {
	const secret = `manifest "a" {
  object = { apiVersion = "v1", kind = "Secret", metadata = { name = "a" }, %s }
}`
	tests := map[string]struct {
		fields string
		values map[string]string
		want   []string // parts of the summary and the detail; nil: no diagnostics
	}{
		"both spellings": {
			fields: `data = { a = "b25l", c = "" }, stringData = { b = "two" }`,
			values: map[string]string{"a": "one", "b": "two", "c": ""},
		},
		"one key twice":      {fields: `data = { a = "b25l" }, stringData = { a = "two" }`, values: map[string]string{"a": "two"}},
		"no value":           {fields: `data = { a = null }, stringData = null`, values: map[string]string{}},
		"lines":              {fields: `data = { a = "b25\nl\n" }`, values: map[string]string{"a": "one"}},
		"not base64":         {fields: `data = { a = "b25l", b = "hunter2!" }`, want: []string{"not base64", `data["b"] of Secret openstack/a`}},
		"a number":           {fields: `data = { a = "b25l", b = 5 }`, want: []string{"not a string", `data["b"] of Secret openstack/a`}},
		"a number, as it is": {fields: `stringData = { a = "one", b = 5 }`, want: []string{"not a string", `stringData["b"] of Secret openstack/a`}},
		"a list":             {fields: `data = ["b25l"]`, want: []string{"without keys", "data of Secret openstack/a"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects, diags := rendered(written(t, fmt.Sprintf(secret, test.fields)), facts())
			for _, want := range test.want {
				if len(diags) != 1 || !strings.Contains(diags.Error(), want) || diags[0].Subject.Start.Line != 3 {
					t.Errorf("diagnostics are %v, want one with %s", diags, want)
				}
			}
			if strings.Contains(diags.Error(), "hunter2") {
				t.Errorf("the value is shown: %v", diags)
			}
			if test.want != nil {
				return
			}
			o := find(t, objects, "Secret/a")
			manifest, _, err := secrets.Resolve(&o, func(_, _ string) map[string][]byte { return nil }, false)
			if err != nil || len(diags) > 0 {
				t.Fatal(err, diags)
			}
			got := map[string]string{}
			for key, value := range providers.ValuesOf(manifest) {
				got[key] = string(value)
			}
			if diff := cmp.Diff(test.values, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStatusInManifests checks that a declared status is dropped, with a warning at its object if
// the status has content.
func TestStatusInManifests(t *testing.T) {
	for name, test := range map[string]struct {
		object string
		warns  bool
	}{
		"of a workload":         {`{ apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "x" }, status = { replicas = 3 } }`, true},
		"of a custom resource":  {`{ apiVersion = "example.org/v1", kind = "Atom", metadata = { name = "x", namespace = "c" }, status = { phase = "Happy" } }`, true},
		"of the namespace":      {`{ apiVersion = "v1", kind = "Namespace", metadata = { name = "c" }, status = { phase = "Active" } }`, true},
		"without content":       {`{ apiVersion = "example.org/v1", kind = "Atom", metadata = { name = "x", namespace = "c" }, status = { phase = "", ready = false, count = 0, list = [], inner = {} } }`, false},
		"an object without one": {`{ apiVersion = "v1", kind = "ConfigMap", metadata = { name = "x" } }`, false},
	} {
		t.Run(name, func(t *testing.T) {
			config := written(t, "manifest \"a\" {\n  object = "+test.object+"\n}\n", `namespace = "c"`)
			objects, diags := openstack.Render(config, facts())
			if (len(diags) == 1) != test.warns || len(diags) > 1 {
				t.Fatalf("diagnostics are %v", diags)
			}
			if test.warns && (diags[0].Severity != hcl.DiagWarning || diags[0].Subject.Start.Line != 6 || !strings.Contains(diags[0].Detail, "is not applied")) {
				t.Errorf("diagnostic is %v", diags[0])
			}
			for _, o := range objects {
				if _, there := o.Manifest.Object["status"]; there {
					t.Errorf("%s has a status", o.Address)
				}
			}
		})
	}
}

package live_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/operator"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// older returns the definitions as a version had them that did not have spec.maxDeletes, the warnings, and the
// rules of spec.interval and spec.path yet.
func older(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for text := range strings.SplitSeq(string(v1alpha1.Definitions()), "---\n") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal([]byte(text), &definition); err != nil {
			t.Fatal(err)
		}
		root := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
		delete(root.Properties["spec"].Properties, "maxDeletes")
		delete(root.Properties["spec"].Properties, "warnings")
		delete(root.Properties["status"].Properties, "warnings")
		for _, name := range []string{"interval", "path"} {
			if field, ok := root.Properties["spec"].Properties[name]; ok {
				field.XValidations = nil
				root.Properties["spec"].Properties[name] = field
			}
		}
		changed, err := yaml.Marshal(definition)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n" + string(changed))
	}
	return out.String()
}

// TestDefinitionsUpgraded installs a newer operator over an older one. Clouds keep their fields, and one that a new
// rule forbids goes on until somebody changes the field.
func TestDefinitionsUpgraded(t *testing.T) {
	b := newBench(t)
	t.Cleanup(b.define)
	b.apply(older(t))
	stop := b.start()
	b.applied("  approval: automatic\n  interval: 5s\n  deleteData: [a/b/c]\n  limits: {changes: 7}\n")
	stop()
	spec := func() string {
		return b.kubectl("get", "cloud", "prod", "-n", b.namespace, "-o", "jsonpath={.metadata.uid} {.metadata.generation} {.spec}")
	}
	plans := func() string {
		return b.kubectl("get", "cloudplans,cloudservices", "-n", b.namespace, "-o", "jsonpath={range .items[*]}{.metadata.uid} {.spec}{end}")
	}
	before, plansBefore := spec(), plans()

	text, err := operator.Manifests(operator.Installation{Namespace: b.namespace, Image: "registry.example.org/kolla:2"})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "install.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	b.kubectl("apply", "--server-side", "-f", file)
	if got := spec(); got != before {
		t.Errorf("the Cloud is\n%s\nand was\n%s", got, before)
	}
	if got := plans(); got != plansBefore {
		t.Errorf("the plans and services are\n%s\nand were\n%s", got, plansBefore)
	}
	b.start()
	b.files("files", changed("bonjour"))
	b.cloud("  approval: automatic\n  interval: 5s\n  maxDeletes: 3\n")
	b.until(v1alpha1.ReasonAsDeclared)
	if b.note() != "bonjour" || b.get().Spec.MaxDeletes == nil {
		t.Errorf("the ConfigMap has %q, and the Cloud is %+v", b.note(), b.get().Spec)
	}
	cloud := b.get()
	cloud.Spec.Interval.Duration /= 2
	if err := b.client.Update(t.Context(), cloud); err == nil || !strings.Contains(err.Error(), "at least 10s") {
		t.Errorf("a change against the new rule: %v", err)
	}
}

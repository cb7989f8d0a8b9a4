package openstack_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// own returns a manifest that declares the cloud's own namespace.
func own(name, metadata string) string {
	return fmt.Sprintf("manifest %q {\n  object = { apiVersion = \"v1\", kind = \"Namespace\", metadata = { name = \"c\"%s } }\n}\n", name, metadata)
}

// TestOwnNamespace checks that manifests and the cloud can declare the namespace together.
func TestOwnNamespace(t *testing.T) {
	config := written(t, own("labels", `, labels = { team = "storage" }`)+
		own("more", `, labels = { team = "storage", tier = "1" }, annotations = { owner = "ops" }`)+`
service "memcached" {
  depends_on = [manifest.labels]
}
`, `namespace = "c"`)
	objects := render(t, config, facts())
	o := find(t, objects, "Namespace/c")
	want := map[string]string{
		"team": "storage", "tier": "1",
		"kolla.openstack.org/cloud": "c", "app.kubernetes.io/part-of": "c", "app.kubernetes.io/managed-by": "kolla",
		"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted",
	}
	if diff := cmp.Diff(want, o.Manifest.GetLabels()); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got := o.Manifest.GetAnnotations(); got["owner"] != "ops" || got["kolla.openstack.org/address"] != "cloud.c/Namespace/c" {
		t.Errorf("annotations: %v", got)
	}
	if server := find(t, objects, "StatefulSet/memcached-server"); !reaches(objects, server.Address, o.Address) {
		t.Error("a service that depends on the manifest does not wait for the namespace")
	}
	if n := len(slices.DeleteFunc(objects, func(o providers.Object) bool { return o.Address.Kind != "Namespace" })); n != 1 {
		t.Errorf("there are %d namespaces", n)
	}
}

// TestOwnNamespaceConflicts checks that a field with two different declared values is an error that
// names both places.
func TestOwnNamespaceConflicts(t *testing.T) {
	for name, c := range map[string]struct{ manifests, cloud, want string }{
		"kolla's label":  {own("a", `, labels = { "app.kubernetes.io/part-of" = "argocd" }`), "", `metadata.labels["app.kubernetes.io/part-of"] of Namespace/c is "c" in cloud.c (cloud.hcl:1) and "argocd" in manifest.a (cloud.hcl:6).`},
		"another's":      {own("a", `, labels = { x = "1" }`) + own("b", `, labels = { x = "2" }`), "", `metadata.labels["x"] of Namespace/c is "1" in manifest.a (cloud.hcl:6) and "2" in manifest.b (cloud.hcl:9).`},
		"pod_security":   {own("a", `, labels = { "pod-security.kubernetes.io/enforce" = "privileged" }`), `pod_security = "baseline"`, `is "baseline" by pod_security of cloud.c (cloud.hcl:1) and "privileged" by the label pod-security.kubernetes.io/enforce in manifest.a (cloud.hcl:7).`},
		"no level":       {own("a", `, labels = { "pod-security.kubernetes.io/enforce" = "strict" }`), "", `is "strict" in manifest.a (cloud.hcl:6). It must be one of restricted, baseline, privileged`},
		"the same level": {own("a", `, labels = { "pod-security.kubernetes.io/enforce" = "baseline" }`), `pod_security = "baseline"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			settings := []string{`namespace = "c"`}
			if c.cloud != "" {
				settings = append(settings, c.cloud)
			}
			config := written(t, c.manifests, settings...)
			_, diags := openstack.Render(config, facts())
			if _, checked := openstack.Check(config, facts()); cmp.Diff(diags, checked) != "" {
				t.Errorf("a check finds something else (-rendered +checked):\n%s", cmp.Diff(diags, checked))
			}
			text := ""
			if len(diags) > 0 {
				text = withoutDirectory(errors.Join(diags.Errs()...).Error(), config)
			}
			if (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
				t.Errorf("diagnostics: %s\nwant: %s", text, c.want)
			}
		})
	}
}

// withoutDirectory removes the directory of the configuration from a message.
func withoutDirectory(text string, config *configs.Config) string {
	for name := range config.Files {
		if dir, ok := strings.CutSuffix(name, "cloud.hcl"); ok {
			text = strings.ReplaceAll(text, dir, "")
		}
	}
	return text
}

const (
	plainPod = `{ containers = [{ name = "a", image = "a" }] }`
	nodePod  = `{ hostNetwork = true, containers = [{ name = "a", image = "a" }] }`
	safePod  = `{ securityContext = { runAsNonRoot = true, seccompProfile = { type = "RuntimeDefault" } }, containers = [{ name = "a", image = "a", securityContext = { allowPrivilegeEscalation = false, capabilities = { drop = ["ALL"] } } }] }`
)

// TestPowersOfManifests checks that pods of manifests change the level of the namespace as pods of
// services do, that the policies exempt them, and that a level in a manifest of the namespace
// counts as chosen.
func TestPowersOfManifests(t *testing.T) {
	template := func(pod string) string { return `{ template = { spec = ` + pod + ` } }` }
	for _, c := range []struct{ api, kind, spec, level string }{
		{"v1", "Pod", plainPod, "baseline"},
		{"v1", "Pod", nodePod, "privileged"},
		{"v1", "Pod", safePod, "restricted"},
		{"apps/v1", "Deployment", template(plainPod), "baseline"},
		{"apps/v1", "StatefulSet", template(plainPod), "baseline"},
		{"apps/v1", "DaemonSet", template(nodePod), "privileged"},
		{"apps/v1", "DaemonSet", template(safePod), "restricted"},
		{"batch/v1", "Job", template(nodePod), "privileged"},
		{"batch/v1", "CronJob", `{ jobTemplate = { spec = ` + template(nodePod) + ` } }`, "privileged"},
		{"apps/v1", "ReplicaSet", template(nodePod), "restricted"},
		{"example.org/v1", "Deployment", template(nodePod), "restricted"},
	} {
		for _, namespace := range []string{"", `, namespace = "c"`, `, namespace = "other"`} {
			level := c.level
			if strings.Contains(namespace, "other") {
				level = "restricted"
			}
			name := fmt.Sprintf("%s %s%s", c.kind, c.level, namespace)
			object := fmt.Sprintf("manifest \"m\" {\n  object = { apiVersion = %q, kind = %q, metadata = { name = \"tool\"%s }, spec = %s }\n}\n", c.api, c.kind, namespace, c.spec)
			objects := render(t, written(t, object, `namespace = "c"`), facts())
			if got := find(t, objects, "Namespace/c").Manifest.GetLabels()["pod-security.kubernetes.io/enforce"]; got != level {
				t.Errorf("%s: the namespace is %s, want %s", name, got, level)
			}
			if restrainedBy(objects[len(objects)-1]) != (level != "restricted") {
				t.Errorf("%s: the policies come before what has no powers, or not before what has some", name)
			}
			policies, err := json.Marshal(objects)
			if err != nil {
				t.Fatal(err)
			}
			if named := strings.Contains(string(policies), `in ['tool']`); named != (level != "restricted") {
				t.Errorf("%s: the policies name it: %t", name, named)
			}
			objects = render(t, written(t, object+own("ns", `, labels = { "pod-security.kubernetes.io/enforce" = "baseline" }`), `namespace = "c"`), facts())
			if got := find(t, objects, "Namespace/c").Manifest.GetLabels()["pod-security.kubernetes.io/enforce"]; got != "baseline" || len(objects) != 2 {
				t.Errorf("%s: the namespace is %s, and there are %d objects, though a manifest says baseline", name, got, len(objects))
			}
		}
	}
}

// TestWeakened checks that one warning names all pods that weaken the level of the namespace,
// except pods whose block has a reason.
func TestWeakened(t *testing.T) {
	service := func(text string) string {
		return "definition \"d\" {\n  workload \"w\" {\n    kind  = \"DaemonSet\"\n    image = \"w\"\n" + text + "  }\n}\nservice \"d\" {}\n"
	}
	pod := func(name, spec, more string) string {
		return fmt.Sprintf("manifest %q {\n  object = { apiVersion = \"v1\", kind = \"Pod\", metadata = { name = %q }, spec = %s }\n%s}\n", name, name, spec, more)
	}
	many := ""
	for i := range 13 {
		many += pod(fmt.Sprintf("p%02d", i), plainPod, "")
	}
	for name, c := range map[string]struct {
		blocks string
		want   []string // nil: no warning
	}{
		"nothing":         {service("user = 1000\n"), nil},
		"no user":         {service(""), []string{"enforce: baseline, and not restricted", `workload "w" of service.d (`, "): no user\n"}},
		"Kolla's start":   {service("user = 1000\nstart = \"kolla\"\n"), []string{`start = "kolla"`}},
		"powers":          {service("user = 0\ncapabilities = [\"NET_ADMIN\"]\nhost_network = true\n"), []string{"enforce: privileged, and not restricted", "host_network, NET_ADMIN\n"}},
		"with a reason":   {service("user = 1000\nhost_network = true\nreason = \"It answers on the node.\"\n"), nil},
		"in a sidecar":    {service("user = 1000\nreason = \"x\"\nsidecar \"s\" {\nimage = \"s\"\nprivileged = true\n}\n"), []string{"): privileged\n"}},
		"its own reason":  {service("user = 1000\nsidecar \"s\" {\nimage = \"s\"\nprivileged = true\nreason = \"x\"\n}\n"), nil},
		"manifest":        {pod("p", nodePod, ""), []string{"Pod/p of manifest.p (", "host namespaces"}},
		"stated manifest": {pod("p", nodePod, "reason = \"It answers on the node.\"\n"), nil},
		"beside stated":   {pod("p", plainPod, "") + service("user = 1000\nhost_network = true\nreason = \"x\"\n"), nil},
		"above stated":    {pod("p", nodePod, "") + service("reason = \"x\"\n"), []string{"enforce: privileged, and not baseline", "Pod/p of manifest.p"}},
		"many":            {many, []string{"Pod/p09 of", "and 3 more\nAll other pods"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := openstack.Render(written(t, c.blocks), facts())
			if len(diags) != min(len(c.want), 1) {
				t.Fatalf("diagnostics: %v", diags)
			}
			for _, want := range c.want {
				if !strings.Contains(diags[0].Detail, want) {
					t.Errorf("%q lacks %q", diags[0].Detail, want)
				}
			}
			if _, diags := openstack.Render(written(t, c.blocks, `pod_security = "privileged"`), facts()); len(diags) > 0 {
				t.Errorf("where a level was chosen: %v", diags)
			}
		})
	}
}

// TestTooManyPowers checks that more pods with powers than Kubernetes lets a policy name are an error
// at the cloud.
func TestTooManyPowers(t *testing.T) {
	cloud := func(name string, settings ...string) hcl.Diagnostics {
		blocks := fmt.Sprintf(`manifest "m" {
  for_each = { for i in range(1000) : "%s-${i}" => i }
  object = {
    apiVersion = "apps/v1", kind = "DaemonSet", metadata = { name = each.key }
    spec = {
      selector = { matchLabels = { a = "b" } }
      template = { metadata = { labels = { a = "b" } }, spec = { containers = [{ name = "c", image = "c" }] } }
    }
  }
}
`, name)
		_, diags := rendered(written(t, blocks, settings...), facts())
		return diags
	}
	if diags := cloud("agent"); len(diags) > 0 {
		t.Errorf("short names: %v", diags)
	}
	long := strings.Repeat("agent", 20)
	diags := cloud(long)
	if len(diags) != 1 || diags[0].Severity != hcl.DiagError || diags[0].Subject.Start.Line != 1 ||
		!strings.Contains(diags[0].Detail, "the 1000 workloads and jobs that need more (DaemonSet/agent") || !strings.Contains(diags[0].Detail, `pod_security = "baseline"`) {
		t.Errorf("long names: %v", diags)
	}
	if diags := cloud(long, `pod_security = "baseline"`); len(diags) > 0 {
		t.Errorf("with a chosen level: %v", diags)
	}
}

// rendered renders a cloud, and drops the warning about pods that weaken the namespace.
func rendered(config *configs.Config, f openstack.Facts) ([]providers.Object, hcl.Diagnostics) {
	objects, diags := openstack.Render(config, f)
	return objects, slices.DeleteFunc(diags, func(d *hcl.Diagnostic) bool { return strings.HasPrefix(d.Summary, "Pods weaken") })
}

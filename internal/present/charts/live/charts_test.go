// Package live_test gives the charts to Helm, and installs them in a cluster.
package live_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/dev/tooltest"
	"kolla.openstack.org/kolla/internal/present/charts"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

// program is the path of Helm, once it has been built.
var program string

// helm runs Helm, and returns its output and whether it succeeded.
func helm(t *testing.T, args ...string) (output string, ok bool) {
	t.Helper()
	if program == "" {
		program = tooltest.Module("helm").Program(t, "helm")
	}
	cmd := exec.Command(program, args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "KUBECONFIG="+clustertest.Kubeconfig(),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	if err != nil {
		return out.String() + problems.String(), false
	}
	return out.String(), true
}

func succeeds(t *testing.T, args ...string) string {
	t.Helper()
	out, ok := helm(t, args...)
	if !ok {
		t.Fatalf("helm %s:\n%s", strings.Join(args, " "), out)
	}
	return out
}

// export writes the charts of a configuration. It returns the umbrella chart and the rendered objects.
func export(t *testing.T, configuration string, services ...string) (dir string, objects []providers.Object) {
	t.Helper()
	config, diags := lang.Load(configuration, lang.Options{Catalogue: openstack.Catalogue(), Environ: []string{}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	objects, diags = openstack.Render(config, openstack.Offline())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	out := t.TempDir()
	for _, f := range charts.Export(charts.Input{Config: config, Objects: objects, Services: services, Version: "v0"}) {
		path := filepath.Join(out, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.Content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(out, config.Cloud.Name), objects
}

// write writes a configuration.
func write(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// hash is the end of names that depend on a content. kolla and Helm calculate it from different texts.
var hash = regexp.MustCompile(`-[0-9a-f]{10}$`)

// comparable returns an object without the differences between kolla render and helm template that are
// meant: hashes in names, who manages the object, kolla's annotations, and values of Secrets.
func comparable(object map[string]any) (name string, _ map[string]any) {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	annotations := u.GetAnnotations()
	for key := range annotations {
		if strings.HasPrefix(key, "kolla.openstack.org/") || key == "helm.sh/resource-policy" {
			delete(annotations, key)
		}
	}
	if u.SetAnnotations(annotations); len(annotations) == 0 {
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations")
	}
	if u.GetKind() == "Secret" {
		unstructured.RemoveNestedField(u.Object, "data")
	}
	if pod, found, _ := unstructured.NestedStringMap(u.Object, "spec", "template", "metadata", "annotations"); found {
		for key := range pod {
			if strings.HasPrefix(key, providers.AnnotationSecret) {
				pod[key] = "revision"
			}
		}
		_ = unstructured.SetNestedStringMap(u.Object, pod, "spec", "template", "metadata", "annotations")
	}
	normal := normalize(u.Object).(map[string]any)
	return u.GetKind() + " " + u.GetNamespace() + "/" + hash.ReplaceAllString(u.GetName(), "-HASH"), normal
}

func normalize(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = normalize(v[key])
		}
		if v["app.kubernetes.io/managed-by"] == "Helm" {
			v["app.kubernetes.io/managed-by"] = "kolla"
		}
	case []any:
		for i := range v {
			v[i] = normalize(v[i])
		}
	case string:
		return hash.ReplaceAllString(v, "-HASH")
	case int64:
		return float64(v)
	}
	return v
}

// objectsOf parses the output of helm template.
func objectsOf(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatalf("%v:\n%s", err, document)
		}
		if object != nil {
			out = append(out, object)
		}
	}
	return out
}

// inNamespace matches the check of the namespace in a chart.
var inNamespace = regexp.MustCompile(`ne \.Release\.Namespace "([^"]+)"`)

// templated returns the objects that a chart prints, by name.
func templated(t *testing.T, chart string, args ...string) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	library, err := os.ReadFile(chart + "/templates/_kolla.tpl")
	if err != nil {
		t.Fatal(err)
	}
	namespace := inNamespace.FindStringSubmatch(string(library))[1]
	for _, object := range objectsOf(t, succeeds(t, append([]string{"template", "cloud", chart, "--namespace", namespace}, args...)...)) {
		name, normal := comparable(object)
		out[name] = normal
	}
	return out
}

// withoutWaiting removes the additions to pods that wait. The pods of jobs that wait have small requests.
func withoutWaiting(t *testing.T, object, want map[string]any) {
	t.Helper()
	spec, _ := object["spec"].(map[string]any)
	template, _ := spec["template"].(map[string]any)
	pod, _ := template["spec"].(map[string]any)
	if pod["serviceAccountName"] != "kolla-wait" {
		return
	}
	delete(pod, "serviceAccountName")
	for _, key := range []string{"initContainers", "volumes"} {
		list := pod[key].([]any)
		pod[key] = list[1:]
		if len(list) == 1 {
			delete(pod, key)
		}
	}
	if object["kind"] != "Job" {
		return
	}
	for _, key := range []string{"initContainers", "containers"} {
		containers, _, _ := unstructured.NestedSlice(object, "spec", "template", "spec", key)
		own, _, _ := unstructured.NestedSlice(want, "spec", "template", "spec", key)
		for i, each := range containers {
			container := each.(map[string]any)
			requests, _, _ := unstructured.NestedStringMap(container, "resources", "requests")
			if requests["cpu"] != "5m" || requests["memory"] != "24Mi" {
				t.Errorf("the job %v reserves %v", object["metadata"], requests)
			}
			instead, found, _ := unstructured.NestedMap(own[i].(map[string]any), "resources", "requests")
			if unstructured.RemoveNestedField(container, "resources", "requests"); found {
				_ = unstructured.SetNestedMap(container, instead, "resources", "requests")
			}
		}
		if len(containers) > 0 {
			_ = unstructured.SetNestedSlice(object, containers, "spec", "template", "spec", key)
		}
	}
}

// mustExist reports whether a chart cannot generate the values of a Secret.
func mustExist(o *providers.Object) bool {
	for _, data := range o.Data {
		if data.Generate == nil && (len(data.Parts) != 1 || data.Parts[0].From == nil) && o.Family.Name == "" {
			return true
		}
	}
	return false
}

// TestTemplatesAreRenderedObjects compares the charts with kolla render, object by object.
func TestTemplatesAreRenderedObjects(t *testing.T) {
	const examples, testdata = "../../../../examples/", "../../../../providers/openstack/testdata/"
	others := write(t, `
cloud "others" { release = "2025.1" }
exposure "public" {
  vip = "192.0.2.10"
}
manifest "texts" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "texts", annotations = { note = "{{ .Values.a }}" } }
    data       = { "a.conf" = "a = {{ b }} at http://192.0.2.10/\n", empty = "", lines = "\n  indented\n\nend\n\n" }
  }
}
manifest "token" {
  object = { apiVersion = "v1", kind = "Secret", metadata = { name = "token" }, stringData = { token = "t0ken" } }
}
manifest "kinds" {
  object = { apiVersion = "example.org/v1", kind = "Deployment", metadata = { name = "kinds" }, spec = "no pods" }
}
`)
	for _, configuration := range []string{
		others, examples + "all-in-one", examples + "compute-kit", examples + "multinode", examples + "service-discovery", testdata + "managed", testdata + "odd",
	} {
		t.Run(filepath.Base(configuration), func(t *testing.T) {
			chart, objects := export(t, configuration)
			got := templated(t, chart)
			exact := templated(t, chart, "--set=global.wait.enabled=false")
			equal := 0
			for _, o := range objects {
				name, want := comparable(o.Manifest.Object)
				if o.Partial || o.Address.Kind == "Namespace" || o.Stage == configs.StageChecks {
					continue
				}
				if mustExist(&o) {
					if exact[name] != nil {
						t.Errorf("the chart makes %s, whose values it cannot know", name)
					}
					continue
				}
				if diff := cmp.Diff(want, exact[name]); diff != "" {
					t.Errorf("%s differs from kolla render (-want +got):\n%s", name, diff)
				}
				withoutWaiting(t, got[name], want)
				for _, deadline := range []string{"activeDeadlineSeconds", "progressDeadlineSeconds"} {
					spec, _ := want["spec"].(map[string]any)
					if seconds, ok := spec[deadline].(float64); ok {
						spec[deadline] = seconds + 3600
					}
				}
				if diff := cmp.Diff(want, got[name]); diff != "" {
					t.Errorf("%s differs in more than the wait (-want +got):\n%s", name, diff)
				}
				delete(got, name)
				delete(exact, name)
				equal++
			}
			for name := range exact { // nothing is left but what the charts add
				t.Errorf("kolla render does not have %s", name)
			}
			for name := range got {
				if !strings.HasSuffix(name, "/kolla-wait") {
					t.Errorf("kolla render does not have %s", name)
				}
			}
			t.Logf("%d objects are equal", equal)
		})
	}
}

// TestWaitingOrder checks that pods wait for all jobs before them, and those of jobs also for workloads, that the
// names exist, and that no pods wait for each other.
func TestWaitingOrder(t *testing.T) {
	resources := map[string]string{"Job": "jobs", "Deployment": "deployments", "StatefulSet": "statefulsets", "DaemonSet": "daemonsets"}
	chart, objects := export(t, "../../../../examples/compute-kit")
	waits := map[string][]string{} // by RESOURCE/NAME
	for _, object := range objectsOf(t, succeeds(t, "template", "cloud", chart, "--namespace=openstack")) {
		u := unstructured.Unstructured{Object: object}
		resource, ok := resources[u.GetKind()]
		if !ok {
			continue
		}
		name := resource + "/" + u.GetName()
		waits[name] = []string{}
		containers, _, _ := unstructured.NestedSlice(object, "spec", "template", "spec", "initContainers")
		for _, each := range containers {
			if container := each.(map[string]any); container["name"] == "kolla-wait" {
				waits[name], _, _ = unstructured.NestedStringSlice(container, "args")
			}
		}
	}
	found := func(pattern string) string {
		for name := range waits {
			if name == pattern || strings.HasSuffix(pattern, "-*") && hash.ReplaceAllString(name, "-*") == pattern {
				return name
			}
		}
		t.Errorf("a pod waits for %s, which does not exist", pattern)
		return ""
	}
	edges, want := 0, 0
	var visit func(name string, path []string)
	done := map[string]bool{}
	visit = func(name string, path []string) {
		if slices.Contains(path, name) {
			t.Fatalf("pods wait for each other: %v", append(path, name))
		}
		if done[name] {
			return
		}
		for _, pattern := range waits[name] {
			edges++
			visit(found(pattern), append(slices.Clone(path), name))
		}
		done[name] = true
	}
	for name := range waits {
		visit(name, nil)
	}
	for _, o := range objects {
		for _, before := range o.DependsOn {
			if resources[o.Address.Kind] != "" && resources[before.Kind] != "" && (o.Address.Kind == "Job" || before.Kind == "Job") {
				want++
				pattern := func(kind, name string) string { return resources[kind] + "/" + hash.ReplaceAllString(name, "-*") }
				of := waits[found(pattern(o.Address.Kind, o.Address.Name))]
				if !slices.ContainsFunc(of, func(name string) bool { return hash.ReplaceAllString(name, "-*") == pattern(before.Kind, before.Name) }) {
					t.Errorf("the pods of %s do not wait for %s, but for %v", o.Address, before, of)
				}
			}
		}
	}
	if edges != want || edges < 100 {
		t.Errorf("pods wait for %d objects, want %d", edges, want)
	}
}

func TestLint(t *testing.T) {
	chart, _ := export(t, "../../../../examples/compute-kit")
	charts, err := filepath.Glob(chart + "/charts/*")
	if err != nil || len(charts) != 17 {
		t.Fatalf("there are %d charts of services: %v", len(charts), err)
	}
	succeeds(t, append([]string{"lint", "--strict", "--namespace=openstack", chart}, charts...)...)
}

// TestEachServiceAlone renders the chart of each service as a release of its own.
func TestEachServiceAlone(t *testing.T) {
	chart, _ := export(t, "../../../../examples/compute-kit")
	whole := templated(t, chart)
	charts, _ := filepath.Glob(chart + "/charts/*")
	seen := map[string]bool{}
	for _, alone := range charts {
		for name := range templated(t, alone) {
			seen[name] = true
			if _, ok := whole[name]; !ok {
				t.Errorf("%s has %s, and the chart of the cloud does not", filepath.Base(alone), name)
			}
		}
	}
	for name := range whole {
		if !seen[name] && !strings.HasPrefix(name, "ValidatingAdmissionPolicy") {
			t.Errorf("no chart of a service has %s", name)
		}
	}
}

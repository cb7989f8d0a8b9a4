// Package live_test gives the charts to Helm, and installs them in a cluster.
package live_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io/fs"
	"net/url"
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
				if o.Partial || o.Address.Kind == "Namespace" {
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

// TestValues changes values of each kind, and looks at the objects that change.
func TestValues(t *testing.T) {
	chart, _ := export(t, "../../../../examples/compute-kit")
	service := func(name string) string { return chart + "/charts/" + name }
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	cases := []struct {
		name, set    string
		of, show     string // the service, and one of its templates
		has, hasNone []string
	}{
		{"registry", "global.image.registry=registry.example.org/kolla", "keystone", "deployment-keystone-api.yaml", []string{"image: registry.example.org/kolla/keystone:2025.1-rocky-9"}, []string{"quay.io"}},
		{"release", "global.release=2025.2", "keystone", "deployment-keystone-api.yaml", []string{"/keystone:2025.2-rocky-9"}, nil},
		{"tag", "images.keystone.tag=mine", "keystone", "job-keystone-db-sync.yaml", []string{"/keystone:mine"}, []string{"rocky-9"}},
		{"digest", "images.keystone.digest=" + digest, "keystone", "deployment-keystone-api.yaml", []string{"/keystone:2025.1-rocky-9@" + digest}, nil},
		{"replicas", "workloads.api.replicas=5", "keystone", "deployment-keystone-api.yaml", []string{"replicas: 5"}, nil},
		{"resources", "workloads.api.resources.api.limits.memory=3Gi", "keystone", "deployment-keystone-api.yaml", []string{"memory: 3Gi"}, nil},
		{"tolerations", "workloads.api.tolerations[0].key=special", "keystone", "deployment-keystone-api.yaml", []string{"- key: special"}, nil},
		{"node selector", "workloads.api.nodeSelector.zone=a", "keystone", "deployment-keystone-api.yaml", []string{"zone: a"}, nil},
		{"volume", "workloads.server.volumes.data.size=40Gi,workloads.server.volumes.data.storageClassName=fast", "mariadb", "statefulset-mariadb-server.yaml", []string{"storage: 40Gi", "storageClassName: fast"}, nil},
		{"option", `config.keystone\.conf.token.expiration=60`, "keystone", "configmap-keystone.conf.yaml", []string{"    expiration = 60\n"}, []string{"86400"}},
		{"large number", `config.keystone\.conf.token.expiration=31536000`, "keystone", "configmap-keystone.conf.yaml", []string{"    expiration = 31536000\n"}, nil},
		{"no option", `config.keystone\.conf.token.expiration=null`, "keystone", "configmap-keystone.conf.yaml", []string{"allow_expired_window"}, []string{"    expiration"}},
		{"repeated option", `config.keystone\.conf.new.option={a,b}`, "keystone", "configmap-keystone.conf.yaml", []string{"    [new]\n    option = a\n    option = b\n"}, nil},
		{"VIP", "global.exposures.public.vip=198.51.100.7", "keystone", "job-keystone-bootstrap.yaml", []string{"http://198.51.100.7:5000/v3"}, []string{"192.0.2.10"}},
		{"existing Secret", "global.secrets.keystone-admin=mine", "placement", "job-placement-register-users.yaml", []string{"secretName: mine"}, []string{"secretName: keystone-admin"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := succeeds(t, "template", "cloud", service(c.of), "--namespace=openstack", "--set="+c.set, "--show-only=templates/"+c.show)
			for _, text := range c.has {
				if !strings.Contains(got, text) {
					t.Errorf("there is no %q:\n%s", text, got)
				}
			}
			for _, text := range c.hasNone {
				if strings.Contains(got, text) {
					t.Errorf("there is %q:\n%s", text, got)
				}
			}
		})
	}
	// Values of the umbrella chart.
	out := succeeds(t, "template", "cloud", chart, "--namespace=openstack", "--set=global.exposures.public.vip=198.51.100.7,global.services.heat=false,keystone.workloads.api.replicas=7")
	if strings.Contains(out, "192.0.2.10") {
		t.Error("the old address is still in some objects")
	}
	if strings.Contains(out, "heat-engine") || !strings.Contains(out, "replicas: 7") {
		t.Error("a service that is switched off is rendered, or a value of a service is not")
	}
}

// TestWrongValues gives values of wrong types and with wrong names.
func TestWrongValues(t *testing.T) {
	chart, _ := export(t, "../../../../examples/compute-kit")
	for _, c := range []struct{ of, set, want string }{
		{"/charts/keystone", "workloads.api.replicas=many", "replicas"},
		{"/charts/keystone", "workloads.api.replicas=-1", "replicas"},
		{"/charts/keystone", "workloads.api.replica=3", "replica"},
		{"/charts/keystone", "workloads.api.resources.api.limit.cpu=3", "limit"},
		{"/charts/keystone", "workloads.api.tolerations=all", "tolerations"},
		{"/charts/keystone", "workloads.api.nodeSelector.zone=1", "zone"},
		{"/charts/keystone", "images.keystone.digest=latest", "digest"},
		{"/charts/keystone", "images.keystonee.tag=x", "keystonee"},
		{"/charts/keystone", `config.keystone\.cnf.token.expiration=60`, "keystone.cnf"},
		{"/charts/keystone", `config.keystone\.conf.token=60`, "token"},
		{"/charts/keystone", `config.keystone\.conf.token.expiration.a=60`, "expiration"},
		{"/charts/keystone", "global.exposures.public.vip=http://a/", "vip"},
		{"/charts/keystone", "global.wait.enabled=maybe", "enabled"},
		{"", "keyston.workloads.api.replicas=1", "keyston"},
		{"", "keystone.workloads.api.replicas=many", "replicas"},
	} {
		out, ok := helm(t, "template", "cloud", chart+c.of, "--namespace=openstack", "--set="+c.set)
		if ok || !strings.Contains(out, c.want) || !strings.Contains(out, "values don't meet the specifications of the schema") {
			t.Errorf("%s --set=%s: %v\n%s", c.of, c.set, ok, out[:min(len(out), 2000)])
		}
	}
}

// TestSecrets looks at the values that a chart generates, of each kind, and for given values that must not be
// in a chart.
func TestSecrets(t *testing.T) {
	chart, _ := export(t, "../../../../providers/openstack/testdata/secrets")
	if library, err := os.ReadFile(chart + "/templates/_names.tpl"); err != nil || !strings.Contains(string(library), "kubectl create secret generic license --namespace openstack --from-file=value=FILE") {
		t.Errorf("the chart does not say how to make a Secret that must exist: %v\n%s", err, library)
	}
	if err := filepath.WalkDir(chart, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "from-a-variable") {
			t.Errorf("%s has the value of a sensitive variable", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	made := map[string]map[string]string{}
	for _, object := range objectsOf(t, succeeds(t, "template", "cloud", chart, "--namespace=openstack")) {
		u := unstructured.Unstructured{Object: object}
		if u.GetKind() != "Secret" {
			continue
		}
		data, _, _ := unstructured.NestedStringMap(object, "data")
		for key, value := range data {
			plain, err := base64.StdEncoding.DecodeString(value)
			if err != nil {
				t.Fatal(err)
			}
			data[key] = string(plain)
		}
		made[hash.ReplaceAllString(u.GetName(), "-HASH")] = data
	}
	for _, given := range []string{"license", "web-admin", "web-login"} {
		if _, ok := made[given]; ok {
			t.Errorf("the chart makes Secret %s, whose value it cannot know", given)
		}
	}
	for of, pattern := range map[[2]string]string{
		{"token", "value"}:              `^[0-9a-f]{64}$`,
		{"other-root", "value"}:         `^[0-9A-Za-z]{32}$`,
		{"root", "tls.crt"}:             `^-----BEGIN CERTIFICATE-----`,
		{"other-api-env-HASH", "TOKEN"}: "^" + made["token"]["value"] + "$",
	} {
		if got := made[of[0]][of[1]]; !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("Secret %s has %q under %s", of[0], got, of[1])
		}
	}
	if _, err := tls.X509KeyPair([]byte(made["web-tls"]["tls.crt"]), []byte(made["web-tls"]["tls.key"])); err != nil {
		t.Errorf("the key is not that of the certificate: %v", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(made["root"]["tls.crt"])) || made["web-tls"]["ca.crt"] != made["root"]["tls.crt"] {
		t.Error("the certificate does not come with its CA")
	}
	block, _ := pem.Decode([]byte(made["web-tls"]["tls.crt"]))
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: "web.openstack", KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
			t.Errorf("the CA of the chart did not sign the certificate for this: %v", err)
		}
	}
}

// small is a cloud with a namespace of its own.
const small = `
cloud "NAME" {
  release   = "2025.1"
  namespace = "NAME"
  defaults { role = role.control }
}
role "control" { nodes = ["node-1", "node-2", "node-3"] }
service "mariadb" {}
service "memcached" {}
service "rabbitmq" {}
service "keystone" {}
service "placement" {}
service "glance" {}
service "note" {}
secret "shared" {}
definition "note" {
  config "note.txt" {
    format  = "raw"
    path    = "/etc/note.txt"
    content = secret.shared.value
  }
  workload "main" {
    kind   = "Deployment"
    image  = "base"
    user   = 1000
    config = ["note.txt"]
  }
}
`

// prepare makes the namespace and the labels of nodes, as NOTES.txt says.
func prepare(t *testing.T, objects []providers.Object, namespace string) {
	t.Helper()
	clustertest.Kubectl(t, "create", "namespace", namespace)
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "namespace", namespace, "--wait=false") })
	for _, o := range objects {
		if kind := o.Address.Kind; kind == "Node" || kind == "Namespace" {
			for key, value := range o.Manifest.GetLabels() {
				if kind == "Node" || strings.HasPrefix(key, "pod-security.") {
					clustertest.Kubectl(t, "label", "--overwrite", kind, o.Address.Name, fmt.Sprintf("%s=%s", key, value))
				}
			}
		}
	}
}

// get returns a field of an object.
func get(t *testing.T, namespace, object, path string) string {
	t.Helper()
	return clustertest.Kubectl(t, "-n", namespace, "get", object, "--ignore-not-found", "-o", "jsonpath="+path)
}

// TestHelmInstall installs a cloud, changes an option, rolls back, and removes the cloud.
func TestHelmInstall(t *testing.T) {
	const namespace = "t-helm"
	chart, objects := export(t, write(t, strings.ReplaceAll(small, "NAME", namespace)))
	prepare(t, objects, namespace)
	if out, ok := helm(t, "install", "cloud", chart, "--namespace=default"); ok || !strings.Contains(out, "install with --namespace "+namespace) {
		t.Errorf("installed in another namespace: %s", out)
	}
	succeeds(t, "install", "cloud", chart, "--namespace="+namespace, "--wait", "--wait-for-jobs", "--timeout=5m")

	password := get(t, namespace, "secret/keystone-admin", "{.data.value}")
	database := get(t, namespace, "secret/keystone-db-keystone", "{.data.password}")
	if password == "" || database == "" {
		t.Fatalf("the passwords are %q and %q", password, database)
	}
	mounted := func(name string) string {
		t.Helper()
		return get(t, namespace, "deployment/keystone-api", `{.spec.template.spec.volumes[?(@.name=="`+name+`")]..name}`)
	}
	files, jobs := mounted("keystone-conf"), clustertest.Kubectl(t, "-n", namespace, "get", "jobs", "-o", "name")
	secret := get(t, namespace, "deployment/keystone-api", `{.spec.template.spec.volumes[?(@.name=="secrets-conf-secret")].secret.secretName}`)
	content := clustertest.Kubectl(t, "-n", namespace, "get", "secret", secret, "-o", `go-template={{index .data "secrets.conf" | base64decode}}`)
	plain := clustertest.Kubectl(t, "-n", namespace, "get", "secret", "keystone-db-keystone", "-o", "go-template={{.data.password | base64decode}}")
	if !strings.Contains(content, "://keystone:"+plain+"@mariadb."+namespace) {
		t.Error("the derived Secret does not have the generated password")
	}

	succeeds(t, "upgrade", "cloud", chart, "--namespace="+namespace, "--wait", "--timeout=5m", `--set=keystone.config.keystone\.conf.token.expiration=60`)
	if mounted("keystone-conf") == files {
		t.Error("a changed option did not change the name of the ConfigMap")
	}
	if now := clustertest.Kubectl(t, "-n", namespace, "get", "jobs", "-o", "name"); now != jobs {
		t.Errorf("an option that no job reads ran jobs:\n%s\nbefore:\n%s", now, jobs)
	}
	if now := get(t, namespace, "secret/keystone-admin", "{.data.value}"); now != password {
		t.Error("the upgrade changed a password")
	}
	if now := get(t, namespace, "deployment/keystone-api", `{.spec.template.spec.volumes[?(@.name=="secrets-conf-secret")].secret.secretName}`); now != secret {
		t.Error("the upgrade changed the name of a derived Secret")
	}

	succeeds(t, "upgrade", "cloud", chart, "--namespace="+namespace, "--wait", "--timeout=5m", "--set=keystone.images.keystone.tag=2025.1-rocky-9.1")
	if now := clustertest.Kubectl(t, "-n", namespace, "get", "jobs", "-o", "name"); now == jobs {
		t.Error("a new image ran no jobs")
	}

	succeeds(t, "rollback", "cloud", "1", "--namespace="+namespace, "--wait", "--timeout=5m")
	if mounted("keystone-conf") != files {
		t.Error("the rollback did not bring the ConfigMap back")
	}

	succeeds(t, "uninstall", "cloud", "--namespace="+namespace, "--wait", "--timeout=5m")
	if left := clustertest.Kubectl(t, "-n", namespace, "get", "deployments,statefulsets,jobs,services", "-o", "name"); left != "" {
		t.Errorf("the release left behind: %s", left)
	}
	if now := get(t, namespace, "secret/keystone-admin", "{.data.value}"); now != password {
		t.Error("the password is gone with the release")
	}
	succeeds(t, "install", "cloud", chart, "--namespace="+namespace, "--wait", "--timeout=5m")
	if now := get(t, namespace, "secret/keystone-admin", "{.data.value}"); now != password {
		t.Error("the password is another one after the release was installed again")
	}
}

// TestReleases installs services as releases of their own, and with existing Secrets.
func TestReleases(t *testing.T) {
	const namespace = "t-helm-releases"
	chart, objects := export(t, write(t, strings.ReplaceAll(small, "NAME", namespace)))
	prepare(t, objects, namespace)
	clustertest.Kubectl(t, "-n", namespace, "create", "secret", "generic", "mine", "--from-literal=value=s3cret")
	if out, ok := helm(t, "install", "glance", chart+"/charts/glance", "--namespace="+namespace); ok || !strings.Contains(out, "Install the chart of keystone first") {
		t.Errorf("a service was installed before those whose Secrets it reads:\n%s", out)
	}
	if out, ok := helm(t, "install", "note", chart+"/charts/note", "--namespace="+namespace); ok || !strings.Contains(out, "Install the chart of "+namespace+" first") {
		t.Errorf("a service made up a Secret of the cloud:\n%s", out)
	}
	if out, ok := helm(t, "install", "keystone", chart+"/charts/keystone", "--namespace="+namespace, "--set=global.secrets.keystone-admin=absent"); ok || !strings.Contains(out, "Secret absent has no key value") {
		t.Errorf("a Secret that does not exist was taken:\n%s", out)
	}
	for _, service := range []string{"memcached", "mariadb", "keystone"} {
		succeeds(t, "install", service, chart+"/charts/"+service, "--namespace="+namespace, "--set=global.secrets.keystone-admin=mine", "--wait", "--timeout=5m")
	}
	if made := get(t, namespace, "secret/keystone-admin", "{.metadata.name}"); made != "" {
		t.Error("a Secret was made although an existing one is named")
	}
	before := get(t, namespace, "deployment/keystone-api", "{.spec.template}")
	succeeds(t, "upgrade", "keystone", chart+"/charts/keystone", "--namespace="+namespace, "--set=global.secrets.keystone-admin=mine", "--wait", "--timeout=5m")
	if now := get(t, namespace, "deployment/keystone-api", "{.spec.template}"); now != before {
		t.Errorf("an upgrade without a change changed the pods:\n%s\n%s", before, now)
	}
}

// TestServerTakesTheObjects has the API server validate all objects of the largest example strictly.
func TestServerTakesTheObjects(t *testing.T) {
	chart, objects := export(t, "../../../../examples/multinode")
	prepare(t, objects, "openstack")
	out := succeeds(t, "template", "cloud", chart, "--namespace=openstack")
	file := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	answer := clustertest.Kubectl(t, "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", file)
	if taken, all := strings.Count(answer, "serverside-applied"), len(objectsOf(t, out)); taken != all {
		t.Errorf("the server takes %d of %d objects:\n%s", taken, all, answer)
	}
}

// TestWait runs the program of waiting pods against the API server, with the rights that they have.
func TestWait(t *testing.T) {
	const namespace = "t-helm-wait"
	chart, objects := export(t, write(t, strings.ReplaceAll(small, "NAME", namespace)), "mariadb", "memcached")
	prepare(t, objects, namespace)
	succeeds(t, "install", "cloud", chart, "--namespace="+namespace, "--wait", "--wait-for-jobs", "--timeout=5m")
	home := t.TempDir()
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("token", clustertest.Kubectl(t, "-n", namespace, "create", "token", "kolla-wait"))
	put("ca.crt", clustertest.Kubectl(t, "-n", namespace, "get", "configmap", "kube-root-ca.crt", "-o", `go-template={{index .data "ca.crt"}}`))
	server, err := url.Parse(clustertest.Config(t).Host)
	if err != nil {
		t.Fatal(err)
	}
	wait := func(names ...string) (string, error) {
		cmd := exec.Command("python3", append([]string{"../files/wait.py"}, names...)...)
		cmd.Env = append(os.Environ(), "KOLLA_WAIT="+home, "NAMESPACE="+namespace, "SECONDS=3",
			"KUBERNETES_SERVICE_HOST="+server.Hostname(), "KUBERNETES_SERVICE_PORT="+server.Port())
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := wait("statefulsets/mariadb-server", "statefulsets/memcached-server", "jobs/mariadb-upgrade-*"); err != nil || out != "" {
		t.Errorf("waits for pods that are ready: %v\n%s", err, out)
	}
	for _, c := range []struct{ name, want string }{
		{"deployments/absent", "gave up: deployments/absent is not there"},
		{"jobs/mariadb-upgrad-*", "gave up: jobs/mariadb-upgrad-* is not there"},
		{"jobs/mariadb-upgrade-0123456789", "gave up: jobs/mariadb-upgrade-0123456789 is not there"},
		{"statefulsets/mariadb-server", "gave up: statefulsets/mariadb-server is not ready"},
	} {
		if strings.HasSuffix(c.want, "ready") { // a pod more than there are nodes for it
			clustertest.Kubectl(t, "-n", namespace, "patch", "statefulset", "mariadb-server", "-p", `{"spec":{"replicas":2,"template":{"spec":{"nodeSelector":{"no":"node"}}}}}`)
		}
		if out, err := wait(c.name); err == nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
	if can := clustertest.Kubectl(t, "-n", namespace, "auth", "can-i", "--list", "--as=system:serviceaccount:"+namespace+":kolla-wait", "--no-headers"); strings.Contains(can, "secrets") || strings.Contains(can, "create,") || !strings.Contains(can, "jobs.batch") {
		t.Errorf("pods that wait may: %s", can)
	}
}

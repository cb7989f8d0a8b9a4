package live_test

import (
	"os"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// TestRequestsOfAnUnchangedCloud checks in the API server's audit log the requests of a plan, an
// apply, a status and a discovery of an unchanged cloud: each LIST once, and at most seven other
// requests, which identify the cluster and list policies and webhooks.
func TestRequestsOfAnUnchangedCloud(t *testing.T) {
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../../examples/multinode")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	kolla(t, "apply", "-auto-approve")
	defer kolla(t, "destroy", "-auto-approve", "-delete-data=*")
	audit := clustertest.TailAudit(t)
	for _, args := range [][]string{{"plan"}, {"apply", "-auto-approve"}, {"status"}, {"discover", "-json"}} {
		kolla(t, args...)
		lists := map[string]int{}
		var others []string
		for _, e := range audit.Kolla() {
			path, _, _ := strings.Cut(e.RequestURI, "?")
			if e.Verb == "list" && !strings.Contains(path, "/admissionregistration.k8s.io/") {
				lists[path]++
			} else {
				others = append(others, e.Verb+" "+e.RequestURI)
			}
		}
		for _, other := range others {
			if strings.HasPrefix(other, "patch ") {
				t.Errorf("kolla %s asks about an object: %s", args[0], other)
			}
		}
		if len(lists) == 0 || len(others) > 7 {
			t.Errorf("kolla %s: %d requests beside %v: %q", args[0], len(others), lists, others)
		}
		for path, times := range lists {
			if times > 1 {
				t.Errorf("kolla %s lists %s %d times", args[0], path, times)
			}
		}
	}
}

// TestRequestsOfData checks in the audit log that objects of data blocks need no LIST of their own.
func TestRequestsOfData(t *testing.T) {
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	dir := t.TempDir()
	const source = `
cloud "t-budget-data" {
  release   = "2025.1"
  namespace = "t-budget-data"
}
data "root" {
  kind = "ConfigMap"
  name = "kube-root-ca.crt"
  depends_on = [manifest.other]
}
data "settings" {
  kind   = "ConfigMap"
  labels = { none = "such" }
}
manifest "other" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "other" } }
}
manifest "copy" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "copy" }
    data       = { n = tostring(length(data.settings.objects)), ca = data.root.object.metadata.name }
  }
}`
	if err := os.WriteFile(dir+"/cloud.hcl", []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	kolla(t, "apply", "-auto-approve")
	defer kolla(t, "destroy", "-auto-approve", "-delete-data=*")
	audit := clustertest.TailAudit(t)
	kolla(t, "plan")
	lists := map[string]int{}
	for _, e := range audit.Kolla() {
		if path, _, _ := strings.Cut(e.RequestURI, "?"); e.Verb == "list" && strings.HasSuffix(path, "/configmaps") {
			lists[path]++
		}
	}
	if len(lists) != 1 || lists["/api/v1/namespaces/t-budget-data/configmaps"] != 1 {
		t.Errorf("LISTs of ConfigMaps: %v", lists)
	}
}

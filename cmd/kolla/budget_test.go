package main

import (
	"os"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/clustertest"
)

// TestRequestsOfAnUnchangedCloud reads in the API server's audit log what a plan
// and an apply of an unchanged cloud ask for: each LIST once, and at most five
// things more.
func TestRequestsOfAnUnchangedCloud(t *testing.T) {
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/multinode")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	kolla(t, "apply", "-auto-approve")
	defer kolla(t, "destroy", "-auto-approve", "-delete-data=*")
	audit := tail(t, clustertest.Audit())
	for _, args := range [][]string{{"plan"}, {"apply", "-auto-approve"}} {
		kolla(t, args...)
		lists := map[string]int{}
		var others []string
		for _, e := range audit.kolla() {
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
		if len(lists) == 0 || len(others) > 5 {
			t.Errorf("kolla %s: %d requests beside %v: %q", args[0], len(others), lists, others)
		}
		for path, times := range lists {
			if times > 1 {
				t.Errorf("kolla %s lists %s %d times", args[0], path, times)
			}
		}
	}
}

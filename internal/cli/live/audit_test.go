package live_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/cli"
	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// TestPlanWritesNothing checks in the API server's audit log that a plan sends no write request and
// runs no command in a pod: a plan of an empty cluster, of drift, of no changes, and of a destroy.
// It also checks that an apply writes each object once.
func TestPlanWritesNothing(t *testing.T) {
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	t.Chdir(t.TempDir())
	const config = `
cloud "audited" {
  release   = "2025.1"
  namespace = "audited"
}

service "mariadb" {}

service "memcached" {}

service "keystone" {}

definition "agent" {
  workload "agent" {
    kind    = "DaemonSet"
    image   = "agent"
    user    = 1000
    command = ["agent"]

    carries {
      what    = "guests"
      command = ["agent", "guests"]
    }
  }
}

service "agent" {}
`
	if err := os.WriteFile("cloud.hcl", []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}

	audit := clustertest.TailAudit(t)
	kolla(t, "plan")
	requests := audit.Kolla()
	if writes := clustertest.Writes(requests); len(writes) > 0 {
		t.Errorf("the first plan wrote: %v", writes)
	}
	if len(requests) == 0 {
		t.Fatal("the audit log does not show the plan: this test proves nothing")
	}

	kolla(t, "apply", "-auto-approve")
	seen := map[string]int{}
	for _, write := range clustertest.Writes(audit.Kolla()) {
		seen[write]++
	}
	if len(seen) == 0 {
		t.Error("the audit log does not show what the apply wrote")
	}
	for write, times := range seen {
		if times > 1 {
			t.Errorf("the apply wrote %d times: %s", times, write)
		}
	}

	kolla(t, "plan")
	kolla(t, "apply", "-auto-approve")
	if writes := clustertest.Writes(audit.Kolla()); len(writes) > 0 {
		t.Errorf("with nothing to do kolla wrote: %v", writes)
	}

	clustertest.Kubectl(t, "-n", "audited", "scale", "deployment", "keystone-api", "--replicas=3")
	// kolla repeats a dry run if the status of the object changes meanwhile.
	clustertest.Kubectl(t, "-n", "audited", "rollout", "status", "deployment/keystone-api")
	kolla(t, "plan")
	planned := audit.Kolla()
	if writes := clustertest.Writes(planned); len(writes) > 0 {
		t.Errorf("the plan of drift wrote: %v", writes)
	}
	if code, _, stderr := try("drift"); code != 2 {
		t.Errorf("kolla drift exits with %d:\n%s", code, stderr)
	}
	looked := audit.Kolla()
	if writes := clustertest.Writes(looked); len(writes) > 0 {
		t.Errorf("kolla drift wrote: %v", writes)
	}
	if len(looked) == 0 || len(looked) > len(planned) {
		t.Errorf("kolla drift sent %d requests, and a plan %d:\n%v\n%v", len(looked), len(planned), looked, planned)
	}
	clustertest.Kubectl(t, "-n", "audited", "delete", "service", "memcached")
	kolla(t, "apply", "-refresh-only", "-auto-approve")
	if writes := clustertest.Writes(audit.Kolla()); len(writes) > 0 {
		t.Errorf("the refresh wrote: %v", writes)
	}

	kolla(t, "plan", "-destroy", "-delete-data=*", "-out=gone.plan")
	if writes := clustertest.Writes(audit.Kolla()); len(writes) > 0 {
		t.Errorf("the plan of a destroy wrote: %v", writes)
	}
	kolla(t, "apply", "-destroy", "-delete-data=*", "gone.plan")
	asks := func(write string) bool { return strings.HasSuffix(write, "/exec") }
	if writes := clustertest.Writes(audit.Kolla()); !slices.ContainsFunc(writes, asks) {
		t.Errorf("the apply of the destroy asked no pod: %v", writes)
	}
}

// kolla runs a command that must succeed.
func kolla(t *testing.T, args ...string) {
	t.Helper()
	var out bytes.Buffer
	if code := cli.Run(t.Context(), append([]string{"kolla"}, args...), strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("kolla %s exited with %d:\n%s", strings.Join(args, " "), code, out.String())
	}
}

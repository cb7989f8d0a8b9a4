package live_test

import (
	"os"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/dev/metallb"
)

const balancedCloud = `cloud "NAMESPACE" {
  release   = "2025.1"
  namespace = "NAMESPACE"
}
exposure "public" {
  vip         = "192.0.2.10"
  mode        = "loadbalancer"
  annotations = { "metallb.io/allow-shared-ip" = "public" }
}
definition "answers" {
  port "api" {
    number = 8001
    expose = true
  }
  workload "api" {
    kind  = "Deployment"
    image = "answers"
    ports = ["api"]
  }
}
service "one" {
  definition = "answers"
  expose     = exposure.public
}
service "two" {
  definition = "answers"
  expose     = exposure.public
  port "api" { public = 8002 }
}
`

// TestMetalLB applies a cloud whose exposure is the job of MetalLB. Two services share the address, and
// an address that MetalLB does not have is the reason why an apply waits.
func TestMetalLB(t *testing.T) {
	if os.Getenv("KOLLA_METALLB") == "" {
		t.Skip("NOT RUN: MetalLB takes minutes to build; run make test-others")
	}
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	metallb.MetalLB{Namespace: clustertest.Namespace(t), Kubectl: clustertest.Kubectl}.Start(t, clustertest.Kubeconfig(), "192.0.2.10/32")
	const namespace = "t-metallb"
	t.Chdir(t.TempDir())
	write := func(text string) {
		if err := os.WriteFile("cloud.hcl", []byte(strings.ReplaceAll(text, "NAMESPACE", namespace)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(balancedCloud)
	defer kolla(t, "destroy", "-auto-approve", "-delete-data=*")
	kolla(t, "apply", "-auto-approve", "-timeout=120s")
	for _, service := range []string{"one-public", "two-public"} {
		if got := clustertest.Kubectl(t, "-n", namespace, "get", "service", service, "-o", "jsonpath={.status.loadBalancer.ingress[*].ip}"); got != "192.0.2.10" {
			t.Errorf("%s has the address %q", service, got)
		}
	}
	kolla(t, "plan", "-detailed-exitcode")

	write(strings.ReplaceAll(balancedCloud, "192.0.2.10", "192.0.2.11"))
	code, out, complaint := try("apply", "-auto-approve", "-timeout=20s", "-no-color")
	if said := out + complaint; code != 1 || !strings.Contains(said, "is not allowed in config") {
		t.Errorf("with an address that MetalLB does not have: exit code %d\n%s", code, said)
	}
}

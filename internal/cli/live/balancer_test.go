package live_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
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
	startMetalLB(t, "192.0.2.10/32")
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

// startMetalLB starts the controller of MetalLB with one pool of addresses.
func startMetalLB(t *testing.T, pool string) {
	t.Helper()
	const module = "-modfile=../../dev/tools/metallb/go.mod"
	program, err := exec.Command("go", "tool", "-n", module, "controller").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := exec.Command("go", "list", module, "-m", "-f", "{{.Dir}}", "go.universe.tf/metallb").Output()
	if err != nil {
		t.Fatal(err)
	}
	definitions := filepath.Join(strings.TrimSpace(string(source)), "config", "crd", "bases")
	clustertest.Kubectl(t, "apply", "-f", definitions)
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "-f", definitions) })
	namespace := clustertest.Namespace(t)
	file := filepath.Join(t.TempDir(), "pool.yaml")
	text := "{apiVersion: metallb.io/v1beta1, kind: IPAddressPool, metadata: {name: public, namespace: " + namespace + "}, spec: {addresses: [" + pool + "]}}"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	clustertest.Kubectl(t, "wait", "--for=condition=Established", "crd/ipaddresspools.metallb.io", "--timeout=60s")
	clustertest.Kubectl(t, "apply", "-f", file)
	controller := exec.Command(strings.TrimSpace(string(program)), "--webhook-mode=disabled", "--port=0", "--log-level=error")
	controller.Env = append(os.Environ(), "METALLB_NAMESPACE="+namespace, "METALLB_BGP_TYPE=native")
	var log bytes.Buffer
	controller.Stdout, controller.Stderr = &log, &log
	if err := controller.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = controller.Wait() // the test kills it
		close(ended)
	}()
	t.Cleanup(func() {
		_ = controller.Process.Kill()
		<-ended
		if t.Failed() {
			t.Log(log.String())
		}
	})
	select {
	case <-ended:
		t.Fatal("the controller ended")
	case <-time.After(time.Second):
	}
}

// Package traefik runs Traefik for a cluster of the tests: as Ingress controller, and as implementation of the
// Gateway API.
package traefik

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/tooltest"
)

const (
	tools tooltest.Module = "traefik"
	// Address is the address at which Traefik listens, and which it writes into the objects that it serves.
	Address = "127.0.0.1"
	// Class is the name of its IngressClass and of its GatewayClass.
	Class = "traefik"
)

const classes = `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: traefik}
spec: {controller: traefik.io/ingress-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: traefik}
spec: {controllerName: traefik.io/gateway-controller}
`

// Traefik is a Traefik whose program is a process of a test.
type Traefik struct {
	HTTP, HTTPS int // ports at Address
	program     string
	kubeconfig  string
}

// Install installs the kinds of the Gateway API and the classes of Traefik in a cluster, until the test ends. The
// working directory has to be in the module of kolla.
func Install(t testing.TB, kubeconfig string, kubectl func(t testing.TB, args ...string) string) Traefik {
	t.Helper()
	source, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(source)), "config", "crd", "standard", "gateway.networking.k8s.io_*.yaml"))
	if err != nil || len(found) == 0 {
		t.Fatalf("the module has no definitions: %v", err)
	}
	var files []string
	for _, file := range found {
		files = append(files, "-f="+file)
	}
	kubectl(t, append([]string{"apply", "--server-side"}, files...)...)
	t.Cleanup(func() { kubectl(t, append([]string{"delete"}, files...)...) })
	kubectl(t, "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
	file := tooltest.Manifest(t, classes)
	kubectl(t, "apply", "-f", file)
	t.Cleanup(func() { kubectl(t, "delete", "-f", file) })
	return Traefik{tooltest.FreePort(t, Address), tooltest.FreePort(t, Address), tools.Program(t, "traefik"), kubeconfig}
}

// Arguments of Start: the objects that Traefik serves.
const (
	Ingresses = "--providers.kubernetesingress.ingressclass=" + Class
	Gateways  = "--providers.kubernetesgateway.statusaddress.ip=" + Address
	// WritesAddress lets Traefik write its address into Ingresses.
	WritesAddress = "--providers.kubernetesingress.ingressendpoint.ip=" + Address
)

// Start starts Traefik with further arguments, until stop is called or the test ends.
func (x Traefik) Start(t testing.TB, args ...string) (stop func()) {
	t.Helper()
	cmd := exec.Command(x.program, append([]string{
		"--global.checknewversion=false", "--global.sendanonymoususage=false", "--log.level=INFO",
		fmt.Sprintf("--entrypoints.web.address=%s:%d", Address, x.HTTP),
		fmt.Sprintf("--entrypoints.websecure.address=%s:%d", Address, x.HTTPS), "--entrypoints.websecure.http.tls=true",
		"--entrypoints.web.http.aliasheadersstrategy=delete", "--entrypoints.websecure.http.aliasheadersstrategy=delete",
	}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+x.kubeconfig)
	return tooltest.Start(t, cmd)
}

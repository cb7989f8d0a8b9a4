// Package certmanager runs cert-manager for a cluster of the tests, and an ACME server for it.
package certmanager

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/tooltest"
)

const (
	tools  tooltest.Module = "certmanager"
	pebble tooltest.Module = "pebble"
	// SolverPort is the port at which a pod of cert-manager answers a challenge over HTTP.
	SolverPort = 8089
	loopback   = "127.0.0.1"
)

// Install installs the kinds of cert-manager in a cluster and starts its controllers, until the test ends. They
// check challenges through an HTTP proxy, which is the way in of the cluster. The working directory has to be in the
// module of kolla.
func Install(t testing.TB, kubeconfig, proxy string, kubectl func(t testing.TB, args ...string) string) {
	t.Helper()
	definitions := filepath.Join(tools.Dir(t, "github.com/cert-manager/cert-manager"), "deploy", "crds")
	kubectl(t, "apply", "--server-side", "-f", definitions)
	t.Cleanup(func() { kubectl(t, "delete", "-f", definitions) })
	kubectl(t, "wait", "--for=condition=Established", "--timeout=60s", "-f", definitions)
	cmd := exec.Command(tools.Program(t, "controller"), "-kubeconfig="+kubeconfig)
	cmd.Env = append(os.Environ(), "HTTP_PROXY="+proxy)
	tooltest.Start(t, cmd)
}

// ACME is an ACME server. It finds all host names at loopback.
type ACME struct {
	Directory string // its URL
	// Bundle has the CA of the certificate of the server itself, in base64.
	Bundle string
	roots  string // URL of the CA that signs
}

// StartACME starts an ACME server, until the test ends. It sends the challenges over HTTP to a port, and signs
// nothing for refused and for names below it. The working directory has to be in the module of kolla.
func StartACME(t testing.TB, port int, refused string) ACME {
	t.Helper()
	names := fmt.Sprintf("%s:%d", loopback, tooltest.FreePort(t, loopback))
	listen, manage := fmt.Sprintf("%s:%d", loopback, tooltest.FreePort(t, loopback)), fmt.Sprintf("%s:%d", loopback, tooltest.FreePort(t, loopback))
	certificates := filepath.Join(pebble.Dir(t, "github.com/letsencrypt/pebble/v2"), "test", "certs")
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": listen, "managementListenAddress": manage,
		"certificate": filepath.Join(certificates, "localhost", "cert.pem"), "privateKey": filepath.Join(certificates, "localhost", "key.pem"),
		"httpPort": port, "tlsPort": port, "keyAlgorithm": "ecdsa",
		"retryAfter": map[string]any{"authz": 1, "order": 1}, "domainBlocklist": []string{refused},
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pebble.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(certificates, "pebble.minica.pem"))
	if err != nil {
		t.Fatal(err)
	}
	tooltest.Start(t, exec.Command(pebble.Program(t, "pebble-challtestsrv"), "-dnsserver="+names, "-defaultIPv4="+loopback, "-defaultIPv6=",
		"-management=", "-http01=", "-https01=", "-tlsalpn01=", "-doh="))
	server := exec.Command(pebble.Program(t, "pebble"), "-config="+file, "-dnsserver="+names)
	server.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	tooltest.Start(t, server)
	return ACME{"https://" + listen + "/dir", base64.StdEncoding.EncodeToString(ca), "https://" + manage + "/roots/0"}
}

// Root returns the CA that signs the certificates.
func (a ACME) Root(t testing.TB) *x509.CertPool {
	t.Helper()
	bundle, err := base64.StdEncoding.DecodeString(a.Bundle)
	if err != nil {
		t.Fatal(err)
	}
	own, out := x509.NewCertPool(), x509.NewCertPool()
	own.AppendCertsFromPEM(bundle)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: own, MinVersion: tls.VersionTLS12}}}
	r, err := client.Get(a.roots)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	root, err := io.ReadAll(r.Body)
	if err != nil || !out.AppendCertsFromPEM(root) {
		t.Fatalf("%s says %q: %v", a.roots, root, err)
	}
	return out
}

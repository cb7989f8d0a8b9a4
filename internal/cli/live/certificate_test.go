package live_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// TestHAProxyFollowsTheCertificate lets `kolla exposure haproxy -watch` see a certificate come, change,
// and turn bad. The test is the master process of HAProxy, which refuses one of the certificates.
func TestHAProxyFollowsTheCertificate(t *testing.T) {
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	t.Chdir(t.TempDir())
	const config = `cloud "t-certificate" {
  release   = "2025.1"
  namespace = "t-certificate"
}
exposure "public" {
  vip = "192.0.2.10"
  tls { secret_name = "edge" }
}
definition "d" {
  port "api" {
    number    = 80
    public    = 443
    expose    = true
    node_port = 30981
  }
  workload "w" {
    kind  = "Deployment"
    image = "d"
    ports = ["api"]
  }
}
service "d" { expose = exposure.public }
`
	if err := os.WriteFile("cloud.hcl", []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	clustertest.Kubectl(t, "create", "namespace", "t-certificate")
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "namespace", "t-certificate", "--wait=false") })
	clustertest.Kubectl(t, "create", "-f", manifest(t, `{apiVersion: v1, kind: Node, metadata: {name: t-edge}, status: {addresses: [{type: InternalIP, address: 198.51.100.9}]}}`))
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "node", "t-edge", "--ignore-not-found") })
	clustertest.Kubectl(t, "patch", "node", "t-edge", "--subresource=status", "--type=merge", "-p", `{"status": {"addresses": [{"type": "InternalIP", "address": "198.51.100.9"}]}}`)

	var refuse atomic.Bool
	var reloads atomic.Int32
	out, stop := watchHAProxy(t, func() string {
		reloads.Add(1)
		if refuse.Load() {
			return "no good\n"
		}
		return ""
	}, "-certificate=edge.pem")
	says := func(what string) {
		t.Helper()
		clustertest.Eventually(t, what, func() bool { return strings.Contains(out.String(), what) })
	}
	holds := func(pair [2]string) {
		t.Helper()
		clustertest.Eventually(t, "the certificate in the file", func() bool {
			content, _ := os.ReadFile("edge.pem")
			return strings.HasSuffix(string(content), pair[0]+pair[1])
		})
	}
	// Without a certificate, HAProxy could not start with the file.
	says("There is no certificate yet")
	if _, err := os.Stat("haproxy.cfg"); err == nil || reloads.Load() > 0 {
		t.Error("HAProxy is to load a file without its certificate")
	}
	first, second, third := pairFor(t, "192.0.2.10"), pairFor(t, "192.0.2.10"), pairFor(t, "192.0.2.10")
	give(t, first)
	holds(first)
	if info, err := os.Stat("edge.pem"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the key: %v, %v", info, err)
	}
	says("HAProxy has loaded edge.pem. The certificate ends on ")
	give(t, second)
	holds(second)
	clustertest.Eventually(t, "a reload", func() bool { return strings.Count(out.String(), "HAProxy has loaded edge.pem.") == 2 })

	// What HAProxy or its clients could not use leaves the file as it is.
	give(t, pairFor(t, "192.0.2.99"))
	says("The certificate is for other names")
	holds(second)
	give(t, [2]string{third[0], first[1]})
	says("The key belongs to another certificate")
	holds(second)
	refuse.Store(true)
	give(t, third)
	says("no good")
	holds(second)
	stop()
	if strings.Contains(out.String(), "PRIVATE") {
		t.Errorf("the output has a key:\n%s", out)
	}
}

// give puts a certificate and its key into the Secret.
func give(t *testing.T, pair [2]string) {
	t.Helper()
	dir := t.TempDir()
	for i, name := range []string{"tls.crt", "tls.key"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(pair[i]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	clustertest.Kubectl(t, "-n", "t-certificate", "delete", "secret", "edge", "--ignore-not-found")
	clustertest.Kubectl(t, "-n", "t-certificate", "create", "secret", "generic", "edge", "--type=kubernetes.io/tls", "--from-file="+filepath.Join(dir, "tls.crt"), "--from-file="+filepath.Join(dir, "tls.key"))
}

// pairFor makes a certificate for an address, and its key.
func pairFor(t *testing.T, address string) [2]string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: address}, IPAddresses: []net.IP{net.ParseIP(address)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour * 24 * 90),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return [2]string{
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	}
}

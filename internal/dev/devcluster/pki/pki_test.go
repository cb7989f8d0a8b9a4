package pki_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"kolla.openstack.org/kolla/internal/dev/devcluster/pki"
)

func TestEnsure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	// A process that was killed may have left this directory.
	if err := os.MkdirAll(filepath.Join(dir+".new", "rest"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := pki.Ensure(dir); err != nil {
		t.Fatal(err)
	}
	before := read(t, pki.CertFile(dir, pki.Admin))
	if err := pki.Ensure(dir); err != nil {
		t.Fatal(err)
	}
	if read(t, pki.CertFile(dir, pki.Admin)) != before {
		t.Error("the second call made new certificates")
	}
	if err := os.Rename(pki.KeyFile(dir, pki.Scheduler), pki.KeyFile(dir, pki.Admin)); err != nil {
		t.Fatal(err)
	}
	if err := pki.Ensure(dir); err == nil || !strings.Contains(err.Error(), "does not belong") {
		t.Errorf("with a wrong key: %v", err)
	}
}

func TestCertificates(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	if err := pki.Ensure(dir); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(read(t, pki.CertFile(dir, pki.CA))))
	for _, host := range []string{"127.0.0.1", "localhost", "kubernetes.default.svc", "10.96.0.1"} {
		if _, err := parse(t, dir, pki.APIServer).Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Errorf("API server as %s: %v", host, err)
		}
	}
	admin := parse(t, dir, pki.Admin)
	usages := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err := admin.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: usages}); err != nil {
		t.Error(err)
	}
	if got := admin.Subject.Organization; len(got) != 1 || got[0] != "system:masters" {
		t.Errorf("the administrator's groups are %v", got)
	}
	if _, err := parse(t, dir, pki.FrontProxyClient).Verify(x509.VerifyOptions{Roots: roots, KeyUsages: usages}); err == nil {
		t.Error("the CA for clients has signed for the front proxy too")
	}
}

func TestKubeconfig(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	if err := pki.Ensure(dir); err != nil {
		t.Fatal(err)
	}
	data, err := pki.Kubeconfig(dir, pki.Admin, "https://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://127.0.0.1:1" || len(config.CAData) == 0 || len(config.CertData) == 0 || len(config.KeyData) == 0 {
		t.Errorf("the kubeconfig reads as %v", config)
	}
}

func parse(t *testing.T, dir, name string) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode([]byte(read(t, pki.CertFile(dir, name))))
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

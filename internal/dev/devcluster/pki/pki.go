// Package pki makes the keys and certificates of one cluster and the
// kubeconfig files that carry them. Everything is valid for ten years, because
// a cluster directory is thrown away rather than renewed.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const validity = 10 * 365 * 24 * time.Hour

// The identities a cluster has certificates for. Each is the base name of a
// .crt and a .key file.
const (
	CA                = "ca"
	FrontProxyCA      = "front-proxy-ca"
	APIServer         = "apiserver"
	KubeletClient     = "apiserver-kubelet-client"
	FrontProxyClient  = "front-proxy-client"
	Kubelet           = "kubelet"
	Admin             = "admin"
	ControllerManager = "controller-manager"
	Scheduler         = "scheduler"
	Simulator         = "simulator"
	// Proxy is kube-proxy on the real nodes.
	Proxy = "kube-proxy"
	// ServiceAccount is a key pair without a certificate: .key and .pub.
	ServiceAccount = "sa"
)

// identity says what one certificate is for.
type identity struct {
	name   string
	signer string
	cn     string
	groups []string
	// hosts makes it a serving certificate; without hosts it is a client's.
	hosts []string
}

func identities() []identity {
	return []identity{
		{name: APIServer, signer: CA, cn: "kube-apiserver", hosts: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local", "127.0.0.1", "10.96.0.1", RealNetworkAddress,
		}},
		{name: Kubelet, signer: CA, cn: "devcluster-kubelet", hosts: []string{"localhost", "127.0.0.1"}},
		{name: KubeletClient, signer: CA, cn: "kube-apiserver-kubelet-client", groups: []string{"system:masters"}},
		{name: FrontProxyClient, signer: FrontProxyCA, cn: "front-proxy-client"},
		{name: Admin, signer: CA, cn: "devcluster-admin", groups: []string{"system:masters"}},
		{name: ControllerManager, signer: CA, cn: "system:kube-controller-manager"},
		{name: Scheduler, signer: CA, cn: "system:kube-scheduler"},
		{name: Simulator, signer: CA, cn: "devcluster-simulator", groups: []string{"system:masters"}},
		{name: Proxy, signer: CA, cn: "system:kube-proxy"},
	}
}

// RealNetworkAddress is where real nodes find the API server.
const RealNetworkAddress = "10.200.0.1"

// NodeClient and NodeServer name the two identities of a real node: as a client
// of the API server, and for its kubelet's own port.
func NodeClient(node string) string { return "node-" + node }

// NodeServer is described with NodeClient.
func NodeServer(node string) string { return "node-" + node + "-kubelet" }

// EnsureNode makes the identities of a real node unless they are there already.
func EnsureNode(dir, node, address string) error {
	ca, err := readPair(dir, CA)
	if err != nil {
		return fmt.Errorf("make certificates of node %s: %w", node, err)
	}
	for _, id := range []identity{
		{name: NodeClient(node), cn: "system:node:" + node, groups: []string{"system:nodes"}},
		{name: NodeServer(node), cn: "system:node:" + node, hosts: []string{node, address}},
	} {
		if pair, err := readPair(dir, id.name); err == nil && id.serves(pair.cert) == nil {
			continue
		}
		pair, err := newPair(id.template(), ca)
		if err == nil {
			err = pair.write(dir, id.name)
		}
		if err != nil {
			return fmt.Errorf("make certificates of node %s: %w", node, err)
		}
	}
	return nil
}

// serves reports a host that the certificate of the identity is not for.
func (id identity) serves(cert *x509.Certificate) error {
	for _, host := range id.hosts {
		if err := cert.VerifyHostname(host); err != nil {
			return err
		}
	}
	return nil
}

// Ensure makes all keys and certificates in dir unless they are there already.
// They are written beside dir and renamed, so that dir is complete or absent
// even when the process is killed in between.
func Ensure(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return check(dir)
	} else if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for certificates: %w", err)
	}
	unfinished := dir + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return fmt.Errorf("remove unfinished certificates: %w", err)
	}
	if err := os.Mkdir(unfinished, 0o700); err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}
	if err := makeAll(unfinished); err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}
	if err := os.Rename(unfinished, dir); err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}
	return nil
}

// check reports the first identity whose files do not belong together.
func check(dir string) error {
	for _, id := range identities() {
		pair, err := readPair(dir, id.name)
		if err == nil && time.Now().After(pair.cert.NotAfter) {
			err = fmt.Errorf("%s.crt expired on %s", id.name, pair.cert.NotAfter.Format(time.DateOnly))
		}
		if err == nil {
			err = id.serves(pair.cert)
		}
		if err != nil {
			return fmt.Errorf("use certificates of %s: %w; delete the cluster and start a new one", dir, err)
		}
	}
	return nil
}

func makeAll(dir string) error {
	signers := map[string]*pair{}
	for _, name := range []string{CA, FrontProxyCA} {
		p, err := newPair(&x509.Certificate{
			Subject:               pkix.Name{CommonName: "devcluster-" + name},
			IsCA:                  true,
			BasicConstraintsValid: true,
			KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		}, nil)
		if err != nil {
			return err
		}
		if err := p.write(dir, name); err != nil {
			return err
		}
		signers[name] = p
	}
	for _, id := range identities() {
		p, err := newPair(id.template(), signers[id.signer])
		if err != nil {
			return err
		}
		if err := p.write(dir, id.name); err != nil {
			return err
		}
	}
	return makeServiceAccountKey(dir)
}

func (id identity) template() *x509.Certificate {
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: id.cn, Organization: id.groups},
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if len(id.hosts) == 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		return template
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range id.hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return template
}

// pair is a certificate with its key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newPair signs template with signer, or with its own new key when signer is nil.
func newPair(template *x509.Certificate, signer *pair) (*pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template.SerialNumber = serial
	// An hour back, so that a clock that is set back does not lock its owner out.
	template.NotBefore = now.Add(-time.Hour)
	template.NotAfter = now.Add(validity)
	parent, parentKey := template, crypto.Signer(key)
	if signer != nil {
		parent, parentKey = signer.cert, signer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &pair{cert: cert, key: key}, nil
}

func (p *pair) write(dir, name string) error {
	der, err := x509.MarshalECPrivateKey(p.key)
	if err != nil {
		return err
	}
	if err := writePEM(KeyFile(dir, name), "EC PRIVATE KEY", der); err != nil {
		return err
	}
	return writePEM(CertFile(dir, name), "CERTIFICATE", p.cert.Raw)
}

func makeServiceAccountKey(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := writePEM(KeyFile(dir, ServiceAccount), "EC PRIVATE KEY", private); err != nil {
		return err
	}
	return writePEM(filepath.Join(dir, ServiceAccount+".pub"), "PUBLIC KEY", public)
}

func readPair(dir, name string) (*pair, error) {
	cert, err := readPEM(CertFile(dir, name))
	if err != nil {
		return nil, err
	}
	key, err := readPEM(KeyFile(dir, name))
	if err != nil {
		return nil, err
	}
	p := &pair{}
	if p.cert, err = x509.ParseCertificate(cert); err != nil {
		return nil, fmt.Errorf("%s.crt: %w", name, err)
	}
	if p.key, err = x509.ParseECPrivateKey(key); err != nil {
		return nil, fmt.Errorf("%s.key: %w", name, err)
	}
	if !p.key.PublicKey.Equal(p.cert.PublicKey) {
		return nil, fmt.Errorf("%s.key does not belong to %s.crt", name, name)
	}
	return p, nil
}

// CertFile returns the path of an identity's certificate.
func CertFile(dir, name string) string { return filepath.Join(dir, name+".crt") }

// KeyFile returns the path of an identity's private key.
func KeyFile(dir, name string) string { return filepath.Join(dir, name+".key") }

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

func readPEM(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM data", filepath.Base(path))
	}
	return block.Bytes, nil
}

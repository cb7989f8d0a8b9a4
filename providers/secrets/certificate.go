package secrets

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"slices"
	"time"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

const (
	day = 24 * time.Hour
	// clockSkew is the maximum delay of a client's clock.
	clockSkew = 5 * time.Minute
)

// keyPair is a certificate with its private key.
type keyPair struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// readKeyPair reads a certificate and its private key from the values of a Secret.
func readKeyPair(values map[string][]byte) (*keyPair, error) {
	cert, err := readCertificate(values[configs.KeyCertificate])
	if err != nil {
		return nil, err
	}
	key, err := readPrivateKey(values[configs.KeyKey])
	if err != nil {
		return nil, err
	}
	if public, ok := cert.PublicKey.(interface{ Equal(crypto.PublicKey) bool }); !ok || !public.Equal(key.Public()) {
		return nil, fmt.Errorf("%s is not the key of %s", configs.KeyKey, configs.KeyCertificate)
	}
	return &keyPair{cert, key}, nil
}

// readCertificate reads the first certificate. It does not return the errors of the
// parsers, because they may quote the text.
func readCertificate(text []byte) (*x509.Certificate, error) {
	if block, _ := pem.Decode(text); block != nil {
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			return cert, nil
		}
	}
	return nil, fmt.Errorf("%s holds no certificate in PEM", configs.KeyCertificate)
}

// readPrivateKey reads a private key. Its errors do not quote the text either.
func readPrivateKey(text []byte) (crypto.Signer, error) {
	if block, _ := pem.Decode(text); block != nil {
		for _, parse := range []func([]byte) (any, error){
			x509.ParsePKCS8PrivateKey,
			func(der []byte) (any, error) { return x509.ParseECPrivateKey(der) },
			func(der []byte) (any, error) { return x509.ParsePKCS1PrivateKey(der) },
		} {
			if key, err := parse(block.Bytes); err == nil {
				if signer, ok := key.(crypto.Signer); ok {
					return signer, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("%s holds no private key in PEM", configs.KeyKey)
}

// notAfter returns when a certificate expires; empty: the text is no certificate.
func notAfter(text []byte) string {
	cert, err := readCertificate(text)
	if err != nil {
		return ""
	}
	return cert.NotAfter.UTC().Format(time.RFC3339)
}

// makeCertificate makes a certificate with a new key. A CA that is renewed keeps its key, so
// certificates that it signed before stay valid.
func makeCertificate(g *providers.Generator, own map[string][]byte, live providers.Values) (map[string][]byte, error) {
	template := templateOf(g, time.Now())
	signer := &keyPair{cert: template}
	key, err := makePrivateKey(g.Algorithm)
	if err != nil {
		return nil, err
	}
	var issuer map[string][]byte
	if g.Cert.Issuer == nil {
		if own == nil && g.Former != nil {
			own = live(g.Former.Namespace, g.Former.Name)
		}
		if before, err := readKeyPair(own); err == nil && algorithmOf(before.key.Public()) == g.Algorithm {
			key = before.key
		}
		signer.key = key
	} else {
		issuer = live(g.Cert.Issuer.Namespace, g.Cert.Issuer.Name)
		if signer, err = readKeyPair(issuer); err != nil {
			return nil, fmt.Errorf("the CA in Secret %s/%s cannot sign: %w", g.Cert.Issuer.Namespace, g.Cert.Issuer.Name, err)
		}
		if !template.NotBefore.Before(signer.cert.NotAfter) {
			return nil, fmt.Errorf("the CA in Secret %s/%s cannot sign: its certificate has ended", g.Cert.Issuer.Namespace, g.Cert.Issuer.Name)
		}
		template.NotAfter = earlier(template.NotAfter, signer.cert.NotAfter)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer.cert, key.Public(), signer.key)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the private key: %w", err)
	}
	values := map[string][]byte{
		configs.KeyCertificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		configs.KeyKey:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
	if issuer != nil {
		values[configs.KeyCA] = issuer[configs.KeyCertificate]
	}
	return values, nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// templateOf returns the certificate before it is signed.
func templateOf(g *providers.Generator, now time.Time) *x509.Certificate {
	c := &x509.Certificate{
		Subject:               pkix.Name{CommonName: g.Cert.CommonName},
		DNSNames:              g.Cert.DNSNames,
		IPAddresses:           addressesOf(g.Cert),
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(time.Duration(g.Cert.Days) * day),
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           usagesOf(g.Cert),
	}
	if g.Cert.Issuer == nil {
		c.IsCA, c.MaxPathLenZero = true, true
		c.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	} else if g.Algorithm == "rsa" {
		c.KeyUsage |= x509.KeyUsageKeyEncipherment
	}
	return c
}

func addressesOf(c *providers.Certificate) []net.IP {
	var out []net.IP
	for _, text := range c.IPAddresses {
		out = append(out, net.ParseIP(text))
	}
	return out
}

func usagesOf(c *providers.Certificate) []x509.ExtKeyUsage {
	var out []x509.ExtKeyUsage
	for _, usage := range c.Usages {
		if usage == "client" {
			out = append(out, x509.ExtKeyUsageClientAuth)
		} else {
			out = append(out, x509.ExtKeyUsageServerAuth)
		}
	}
	return out
}

// Due returns the reason to renew a certificate, as the end of a sentence. It is empty if the
// certificate is kept. own has the live values of its Secret. issuer has the values of its CA,
// and is nil for a CA. anew says that the CA is renewed too.
func Due(g *providers.Generator, own, issuer map[string][]byte, anew bool, now time.Time) string {
	if own[configs.KeyCertificate] == nil || own[configs.KeyKey] == nil {
		return "" // no certificate exists yet
	}
	pair, err := readKeyPair(own)
	if err != nil {
		return err.Error()
	}
	end := now.Add(time.Duration(g.Cert.Days) * day)
	if g.Cert.Issuer != nil {
		if anew {
			return "its CA is made anew"
		}
		ca, err := readCertificate(issuer[configs.KeyCertificate])
		if err != nil || pair.cert.CheckSignatureFrom(ca) != nil || !bytes.Equal(own[configs.KeyCA], issuer[configs.KeyCertificate]) {
			return "it is not signed by its CA as that is now"
		}
		end = earlier(end, ca.NotAfter)
	}
	if what := differs(pair.cert, g); what != "" {
		return "it has another " + what
	}
	// A new certificate ends no later than its CA. It is made only if it would last longer.
	ends := pair.cert.NotAfter
	if ends.Before(now.Add(time.Duration(g.Cert.RenewBefore)*day)) && ends.Add(time.Hour).Before(end) {
		return "it ends on " + ends.UTC().Format(time.DateOnly)
	}
	return ""
}

// differs returns the first property of a certificate that differs from its declaration, or an
// empty string.
func differs(cert *x509.Certificate, g *providers.Generator) string {
	sorted := func(list []string) []string { return slices.Sorted(slices.Values(list)) }
	var ips []string
	for _, ip := range cert.IPAddresses {
		ips = append(ips, ip.String())
	}
	var wanted []string
	for _, ip := range addressesOf(g.Cert) {
		wanted = append(wanted, ip.String())
	}
	byNumber := func(list []x509.ExtKeyUsage) []x509.ExtKeyUsage {
		return slices.SortedFunc(slices.Values(list), cmp.Compare)
	}
	switch {
	case !g.Cert.Unnamed && cert.Subject.CommonName != g.Cert.CommonName:
		return "common_name"
	case !slices.Equal(sorted(cert.DNSNames), sorted(g.Cert.DNSNames)):
		return "list of dns_names"
	case !slices.Equal(sorted(ips), sorted(wanted)):
		return "list of ip_addresses"
	case !slices.Equal(byNumber(cert.ExtKeyUsage), byNumber(usagesOf(g.Cert))):
		return "list of usages"
	case algorithmOf(cert.PublicKey) != g.Algorithm:
		return "algorithm"
	}
	return ""
}

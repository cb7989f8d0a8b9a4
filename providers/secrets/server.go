package secrets

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/lang/configs"
)

// Mistake is a mistake in the certificate of a server.
type Mistake struct {
	Key             string // of the Secret: the part with the mistake
	Summary, Detail string
	Kind            MistakeKind
}

// MistakeKind says what to do about a Mistake. The zero value is invalid.
type MistakeKind int

// The kinds of mistakes.
const (
	Unusable MistakeKind = iota + 1 // servers refuse it, or clients refuse every connection
	Ended                           // clients refuse it since its end
	EndsSoon
)

// A certificate that kolla does not make is reported in the last third of its lifetime, and at most
// LongestWarning before its end.
const (
	LongestWarning = 30 * day
	lifetimeShare  = 3
)

// EndsWithin returns how long before its end a certificate is reported.
func EndsWithin(cert *x509.Certificate) time.Duration {
	return min(LongestWarning, cert.NotAfter.Sub(cert.NotBefore)/lifetimeShare)
}

// OverdueWithin returns how long before its end a certificate of cert-manager is reported: a day after
// cert-manager should have renewed it, or after half of the remaining time if that is less. renewal is the
// time between the two; 0: the last third of the lifetime.
func OverdueWithin(cert *x509.Certificate, renewal time.Duration) time.Duration {
	if renewal == 0 {
		renewal = cert.NotAfter.Sub(cert.NotBefore) / lifetimeShare
	}
	renewal = min(renewal, LongestWarning)
	return renewal - min(day, renewal/2)
}

// CheckServer checks the certificate of a server with the names or addresses hosts. values are those of
// its Secret: the certificate with those of intermediate CAs, its key, and maybe the certificate of the
// CA. The mistakes quote nothing of the key.
func CheckServer(values map[string][]byte, hosts []string, now time.Time) []Mistake {
	var out []Mistake
	report := func(kind MistakeKind, key, summary, format string, args ...any) {
		out = append(out, Mistake{key, summary, fmt.Sprintf(format, args...), kind})
	}
	chain := Certificates(values[configs.KeyCertificate])
	key, err := readPrivateKey(values[configs.KeyKey])
	if err != nil {
		report(Unusable, configs.KeyKey, "No private key", "%s", keyAdvice(values[configs.KeyKey]))
	}
	if len(chain) == 0 {
		report(Unusable, configs.KeyCertificate, "No certificate", "There is no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----.")
		return out
	}
	cert := chain[0]
	if key != nil && !isKeyOf(key, cert) {
		report(Unusable, configs.KeyKey, "The key belongs to another certificate", "The certificate of %s has another key. In a file with several certificates, the certificate of the server comes first.", nameOf(cert))
	}
	for _, host := range hosts {
		if err := cert.VerifyHostname(host); err != nil {
			report(Unusable, configs.KeyCertificate, "The certificate is for other names", "Clients connect to %s, and the certificate is for %s.", host, namesOf(cert))
		}
	}
	if !servesClients(cert) {
		report(Unusable, configs.KeyCertificate, "The certificate is not for servers", "The extended key usage of the certificate of %s does not permit the authentication of a server.", nameOf(cert))
	}
	switch ends := cert.NotAfter.UTC().Format("2006-01-02 15:04 UTC"); {
	case now.After(cert.NotAfter):
		report(Ended, configs.KeyCertificate, "The certificate has ended", "It ended on %s. Clients refuse connections.", ends)
	case now.Add(clockSkew).Before(cert.NotBefore):
		report(Unusable, configs.KeyCertificate, "The certificate is not valid yet", "It begins on %s. Clients refuse connections until then.", cert.NotBefore.UTC().Format("2006-01-02 15:04 UTC"))
	case now.Add(EndsWithin(cert)).After(cert.NotAfter):
		report(EndsSoon, configs.KeyCertificate, "The certificate ends soon", "It ends on %s. From then on, clients refuse connections. Replace it before.", ends)
	}
	if text := values[configs.KeyCA]; len(bytes.TrimSpace(text)) > 0 {
		if why := verify(chain, text, now); why != "" {
			report(Unusable, configs.KeyCA, "The CA has not signed the certificate", "%s", why)
		}
	}
	return out
}

// Certificates returns the certificates of a text in PEM. It leaves out other blocks, such as keys.
func Certificates(text []byte) []*x509.Certificate {
	var out []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			out = append(out, cert)
		}
	}
	return out
}

// keyAdvice says why a text is no private key.
func keyAdvice(text []byte) string {
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return "There is no key in PEM, which begins with -----BEGIN PRIVATE KEY-----."
	case strings.Contains(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != "":
		return "The key has a passphrase. Write it without: openssl pkey -in KEY -out KEY-WITHOUT-PASSPHRASE."
	}
	return fmt.Sprintf("The text in PEM is a %q, and no private key that kolla can read.", block.Type)
}

// isKeyOf reports whether a key belongs to a certificate.
func isKeyOf(key crypto.Signer, cert *x509.Certificate) bool {
	public, ok := cert.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(key.Public())
}

// servesClients reports whether a server may use a certificate.
func servesClients(cert *x509.Certificate) bool {
	return len(cert.ExtKeyUsage)+len(cert.UnknownExtKeyUsage) == 0 ||
		slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageServerAuth) || slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageAny)
}

// verify returns the reason why clients that trust a CA refuse a certificate. It is empty if they accept
// it. The dates of the certificate are no reason here.
func verify(chain []*x509.Certificate, ca []byte, now time.Time) string {
	roots, others := x509.NewCertPool(), x509.NewCertPool()
	known := Certificates(ca)
	if len(known) == 0 {
		return "There is no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----."
	}
	for _, cert := range known {
		roots.AddCert(cert)
	}
	for _, cert := range chain[1:] {
		others.AddCert(cert)
	}
	if now.After(chain[0].NotAfter) || now.Before(chain[0].NotBefore) {
		now = chain[0].NotBefore
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: others, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	var unknown x509.UnknownAuthorityError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &unknown):
		return fmt.Sprintf("The certificate of %s is signed by %s, and no chain leads from there to the CA %s. Certificates of intermediate CAs come after that of the server.", nameOf(chain[0]), cmp.Or(chain[0].Issuer.CommonName, chain[0].Issuer.String()), nameOf(known[0]))
	}
	return fmt.Sprintf("Clients that trust the CA refuse the certificate: %s.", err)
}

// nameOf names a certificate.
func nameOf(cert *x509.Certificate) string {
	if len(cert.DNSNames) > 0 {
		return cert.DNSNames[0]
	}
	return cmp.Or(cert.Subject.CommonName, cert.Subject.String(), "no name")
}

// namesOf lists the names and addresses that a certificate is for.
func namesOf(cert *x509.Certificate) string {
	names := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return fmt.Sprintf("no name: it has no subject alternative names, and clients ignore its common name %q", cert.Subject.CommonName)
	}
	return strings.Join(names, ", ")
}

// ServerPEM returns a certificate, those of intermediate CAs, and the key, as HAProxy reads them from one
// file.
func ServerPEM(values map[string][]byte) []byte {
	var out []byte
	for _, key := range []string{configs.KeyCertificate, configs.KeyKey} {
		out = append(append(out, bytes.TrimSpace(values[key])...), '\n')
	}
	return out
}

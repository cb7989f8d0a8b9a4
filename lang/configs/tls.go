package configs

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// TLS is the encryption of an exposure towards clients. The certificate, its key and the certificate of
// the CA are in a Secret of type kubernetes.io/tls in the namespace of the cloud, under the keys
// KeyCertificate, KeyKey and KeyCA.
type TLS struct {
	Source TLSSource
	// Secret is the name of the Secret.
	Secret string
	// Issuer is the request to cert-manager, for TLSIssued; nil otherwise.
	Issuer *Issuer
	// HSTS is the max-age of the header Strict-Transport-Security in seconds; 0: there is no header.
	HSTS int
	// PrivateCA: clients need the certificate of the CA. If others make the Secret, only the cluster
	// knows, and PrivateCA is true.
	PrivateCA bool
	Range     hcl.Range
	// SecretRange is the place of the name of a Secret that others make.
	SecretRange hcl.Range
	// FileRanges are the places of the names of the files, by the keys of the Secret.
	FileRanges map[string]hcl.Range
}

// TLSSource says who makes the certificate of an exposure. The zero value is invalid.
type TLSSource string

// The sources of certificates.
const (
	TLSGenerated TLSSource = "generated" // kolla and its CA
	TLSSecret    TLSSource = "secret"    // others, in a Secret of the cluster
	TLSFiles     TLSSource = "files"     // others, in files beside the configuration
	TLSIssued    TLSSource = "issued"    // cert-manager, which kolla asks for it
)

// Issuer is the issuer of cert-manager that signs the certificate of an exposure. kolla makes a
// Certificate (cert-manager.io) with the name of the Secret.
type Issuer struct {
	Kind, Name string // "Issuer" or "ClusterIssuer"
	// DNSNames and IPAddresses are added to the names and addresses of the exposure.
	DNSNames, IPAddresses []string
	Algorithm             string // of the key
	Days, RenewBefore     int    // of the certificate; 0: cert-manager decides
	// Deferred are the data that must be read before the request is known.
	Deferred []string
	Range    hcl.Range // place of the name
}

// ByOthers reports whether others make the Secret. Only the cluster knows its content.
func (t *TLS) ByOthers() bool { return t.Source == TLSSecret || t.Source == TLSIssued }

// Place returns the place in the configuration that a key of the Secret comes from.
func (t *TLS) Place(key string) hcl.Range {
	if at, ok := t.FileRanges[key]; ok {
		return at
	}
	if t.SecretRange.Filename != "" {
		return t.SecretRange
	}
	return t.Range
}

// Hosts returns the names and addresses at which clients use TLS. The certificate of the exposure has to
// cover them. If each port has a name, it returns those of all services.
func (c *Config) Hosts(x *Exposure) []string {
	if x.Mode != ModeIngress && x.Mode != ModeGateway {
		if host := x.Host(); host != "" {
			return []string{host}
		}
		return nil
	}
	var out []string
	for i := range c.Services {
		s := &c.Services[i]
		for _, p := range s.Ports {
			if x.Domain != "" && s.Exposure == x.Name && p.Exposed && x.Encrypts(p) {
				out = append(out, x.Entry(s.Name, s.Ports, p).Host)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Covers reports whether one of the names of a certificate is a host name, or a wildcard for it.
func Covers(names []string, host string) bool {
	_, domain, _ := strings.Cut(host, ".")
	return slices.Contains(names, host) || slices.Contains(names, "*."+domain)
}

// Encrypts reports whether the exposure encrypts the connections of clients to a port.
func (x *Exposure) Encrypts(p Port) bool { return x != nil && x.TLS != nil && p.TLS && !p.UDP }

// Scheme returns the beginning of a URL of a port for clients outside. The exposure may be nil.
func (x *Exposure) Scheme(p Port) string {
	if x.Encrypts(p) {
		return "https://"
	}
	return p.Scheme()
}

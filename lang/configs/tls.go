package configs

import "github.com/hashicorp/hcl/v2"

// TLS is the encryption of an exposure towards clients. The certificate, its key and the certificate of
// the CA are in a Secret of type kubernetes.io/tls in the namespace of the cloud, under the keys
// KeyCertificate, KeyKey and KeyCA.
type TLS struct {
	Source TLSSource
	// Secret is the name of the Secret.
	Secret string
	// Hosts are the names and addresses that clients use. The certificate has to cover them.
	Hosts []string
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
)

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

// Encrypts reports whether the exposure encrypts the connections of clients to a port.
func (x *Exposure) Encrypts(p Port) bool { return x != nil && x.TLS != nil && p.TLS && !p.UDP }

// Scheme returns the beginning of a URL of a port for clients outside. The exposure may be nil.
func (x *Exposure) Scheme(p Port) string {
	if x.Encrypts(p) {
		return "https://"
	}
	return p.Scheme()
}

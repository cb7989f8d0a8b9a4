// Package certificate has the types of requests for certificates.
package certificate

import "github.com/go-acme/lego/v5/certcrypto"

// Resource is a certificate with its key.
type Resource struct {
	ID          string
	Domains     []string
	PrivateKey  []byte
	Certificate []byte
}

// ObtainRequest asks for a certificate.
type ObtainRequest struct {
	Domains, EmailAddresses  []string
	Bundle, EnableCommonName bool
	Profile, PreferredChain  string
	KeyType                  certcrypto.KeyType
}

// RenewOptions are the options of a renewal.
type RenewOptions struct {
	EmailAddresses           []string
	Bundle, EnableCommonName bool
	Profile, PreferredChain  string
}

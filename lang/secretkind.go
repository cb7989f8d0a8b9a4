package lang

import "slices"

// secretKind is one kind of secrets.
type secretKind struct {
	// keys are those of the Secret in the cluster; nil: they depend on arguments.
	keys []string
	// values are what expressions read, and the key of each.
	values map[string]string
	// arguments are those that only some kinds have.
	arguments []string
}

// Keys of the Secrets in the cluster, by the names that Kubernetes itself and
// cert-manager use.
const (
	KeyValue       = "value"
	KeyPrivate     = "ssh-privatekey"
	KeyPublic      = "ssh-publickey"
	KeyCertificate = "tls.crt"
	KeyKey         = "tls.key" // private key of the certificate
	KeyCA          = "ca.crt"  // certificate of who signed it
)

var (
	oneValue  = map[string]string{"value": KeyValue}
	ofKeyPair = []string{"common_name", "validity_days", "renew_before", "algorithm"}
)

// secretKinds are the kinds of secrets.
var secretKinds = map[string]secretKind{
	"password": {keys: []string{KeyValue}, values: oneValue, arguments: []string{"length"}},
	"hex":      {keys: []string{KeyValue}, values: oneValue, arguments: []string{"length"}},
	"base64":   {keys: []string{KeyValue}, values: oneValue, arguments: []string{"length"}},
	"uuid":     {keys: []string{KeyValue}, values: oneValue},
	"fernet":   {arguments: []string{"count", "keys"}},
	"ssh": {
		keys:      []string{KeyPrivate, KeyPublic},
		values:    map[string]string{"private_key": KeyPrivate, "public_key": KeyPublic},
		arguments: []string{"algorithm"},
	},
	"x509-ca": {
		keys:      []string{KeyCertificate, KeyKey},
		values:    map[string]string{"certificate": KeyCertificate, "key": KeyKey},
		arguments: ofKeyPair,
	},
	"x509": {
		keys:      []string{KeyCA, KeyCertificate, KeyKey},
		values:    map[string]string{"certificate": KeyCertificate, "key": KeyKey, "ca_certificate": KeyCA},
		arguments: slices.Concat(ofKeyPair, []string{"ca", "dns_names", "ip_addresses", "usages"}),
	},
}

const defaultValidity = 365 // days, of a certificate

const defaultCAValidity = 3650 // days, of the certificate of a CA

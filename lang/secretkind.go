package lang

import "slices"

// secretKind describes one kind of secrets.
type secretKind struct {
	// keys are the keys of the Secret in the cluster. They are nil if they depend on arguments.
	keys []string
	// values maps the attributes that expressions read to keys.
	values map[string]string
	// arguments are the arguments that not all kinds have.
	arguments []string
}

// Keys of the Secrets in the cluster. Kubernetes and cert-manager use the same names.
const (
	KeyValue       = "value"
	KeyPrivate     = "ssh-privatekey"
	KeyPublic      = "ssh-publickey"
	KeyCertificate = "tls.crt"
	KeyKey         = "tls.key" // private key of the certificate
	KeyCA          = "ca.crt"  // certificate of the issuer
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

const (
	defaultValidity   = 365  // days, of a certificate
	defaultCAValidity = 3650 // days, of the certificate of a CA
)

package lang

import (
	"slices"

	"kolla.openstack.org/kolla/lang/configs"
)

// secretKind describes one kind of secrets.
type secretKind struct {
	// keys are the keys of the Secret in the cluster. They are nil if they depend on arguments.
	keys []string
	// values maps the attributes that expressions read to keys.
	values map[string]string
	// arguments are the arguments that not all kinds have.
	arguments []string
}

var (
	oneValue  = map[string]string{"value": configs.KeyValue}
	ofKeyPair = []string{"common_name", "validity_days", "renew_before", "algorithm"}
)

// secretKinds are the kinds of secrets.
var secretKinds = map[string]secretKind{
	"password": {keys: []string{configs.KeyValue}, values: oneValue, arguments: []string{"length"}},
	"hex":      {keys: []string{configs.KeyValue}, values: oneValue, arguments: []string{"length"}},
	"base64":   {keys: []string{configs.KeyValue}, values: oneValue, arguments: []string{"length"}},
	"uuid":     {keys: []string{configs.KeyValue}, values: oneValue},
	"fernet":   {arguments: []string{"count", "keys"}},
	"ssh": {
		keys:      []string{configs.KeyPrivate, configs.KeyPublic},
		values:    map[string]string{"private_key": configs.KeyPrivate, "public_key": configs.KeyPublic},
		arguments: []string{"algorithm"},
	},
	"x509-ca": {
		keys:      []string{configs.KeyCertificate, configs.KeyKey},
		values:    map[string]string{"certificate": configs.KeyCertificate, "key": configs.KeyKey},
		arguments: ofKeyPair,
	},
	"x509": {
		keys:      []string{configs.KeyCA, configs.KeyCertificate, configs.KeyKey},
		values:    map[string]string{"certificate": configs.KeyCertificate, "key": configs.KeyKey, "ca_certificate": configs.KeyCA},
		arguments: slices.Concat(ofKeyPair, []string{"ca", "dns_names", "ip_addresses", "usages"}),
	},
}

const (
	defaultValidity   = 365  // days, of a certificate
	defaultCAValidity = 3650 // days, of the certificate of a CA
)

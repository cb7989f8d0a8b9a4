package schema

import (
	"slices"

	"kolla.openstack.org/kolla/lang/schema/forms"
)

// kindNames are the kinds of secrets, in the order of their descriptions.
var kindNames = []string{"password", "hex", "base64", "uuid", "fernet", "ssh", "x509-ca", "x509"}

// KeyAlgorithms are the algorithms of key pairs. The first is the default for ssh, the second
// for certificates.
var KeyAlgorithms = []string{"ed25519", "ecdsa", "rsa"}

const (
	defaultRenewal = 30 // days before the end
	maxValidity    = 36500
)

// KeyUsages are the purposes of a certificate.
var KeyUsages = []string{"server", "client"}

// GeneratorAttributes describe a generated value.
var GeneratorAttributes = []Attribute{
	{Name: "kind", Type: TypeString, Default: "password", OneOf: kindNames, Doc: "Kind of the value. password: letters and digits. hex: hexadecimal digits. base64: random bytes in URL-safe base64; 32 bytes are a Fernet key. uuid: a UUID. fernet: a repository of keys, named 0 and up. ssh: a key pair. x509-ca: a certificate authority. x509: a certificate that an authority signs."},
	{Name: "length", Type: TypeNumber, Default: 32, Min: 8, Max: 1024, Doc: "Number of characters of a password, or of bytes of a hex or base64 value."},
	{Name: "count", Type: TypeNumber, Default: 3, Min: 1, Max: 64, Doc: "Number of keys of a fernet repository: 0 is staged, the highest one is the primary key, and the others are former primary keys."},
	{Name: "rotate", Type: TypeNumber, Min: 1, Max: maxValidity, Doc: "fernet: age of the keys in days from which a plan rotates them. The staged key becomes the primary one, a new key is staged, and the oldest key is dropped. By default only -rotate of plan and apply does this."},
	{Name: "keep", Type: TypeList, Form: forms.Plain, Doc: `fernet: how long a former primary key has to stay, because valid data are encrypted with it: the sum of a list of seconds, "3600", and options of config files of the service, "keystone.conf/token/expiration". kolla refuses rotations that would drop a key earlier.`},
	{Name: "algorithm", Type: TypeString, OneOf: KeyAlgorithms, Doc: "Type of the keys: for ssh ed25519 by default, for x509 ecdsa (P-256). rsa keys have 3072 bits."},
	{Name: "ca", Type: TypeSecret, Doc: "x509: the secret of kind x509-ca that signs the certificate, as secret.NAME."},
	{Name: "common_name", Type: TypeString, Doc: "x509: common name of the subject; by default the first of dns_names, or else the name that the Secret has when it is made."},
	{Name: "dns_names", Type: TypeList, Form: forms.HostPattern, Doc: "x509: DNS names of the certificate."},
	{Name: "ip_addresses", Type: TypeList, Form: forms.IP, Doc: "x509: IP addresses of the certificate."},
	{Name: "validity_days", Type: TypeNumber, Min: 1, Max: maxValidity, Doc: "x509: validity in days; by default 365, for a CA 3650, and never longer than its CA."},
	{Name: "renew_before", Type: TypeNumber, Default: defaultRenewal, Min: 1, Max: maxValidity, Doc: "x509: number of days before its end from which a plan renews the certificate."},
	{Name: "usages", Type: TypeList, OneOf: KeyUsages, Doc: `x509: use of the certificate, "server" or "client" or both; by default ["server"].`},
}

// lossAttribute is the consequence of losing the values.
var lossAttribute = Attribute{Name: "loss", Type: TypeString, Doc: "Consequence if somebody deletes the values in the cluster and kolla makes new ones, as the end of a sentence. A plan shows it."}

// GivenAttribute marks a secret of a definition that each service has to give.
var GivenAttribute = Attribute{Name: "given", Type: TypeBool, Default: false, Doc: "Whether kolla never generates the value, because it exists already: a licence, a password of a directory. A service then says where it comes from."}

// SourceAttributes name the source of a value that is not generated.
var SourceAttributes = []Attribute{
	{Name: "from_env", Type: TypeString, Form: forms.Plain, Doc: "Name of the environment variable of kolla that holds the value."},
	{Name: "from_file", Type: TypeString, Form: forms.Plain, Doc: "File with the value, relative to the configuration's directory. kolla drops a line break at its end."},
	{Name: "from_secret", Type: TypeMap, Form: forms.Plain, Doc: `A Secret of the cluster that somebody else makes: { name = "...", namespace = "...", key = "..." }. The default of namespace is the cloud's. Without key, kolla takes all keys of the kind under their own names.`},
	{Name: "value", Type: TypeText, Doc: "The value, from a sensitive variable."},
}

// SecretReadings are the attributes of a secret that expressions can read.
var SecretReadings = []Reading{
	{"name", "Name of the Secret in the cluster."},
	{"value", "The value: of a password, hex, base64 or uuid."},
	{"keys", "The keys of fernet, as a list: the primary one first, and the staged one last."},
	{"private_key", "The private key: of ssh."},
	{"public_key", "The public key: of ssh."},
	{"certificate", "The certificate: of x509-ca and x509."},
	{"key", "Its private key: of x509-ca and x509."},
	{"ca_certificate", "The certificate of its CA: of x509."},
}

const readAs = "It is read as secret.NAME.name, which is the name of the Secret in the cluster; by kind also as .value, as .keys (fernet), as .private_key and .public_key (ssh), as .certificate and .key (x509-ca), and .ca_certificate besides (x509)."

// SecretType describes the block `secret` of a definition or a service.
var SecretType = &BlockType{
	Name: "secret", Label: "secret", LabelForm: forms.Name,
	Doc: `A value that lives only in the cluster. kolla generates it once, at apply, unless from_env, from_file, from_secret or value gives its source. In a service, secret "db-NAME" stands for the password of database NAME. ` + readAs,
	Example: `definition "status" {
  secret "session" {
    kind   = "hex"
    length = 32
    loss   = "everybody has to log in again"
  }

  secret "keys" {
    kind   = "fernet"
    count  = 3
    rotate = 30
    keep   = ["3600", "status.conf/session/lifetime"]
  }

  config "status.conf" {
    path   = "/etc/status/status.conf"
    values = { session = { lifetime = 86400 } }
  }

  secret "licence" {
    given = true
  }
}

service "status" {
  secret "licence" {
    from_file = "licence.txt"
  }
}
`,
	ReadAs:       "secret.NAME",
	Reads:        SecretReadings,
	Attributes:   conditional(slices.Concat(GeneratorAttributes, []Attribute{GivenAttribute, lossAttribute}, SourceAttributes)),
	Alternatives: [][]string{{"from_env"}, {"from_file"}, {"from_secret"}, {"value"}},
}

// SharedGeneratorAttributes returns the GeneratorAttributes of a block outside of services. There
// count is the number of instances, so the number of keys is called keys.
func SharedGeneratorAttributes() []Attribute {
	out := slices.Clone(GeneratorAttributes)
	for i := range out {
		if out[i].Name == "count" {
			out[i].Name = "keys"
		}
	}
	return out
}

// SharedSecretType describes the block `secret` at the top of a file.
var SharedSecretType = &BlockType{
	Name: "secret", Label: "secret", LabelForm: forms.Name,
	Doc: "A value that lives only in the cluster, in the Secret of the block's name, and that any service can use. kolla generates it once, at apply, unless from_env, from_file, from_secret or value gives its source. " + readAs,
	Example: `secret "ca" {
  kind          = "x509-ca"
  common_name   = "Example cloud"
  validity_days = 3650
}

secret "api-tls" {
  kind         = "x509"
  ca           = secret.ca
  algorithm    = "ecdsa"
  dns_names    = ["cloud.example.org", service.keystone.host]
  ip_addresses = [exposure.public.vip]
  usages       = ["server"]
  renew_before = 30
}

secret "rotating" {
  kind   = "fernet"
  keys   = 3
  rotate = 30
  keep   = ["86400"]
}

# Values that others give: one file for each region, a variable of kolla's own
# environment, a Secret that is in the cluster, a sensitive variable.
secret "registry" {
  for_each  = toset(["east", "west"])
  from_file = "files/${each.key}.password"
}

secret "smtp" {
  from_env   = "SMTP_PASSWORD"
  name       = "mail-password"
  depends_on = [manifest.vault]
}

secret "ldap" {
  from_secret = { name = "ldap", namespace = "directory", key = "password" }
}

secret "given" {
  value = var.password
}

manifest "vault" {
  files = ["manifests/*.yaml"]
}
`,
	ReadAs: "secret.NAME",
	Reads:  SecretReadings,
	Attributes: withRepetition(slices.Concat(SharedGeneratorAttributes(), []Attribute{lossAttribute}, SourceAttributes, []Attribute{
		NameAttribute,
		{Name: "depends_on", Type: TypeReferences, Doc: "Blocks that must be ready before kolla reads or makes the value."},
	})),
	Blocks: []*BlockType{PlainLifecycleType},
}

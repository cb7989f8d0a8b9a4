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

// kindNames are the kinds in the order in which they are explained.
var kindNames = []string{"password", "hex", "base64", "uuid", "fernet", "ssh", "x509-ca", "x509"}

// algorithms are those of key pairs; the first is the default one of ssh, the second
// of certificates.
var algorithms = []string{"ed25519", "ecdsa", "rsa"}

const (
	defaultValidity   = 365  // days, of a certificate
	defaultCAValidity = 3650 // days, of the certificate of a CA
	defaultRenewal    = 30   // days before the end
	maxValidity       = 36500
)

var usages = []string{"server", "client"}

// generatorAttributes say what is generated.
var generatorAttributes = []Attribute{
	{Name: "kind", Type: TypeString, Default: "password", OneOf: kindNames, Doc: "password: letters and digits. hex: hexadecimal digits. base64: random bytes in URL-safe base64; 32 are a key of Fernet. uuid. fernet: a repository of keys, named 0 and up. ssh: a key pair. x509-ca: a certificate authority of its own. x509: a certificate that one signs."},
	{Name: "length", Type: TypeNumber, Default: 32, Min: 8, Max: 1024, Doc: "Characters of a password, bytes of a hex or base64 value."},
	{Name: "count", Type: TypeNumber, Default: 3, Min: 1, Max: 64, Doc: "Keys of a fernet repository."},
	{Name: "algorithm", Type: TypeString, OneOf: algorithms, Doc: "Of the keys of ssh, by default ed25519, and of x509, by default ecdsa (P-256). rsa has 3072 bits."},
	{Name: "ca", Type: TypeSecret, Doc: "x509: the secret of kind x509-ca that signs it, as in secret.NAME."},
	{Name: "common_name", Type: TypeString, Doc: "x509: name in the subject; by default the first of dns_names, or the name that the Secret has when it is made."},
	{Name: "dns_names", Type: TypeList, Form: formHostPattern, Doc: "x509: names that the certificate is for."},
	{Name: "ip_addresses", Type: TypeList, Form: formIP, Doc: "x509: addresses that the certificate is for."},
	{Name: "validity_days", Type: TypeNumber, Min: 1, Max: maxValidity, Doc: "x509: how many days it is valid; by default 365, of a CA 3650, and never longer than its CA."},
	{Name: "renew_before", Type: TypeNumber, Default: defaultRenewal, Min: 1, Max: maxValidity, Doc: "x509: from how many days before its end on a plan renews it."},
	{Name: "usages", Type: TypeList, OneOf: usages, Doc: `x509: what it is for, "server" or "client" or both; by default ["server"].`},
}

var lossAttribute = Attribute{Name: "loss", Type: TypeString, Doc: "What follows when somebody deletes the values in the cluster and new ones are made, as the end of a sentence. A plan says it."}

var givenAttribute = Attribute{Name: "given", Type: TypeBool, Default: false, Doc: "Whether the value is never generated, because somebody else has it already: a licence, a password of a directory. A service then says where it comes from."}

// sourceAttributes say where values come from that are not generated.
var sourceAttributes = []Attribute{
	{Name: "from_env", Type: TypeString, Form: formPlain, Doc: "Name of an environment variable of kolla's own that holds the value."},
	{Name: "from_file", Type: TypeString, Form: formPlain, Doc: "File that holds the value, relative to the configuration's directory. A line break at its end is left out."},
	{Name: "from_secret", Type: TypeMap, Form: formPlain, Doc: `A Secret of the cluster that somebody else makes: { name = "...", namespace = "...", key = "..." }. Without a namespace it is in the cloud's. Without a key all keys of the kind are taken under their own names.`},
	{Name: "value", Type: TypeText, Doc: "The value, from a sensitive variable."},
}

// secretReadings are what expressions read of a secret.
var secretReadings = []Reading{
	{"name", "Name of the Secret in the cluster."},
	{"value", "The value: of a password, hex, base64 or uuid."},
	{"private_key", "The private key: of ssh."},
	{"public_key", "The public key: of ssh."},
	{"certificate", "The certificate: of x509-ca and x509."},
	{"key", "Its private key: of x509-ca and x509."},
	{"ca_certificate", "The certificate of its CA: of x509."},
}

const readAs = "It is read as secret.NAME.name, which is the name of the Secret in the cluster; by kind also as .value, as .private_key and .public_key (ssh), as .certificate and .key (x509-ca), and .ca_certificate besides (x509)."

var secretType = &BlockType{
	Name: "secret", Label: "secret", LabelForm: formName,
	Doc: "A value that lives only in the cluster. It is generated once, at apply, unless one of from_env, from_file, from_secret and value says where it comes from. In a service, secret \"db-NAME\" says that of the password of database NAME. " + readAs,
	Example: `definition "status" {
  secret "session" {
    kind   = "hex"
    length = 32
    loss   = "everybody has to log in again"
  }

  secret "keys" {
    kind  = "fernet"
    count = 3
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
	Reads:        secretReadings,
	Attributes:   conditional(slices.Concat(generatorAttributes, []Attribute{givenAttribute, lossAttribute}, sourceAttributes)),
	Alternatives: [][]string{{"from_env"}, {"from_file"}, {"from_secret"}, {"value"}},
}

// sharedGeneratorAttributes are those of blocks that can be repeated, where count says
// how often.
func sharedGeneratorAttributes() []Attribute {
	out := slices.Clone(generatorAttributes)
	for i := range out {
		if out[i].Name == "count" {
			out[i].Name = "keys"
		}
	}
	return out
}

var sharedSecretType = &BlockType{
	Name: "secret", Label: "secret", LabelForm: formName,
	Doc: "A value that lives only in the cluster, in the Secret of the block's name, and that any service can use. It is generated once, at apply, unless one of from_env, from_file, from_secret and value says where it comes from. " + readAs,
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
  kind = "fernet"
  keys = 3
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
	Reads:  secretReadings,
	Attributes: withRepetition(slices.Concat(sharedGeneratorAttributes(), []Attribute{lossAttribute}, sourceAttributes, []Attribute{
		nameAttribute,
		{Name: "depends_on", Type: TypeReferences, Doc: "What must be ready before the value is read or made."},
	})),
	Blocks: []*BlockType{plainLifecycleType},
}

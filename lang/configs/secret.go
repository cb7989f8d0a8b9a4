package configs

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/mark"
)

// Keys of the Secrets in the cluster. Kubernetes and cert-manager use the same names.
const (
	KeyValue       = "value"
	KeyPrivate     = "ssh-privatekey"
	KeyPublic      = "ssh-publickey"
	KeyCertificate = "tls.crt"
	KeyKey         = "tls.key" // private key of the certificate
	KeyCA          = "ca.crt"  // certificate of the issuer
)

// Secret is a value, or a few that belong together, that lives only in the cluster.
type Secret struct {
	Name      string
	Kind      string       // "password", "hex", "base64", "uuid", "fernet", "ssh", "x509-ca", "x509"; empty: not known yet
	Length    int          // characters of a password, bytes of a hex or base64 value
	Count     int          // fernet: number of keys, named "0".."Count-1"
	Algorithm string       // of key pairs: "ed25519", "ecdsa", "rsa"
	Cert      *Certificate // x509-ca and x509
	Keys      []string     // of the Secret in the cluster, sorted; none: not known yet
	// Source is where the values come from; nil: kolla generates them once, at apply.
	Source *SecretSource
	Loss   string // what follows when the values are lost; may be empty
	Range  hcl.Range
}

// SharedSecret is a secret that stands beside the services. Its Secret in the cluster
// has its name.
type SharedSecret struct {
	Block string // address
	Secret
	Needs     []string // as of a Service
	Reasons   []Reason // one for each of Needs
	Lifecycle Lifecycle
}

// Certificate says what a certificate is made for.
type Certificate struct {
	CA          *SecretRef // its certificate; nil: self-signed, and a CA itself
	CommonName  string     // empty: the first of the names, or what its Secret is called
	DNSNames    []string
	IPAddresses []string
	Days        int // that it is valid
	RenewBefore int // days before its end from which on it is renewed
	Usages      []string
}

// SecretSource is where a value comes from that is not generated. Exactly one of Env,
// File, Existing and Value is set. As long as it is not known which environment variable,
// file or Secret it is, that is a Value that is not known.
type SecretSource struct {
	Env      string // name of an environment variable of kolla's
	File     string // relative to the configuration's directory
	Existing *ExistingSecret
	Value    Text
	Range    hcl.Range
}

// ExistingSecret is a Secret of the cluster that is not kolla's.
type ExistingSecret struct {
	Name      string
	Namespace string
	Key       string // empty: all keys of the kind
}

// SecretRef names one value of a secret.
type SecretRef struct {
	Service string `json:"service"` // name of the service whose definition declares it; empty: it stands beside the services
	Secret  string `json:"secret"`  // name of the secret block; "db-NAME" for a database's password
	Key     string `json:"key"`     // key in the Kubernetes Secret
	// Within is where in a text of another language the value stands, as jsonencode and
	// yamlencode say; see lang/escape.
	Within string `json:"within,omitempty"`
}

// public reports whether everybody may see what is under the key.
func (r SecretRef) Public() bool {
	return slices.Contains([]string{KeyPublic, KeyCertificate, KeyCA}, r.Key)
}

// Object is the name of the Secret that the value is in.
func (r SecretRef) Object() string {
	if r.Service == "" {
		return r.Secret
	}
	return r.Service + "-" + r.Secret
}

// describe names the secret for the middle of a sentence.
func (r SecretRef) Describe() string {
	if r.Service == "" {
		return fmt.Sprintf("the secret %q", r.Secret)
	}
	return fmt.Sprintf("the generated secret %q of service %q", r.Secret, r.Service)
}

// SecretsIn lists the generated secrets in a value, each once, in order.
func SecretsIn(value cty.Value) []SecretRef {
	_, marks := value.UnmarkDeep()
	var out []SecretRef
	for m := range marks {
		made, ok := m.(mark.Generated)
		if made.Within = ""; ok && !slices.Contains(out, SecretRef(made)) {
			out = append(out, SecretRef(made))
		}
	}
	slices.SortFunc(out, func(a, b SecretRef) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Secret, b.Secret), cmp.Compare(a.Key, b.Key))
	})
	return out
}

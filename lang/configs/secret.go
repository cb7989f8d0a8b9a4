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

// RotatedKeys is the smallest number of keys of a fernet secret that can be rotated: the staged one,
// the primary one, and the one before it.
const RotatedKeys = 3

// Secret is one or more values that are stored in the cluster only.
type Secret struct {
	Name      string
	Kind      string       // "password", "hex", "base64", "uuid", "fernet", "ssh", "x509-ca", "x509"; empty: not known yet
	Length    int          // characters of a password, bytes of a hex or base64 value
	Count     int          // fernet: number of keys, named "0".."Count-1"
	Rotate    int          // fernet: days after which the keys are rotated; 0: only on request
	Keep      []string     // fernet: seconds and options whose sum a former primary key has to stay
	Algorithm string       // of key pairs: "ed25519", "ecdsa", "rsa"
	Cert      *Certificate // x509-ca and x509
	Keys      []string     // of the Secret in the cluster, sorted; none: not known yet
	// Source is the source of the values; nil: the first apply generates them.
	Source *SecretSource
	Loss   string // consequence of losing the values; may be empty
	Range  hcl.Range
}

// SharedSecret is a secret block outside of services. Its Secret in the cluster has the same
// name.
type SharedSecret struct {
	Block string // address
	Secret
	// Exposure is the name of the exposure that has the secret for its TLS; empty: a secret block.
	Exposure  string
	Needs     []string // see Service
	Reasons   []Reason // one for each of Needs
	Lifecycle Lifecycle
}

// Certificate describes a generated certificate.
type Certificate struct {
	CA          *SecretRef // the issuer; nil: a self-signed CA
	CommonName  string     // empty: the first of the names, or the name of its Secret
	DNSNames    []string
	IPAddresses []string
	Days        int // of validity
	RenewBefore int // days before the end of its validity
	Usages      []string
}

// SecretSource is the source of a given value. Exactly one of Env, File, Files, Existing and Value
// is set. If the name of the variable, file or Secret is not known yet, the source is a Value that
// is not known.
type SecretSource struct {
	Env      string            // environment variable of kolla
	File     string            // relative to the configuration's directory
	Files    map[string]string // such files, by the keys of the Secret
	Existing *ExistingSecret
	Value    Text
	Range    hcl.Range
}

// ExistingSecret is a Secret of the cluster that does not belong to kolla.
type ExistingSecret struct {
	Name      string
	Namespace string
	Key       string // empty: all keys of the kind
}

// SecretRef names a value of a secret.
type SecretRef struct {
	Service string `json:"service"` // name of its service; empty: a shared secret
	Secret  string `json:"secret"`  // name of the secret block; "db-NAME" for the password of a database
	Key     string `json:"key"`     // key in the Kubernetes Secret
	// Within is the position of the value in a text of another language, from jsonencode and
	// yamlencode; see lang/escape.
	Within string `json:"within,omitempty"`
}

// Public reports whether the value is a certificate or a public key.
func (r SecretRef) Public() bool {
	return slices.Contains([]string{KeyPublic, KeyCertificate, KeyCA}, r.Key)
}

// Object returns the name of the Secret in the cluster.
func (r SecretRef) Object() string {
	if r.Service == "" {
		return r.Secret
	}
	return r.Service + "-" + r.Secret
}

// Describe names the secret in the middle of a sentence.
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

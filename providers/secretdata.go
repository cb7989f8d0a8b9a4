package providers

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/escape"
)

// SecretData describes one value of a Secret. The value is generated once, or joined from
// literals and from values of other Secrets. Either Generate or Parts is set.
type SecretData struct {
	Generate *Generator `json:"generate,omitempty"`
	Parts    []DataPart `json:"parts,omitempty"`
	// Origin is the source of a given value, "environment variable X"; empty: not described.
	Origin string `json:"origin,omitempty"`
	// Carried: the value is copied from the Secret that had the former name. Parts names
	// that Secret.
	Carried bool `json:"carried,omitempty"`
}

// KindFernet is the kind of a repository of keys.
const KindFernet = "fernet"

// Generator describes a random value. Values that are made together, such as a key pair,
// have the same generator.
type Generator struct {
	Kind      string       `json:"kind"`                  // kind of a configs.Secret
	Length    int          `json:"length,omitempty"`      // characters of a password, bytes of a hex value
	Algorithm string       `json:"algorithm,omitempty"`   // of a key pair: "ed25519", "ecdsa", "rsa"
	Cert      *Certificate `json:"certificate,omitempty"` // x509-ca, x509
	// Renew is the reason why existing values are replaced, "it ends on 2027-01-31", or why the
	// keys of a repository are rotated; empty: they are kept. Digest leaves it out.
	Renew string `json:"renew,omitempty"`
	// Former names the Secret with the key of a CA that is renewed under another name and
	// keeps its key; nil: the CA has its name already, or gets a new key. Digest leaves it
	// out too.
	Former *SecretKey `json:"former,omitempty"`
}

// Certificate describes a certificate.
type Certificate struct {
	Issuer     *SecretKey `json:"issuer,omitempty"` // certificate of the CA; nil: self-signed, and a CA itself
	CommonName string     `json:"common_name"`
	// Unnamed: the common name is not declared, so a certificate with another one is kept.
	Unnamed     bool     `json:"unnamed,omitempty"`
	DNSNames    []string `json:"dns_names,omitempty"`
	IPAddresses []string `json:"ip_addresses,omitempty"`
	Days        int      `json:"days"`         // validity; the CA may end it earlier
	RenewBefore int      `json:"renew_before"` // days before its end
	Usages      []string `json:"usages,omitempty"`
}

// DataPart is one part of a derived value.
type DataPart struct {
	Literal string `json:"literal,omitempty"`
	// Sensitive is a literal from a sensitive variable. It is never written to a disk: in
	// an object from a plan file, Omitted is set instead.
	Sensitive string     `json:"-"`
	Omitted   bool       `json:"omitted,omitempty"`
	From      *SecretKey `json:"from,omitempty"`
	// Place is where the value of From is inserted. The value is escaped for it, or refused.
	Place escape.Place `json:"place,omitempty"`
}

// MarshalJSON replaces a sensitive literal by the mark that it is omitted.
func (p DataPart) MarshalJSON() ([]byte, error) {
	type plain DataPart
	p.Omitted = p.Omitted || p.Sensitive != ""
	return json.Marshal(plain(p))
}

// SecretKey is one value of a Secret in the cluster.
type SecretKey struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Key       string `json:"key"`
}

// String describes the key without its value.
func (k SecretKey) String() string {
	return fmt.Sprintf("Secret %s/%s, key %s,", k.Namespace, k.Name, k.Key)
}

// Values reads the values of a live Secret by key; nil: the Secret does not exist.
type Values func(namespace, name string) map[string][]byte

// ValuesOf decodes the values of a Secret that the server returned.
func ValuesOf(secret *unstructured.Unstructured) map[string][]byte {
	if secret == nil {
		return nil
	}
	encoded, _, err := unstructured.NestedStringMap(secret.Object, "data")
	if err != nil {
		return nil
	}
	values := make(map[string][]byte, len(encoded))
	for key, text := range encoded {
		if value, err := base64.StdEncoding.DecodeString(text); err == nil {
			values[key] = value
		}
	}
	return values
}

// Given reports whether a part of the value came from a sensitive variable.
func (d SecretData) Given() bool {
	return slices.ContainsFunc(d.Parts, func(p DataPart) bool { return p.Sensitive != "" || p.Omitted })
}

// HasData reports whether a value of the object is of a kind.
func (o *Object) HasData(is func(SecretData) bool) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(o.Data)), is)
}

// Incomplete reports whether a sensitive literal is missing because the object was read
// from a plan file.
func (o *Object) Incomplete() bool {
	return o.HasData(func(d SecretData) bool {
		return slices.ContainsFunc(d.Parts, func(p DataPart) bool { return p.Omitted })
	})
}

// Generated reports whether the object is a Secret whose values kolla generates.
func (o *Object) Generated() bool {
	return o.HasData(func(d SecretData) bool { return d.Generate != nil })
}

// Certified reports whether the object is a Secret with a certificate that kolla makes.
func (o *Object) Certified() bool {
	return o.HasData(func(d SecretData) bool { return d.Generate != nil && d.Generate.Cert != nil })
}

// Rotates reports whether the object is a Secret whose keys are rotated: existing keys stay.
func (o *Object) Rotates() bool {
	return o.HasData(func(d SecretData) bool {
		return d.Generate != nil && d.Generate.Kind == KindFernet && d.Generate.Renew != ""
	})
}

// RenewalReason returns the reason why existing values are replaced, as the end of a sentence;
// empty: they are kept.
func (o *Object) RenewalReason() string {
	for _, data := range o.Data {
		if data.Generate != nil && data.Generate.Renew != "" {
			return data.Generate.Renew
		}
	}
	return ""
}

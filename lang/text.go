package lang

import (
	"slices"
	"strings"
)

// Text is a string some parts of which may be secret. Config values, environment
// values and raw files are Text: the parts that are known and public can be shown
// and hashed, the others are only ever resolved on the way to the cluster.
type Text []Part

// Part is one run of a Text: either literal, or the value of a generated secret, or what
// is known only after the apply.
type Part struct {
	Literal   string     `json:"literal,omitempty"`
	Sensitive bool       `json:"sensitive,omitempty"` // Literal must never be shown or stored
	Secret    *SecretRef `json:"secret,omitempty"`    // set: the value is read from the cluster
	// Deferred: the value is known only after the apply, when these data are read.
	Deferred []string `json:"deferred,omitempty"`
}

// SecretRef names one value of a secret.
type SecretRef struct {
	Service string `json:"service"` // name of the service whose definition declares it; empty: it stands beside the services
	Secret  string `json:"secret"`  // name of the secret block; "db-NAME" for a database's password
	Key     string `json:"key"`     // key in the Kubernetes Secret
}

// Plain makes a Text of one public literal.
func Plain(s string) Text {
	if s == "" {
		return nil
	}
	return Text{{Literal: s}}
}

// Secret reports whether any part must be kept from people and disks.
func (t Text) Secret() bool {
	for _, p := range t {
		if p.Sensitive || p.Secret != nil {
			return true
		}
	}
	return false
}

// Refs lists the generated secrets that the text is made of, in order, with repetitions.
func (t Text) Refs() []SecretRef {
	var refs []SecretRef
	for _, p := range t {
		if p.Secret != nil {
			refs = append(refs, *p.Secret)
		}
	}
	return refs
}

// Deferred lists the data that have to be read before the text is known, in order.
func (t Text) Deferred() []string {
	var out []string
	for _, p := range t {
		out = append(out, p.Deferred...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Masked shows the text with every secret part replaced by "(sensitive)", and what is
// not known yet by KnownAfterApply.
func (t Text) Masked() string {
	var b strings.Builder
	for _, p := range t {
		switch {
		case p.Deferred != nil:
			b.WriteString(KnownAfterApply)
		case p.Sensitive || p.Secret != nil:
			b.WriteString("(sensitive)")
		default:
			b.WriteString(p.Literal)
		}
	}
	return b.String()
}

// Join puts texts together with a public separator.
func Join(texts []Text, sep string) Text {
	var out Text
	for i, t := range texts {
		if i > 0 && sep != "" {
			out = append(out, Part{Literal: sep})
		}
		out = append(out, t...)
	}
	return out
}

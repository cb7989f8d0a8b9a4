package configs

import (
	"slices"
	"strings"
)

// Text is a string with parts that may be secret, such as a config value, an environment
// variable or a raw file. Public parts can be shown and hashed. The others get their values on
// the way to the cluster.
type Text []Part

// Secret reports whether a part must not be shown or stored.
func (t Text) Secret() bool {
	return slices.ContainsFunc(t, func(p Part) bool { return p.Sensitive || p.Secret != nil })
}

// Literal joins the parts whose values are known, also sensitive ones. It is for comparisons, and is never shown.
func (t Text) Literal() string {
	var b strings.Builder
	for _, part := range t {
		b.WriteString(part.Literal)
	}
	return b.String()
}

// hidden returns the text with all parts made secret.
func (t Text) hidden() Text {
	out := slices.Clone(t)
	for i := range out {
		out[i].Sensitive = out[i].Secret == nil
	}
	return out
}

// Refs lists the generated secrets of the text, in order, with repetitions.
func (t Text) Refs() []SecretRef {
	var refs []SecretRef
	for _, p := range t {
		if p.Secret != nil {
			refs = append(refs, *p.Secret)
		}
	}
	return refs
}

// Fields lists the fields of the pod in the text, in order.
func (t Text) Fields() []string {
	var out []string
	for _, p := range t {
		if p.Field != "" {
			out = append(out, p.Field)
		}
	}
	return out
}

// Deferred lists the data blocks that have to be read before the text is known, in order.
func (t Text) Deferred() []string {
	var out []string
	for _, p := range t {
		out = append(out, p.Deferred...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Masked returns the text with "(sensitive)" for each secret part, KnownAfterApply for each
// deferred part, and $(FIELD) for each field of the pod.
func (t Text) Masked() string {
	var b strings.Builder
	for _, p := range t {
		switch {
		case p.Deferred != nil:
			b.WriteString(KnownAfterApply)
		case p.Sensitive || p.Secret != nil:
			b.WriteString("(sensitive)")
		case p.Field != "":
			b.WriteString("$(" + p.Field + ")")
		default:
			b.WriteString(p.Literal)
		}
	}
	return b.String()
}

// Part is a part of a Text: a literal, the value of a generated secret, a field of the pod, or
// a value that is known only after the apply.
type Part struct {
	Literal   string     `json:"literal,omitempty"`
	Sensitive bool       `json:"sensitive,omitempty"` // Literal must never be shown or stored
	Secret    *SecretRef `json:"secret,omitempty"`    // set: the value is read from the cluster
	// Field is a value that only the pod knows: "node.name", "node.ip", "pod.name", "pod.ip" or
	// "pod.index". Only Env values have such parts.
	Field string `json:"field,omitempty"`
	// Deferred are the data blocks that have to be read first, after the apply.
	Deferred []string `json:"deferred,omitempty"`
}

// Public reports whether the part is a literal that is not sensitive.
func (p Part) Public() bool {
	return !p.Sensitive && p.Secret == nil && p.Deferred == nil && p.Field == ""
}

// Plain makes a Text of a public literal.
func Plain(s string) Text {
	if s == "" {
		return nil
	}
	return Text{{Literal: s}}
}

// Join joins texts with a public separator.
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

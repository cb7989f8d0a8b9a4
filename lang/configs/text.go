package configs

import (
	"slices"
	"strings"
)

// Text is a string some parts of which may be secret. Config values, environment
// values and raw files are Text: the parts that are known and public can be shown
// and hashed, the others are only ever resolved on the way to the cluster.
type Text []Part

// Secret reports whether any part must be kept from people and disks.
func (t Text) Secret() bool {
	for _, p := range t {
		if p.Sensitive || p.Secret != nil {
			return true
		}
	}
	return false
}

// hidden is the text with no part that may be shown.
func (t Text) hidden() Text {
	out := slices.Clone(t)
	for i := range out {
		out[i].Sensitive = out[i].Secret == nil
	}
	return out
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

// Fields lists what only a pod knows of itself and the text is made of, in order.
func (t Text) Fields() []string {
	var out []string
	for _, p := range t {
		if p.Field != "" {
			out = append(out, p.Field)
		}
	}
	return out
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

// Masked shows the text with every secret part replaced by "(sensitive)", what is not
// known yet by KnownAfterApply, and what only a pod knows by $(FIELD).
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

// Part is one run of a Text: either literal, or the value of a generated secret, or what
// is known only after the apply.
type Part struct {
	Literal   string     `json:"literal,omitempty"`
	Sensitive bool       `json:"sensitive,omitempty"` // Literal must never be shown or stored
	Secret    *SecretRef `json:"secret,omitempty"`    // set: the value is read from the cluster
	// Field is something that only a pod knows of itself: "node.name", "node.ip",
	// "pod.name", "pod.ip" or "pod.index". Only Env values have such parts.
	Field string `json:"field,omitempty"`
	// Deferred: the value is known only after the apply, when these data are read.
	Deferred []string `json:"deferred,omitempty"`
}

// Public reports whether the part is a literal that everybody may see.
func (p Part) Public() bool {
	return !p.Sensitive && p.Secret == nil && p.Deferred == nil && p.Field == ""
}

// Plain makes a Text of one public literal.
func Plain(s string) Text {
	if s == "" {
		return nil
	}
	return Text{{Literal: s}}
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

package lang

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/lang/mark"
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
	// Field is something that only a pod knows of itself: "node.name", "node.ip",
	// "pod.name", "pod.ip" or "pod.index". Only Env values have such parts.
	Field string `json:"field,omitempty"`
	// Deferred: the value is known only after the apply, when these data are read.
	Deferred []string `json:"deferred,omitempty"`
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

// TextOf makes a Text of a string, number or bool: the only way in which values
// that hold secrets, such as a service's outputs, leave the language.
func TextOf(value cty.Value) (Text, error) {
	sensitive := value.HasMark(mark.Sensitive{})
	if !value.IsKnown() && mark.IsDeferred(value) {
		return Text{{Deferred: mark.DeferredBy(value), Sensitive: sensitive}}, nil
	}
	value, _ = value.Unmark()
	if value.IsNull() || !value.IsKnown() || !value.Type().IsPrimitiveType() {
		return nil, fmt.Errorf("a string, number or bool is needed, not %s", kindOf(value))
	}
	return parts(textOf(value), sensitive)
}

// textOf is a string, number or bool as text. That of a whole number is much cheaper
// to find than that of any other.
func textOf(value cty.Value) string {
	if value.Type() == cty.Number {
		if n, accuracy := value.AsBigFloat().Int64(); accuracy == big.Exact {
			return strconv.FormatInt(n, 10)
		}
	}
	value, err := convert.Convert(value, cty.String)
	if err != nil {
		panic(err) // every primitive value has a text
	}
	return value.AsString()
}

// parts splits a string at its tokens. Literals are marked as sensitive if told.
func parts(s string, sensitive bool) (Text, error) {
	var out Text
	err := mark.Split(s,
		func(literal string) { out = append(out, Part{Literal: literal, Sensitive: sensitive}) },
		func(ref mark.Generated) {
			if field := ref.Field(); field != "" {
				out = append(out, Part{Field: field})
				return
			}
			out = append(out, Part{Secret: (*SecretRef)(&ref)})
		},
	)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// SecretsIn lists the generated secrets that a value is made of, each once, in order.
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

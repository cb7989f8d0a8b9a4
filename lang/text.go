package lang

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/mark"
)

// TextOf makes a Text of a string, number or bool: the only way in which values
// that hold secrets, such as a service's outputs, leave the language.
func TextOf(value cty.Value) (configs.Text, error) {
	sensitive := value.HasMark(mark.Sensitive{})
	if !value.IsKnown() && mark.IsDeferred(value) {
		return configs.Text{{Deferred: mark.DeferredBy(value), Sensitive: sensitive}}, nil
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
func parts(s string, sensitive bool) (configs.Text, error) {
	var out configs.Text
	err := mark.Split(s,
		func(literal string) { out = append(out, configs.Part{Literal: literal, Sensitive: sensitive}) },
		func(ref mark.Generated) {
			if field := ref.Field(); field != "" {
				out = append(out, configs.Part{Field: field})
				return
			}
			out = append(out, configs.Part{Secret: (*configs.SecretRef)(&ref)})
		},
	)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// SecretsIn lists the generated secrets that a value is made of, each once, in order.
func SecretsIn(value cty.Value) []configs.SecretRef {
	_, marks := value.UnmarkDeep()
	var out []configs.SecretRef
	for m := range marks {
		made, ok := m.(mark.Generated)
		if made.Within = ""; ok && !slices.Contains(out, configs.SecretRef(made)) {
			out = append(out, configs.SecretRef(made))
		}
	}
	slices.SortFunc(out, func(a, b configs.SecretRef) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Secret, b.Secret), cmp.Compare(a.Key, b.Key))
	})
	return out
}

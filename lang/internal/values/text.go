package values

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/mark"
)

// TextOf makes a Text of a string, number or bool. Values with secrets in them leave the
// language in no other way.
func TextOf(value cty.Value) (configs.Text, error) {
	sensitive := value.HasMark(mark.Sensitive{})
	if !value.IsKnown() && mark.IsDeferred(value) {
		return configs.Text{{Deferred: mark.DeferredBy(value), Sensitive: sensitive}}, nil
	}
	value, _ = value.Unmark()
	if value.IsNull() || !value.IsKnown() || !value.Type().IsPrimitiveType() {
		return nil, fmt.Errorf("a string, number or bool is needed, not %s", KindOf(value))
	}
	return splitTokens(FormatPrimitive(value), sensitive)
}

// FormatPrimitive returns the text of a string, number or bool. Whole numbers take a shorter way,
// because the conversion of others is slow.
func FormatPrimitive(value cty.Value) string {
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

// splitTokens splits a string at its tokens, and marks the literals between as sensitive.
func splitTokens(s string, sensitive bool) (configs.Text, error) {
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

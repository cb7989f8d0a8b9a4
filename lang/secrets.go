package lang

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// The value of a generated secret does not exist yet when expressions are
// evaluated. A token stands for it: a string that names the secret between two
// characters that have no other use, so that templates, join, format, jsonencode
// and the like carry it through unchanged. TextOf turns tokens into parts.
const (
	tokenStart = '\uefe0' // both are private-use characters
	tokenEnd   = '\uefe1'
	tokenRunes = string(tokenStart) + string(tokenEnd)
)

// sensitiveMark is on values that came from sensitive variables.
type sensitiveMark struct{}

// generatedMark is on values that were made from a generated secret.
type generatedMark struct{ ref SecretRef }

// generated reports whether anything in a value was made from a generated secret.
func generated(v cty.Value) bool {
	_, marks := v.UnmarkDeep()
	for mark := range marks {
		if _, ok := mark.(generatedMark); ok {
			return true
		}
	}
	return false
}

// isSensitive reports whether anything in a value came from a sensitive variable.
func isSensitive(v cty.Value) bool {
	_, marks := v.UnmarkDeep()
	_, ok := marks[sensitiveMark{}]
	return ok
}

// ownSensitive reports whether a value itself is sensitive, not only something in it.
func ownSensitive(v cty.Value) bool { return v.HasMark(sensitiveMark{}) }

// token is the value that stands for a generated secret.
func (r SecretRef) token() cty.Value {
	text := string(tokenStart) + r.Service + "/" + r.Secret + "/" + r.Key + string(tokenEnd)
	return cty.StringVal(text).Mark(generatedMark{r})
}

// errComputed says that a value was computed from a generated secret.
var errComputed = errors.New("the value of a generated secret is not known until apply, so it can be put into a text, but nothing can be computed from it")

// parts splits a string at its tokens. Literals are marked as sensitive if told.
func parts(s string, sensitive bool) (Text, error) {
	var out Text
	literal := func(s string) {
		if s != "" {
			out = append(out, Part{Literal: s, Sensitive: sensitive})
		}
	}
	for {
		before, rest, found := strings.Cut(s, string(tokenStart))
		if strings.ContainsRune(before, tokenEnd) {
			return nil, errComputed
		}
		literal(before)
		if !found {
			return out, nil
		}
		name, after, closed := strings.Cut(rest, string(tokenEnd))
		fields := strings.Split(name, "/")
		if !closed || len(fields) != 3 {
			return nil, errComputed
		}
		out = append(out, Part{Secret: &SecretRef{Service: fields[0], Secret: fields[1], Key: fields[2]}})
		s = after
	}
}

// TextOf makes a Text of a string, number or bool: the only way in which values
// that hold secrets, such as a service's outputs, leave the language.
func TextOf(value cty.Value) (Text, error) {
	sensitive := value.HasMark(sensitiveMark{})
	if !value.IsKnown() && deferred(value) {
		return Text{{Deferred: deferredBy(value), Sensitive: sensitive}}, nil
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

// kindOf names the type of a value for a message.
func kindOf(value cty.Value) string {
	switch t := value.Type(); {
	case value.IsNull():
		return "null"
	case t.Equals(roleObject):
		return "a role"
	case t.Equals(exposureObject):
		return "an exposure"
	case t.IsPrimitiveType():
		return "a " + t.FriendlyName()
	case t.IsObjectType() || t.IsMapType():
		return "a map"
	default:
		return "a list"
	}
}

// settled checks and cleans the marks of what an expression evaluated to: what
// is marked as generated afterwards are the strings that hold a token, and only
// those. HCL marks more, such as the result of a conditional one branch of which
// is secret. Marks of sensitive variables stay where they are. What is known only
// after the apply is marked so, and only that: by its own mark, or by those in later.
func settled(value cty.Value, later cty.ValueMarks) (cty.Value, error) {
	bare, marks := value.UnmarkDeepWithPaths()
	marked := false
	var sensitive, waits []cty.PathValueMarks
	for _, m := range marks {
		for mark := range m.Marks {
			switch mark.(type) {
			case deferredMark:
				waits = append(waits, cty.PathValueMarks{Path: m.Path, Marks: cty.NewValueMarks(mark)})
				continue
			case generatedMark:
			default:
				sensitive = append(sensitive, cty.PathValueMarks{Path: m.Path, Marks: cty.NewValueMarks(sensitiveMark{})})
				continue
			}
			marked = true
			v, err := m.Path.Apply(bare)
			if err == nil && (v.Type() == cty.Bool || v.Type() == cty.Number) {
				return cty.DynamicVal, errComputed
			}
			if err == nil && !v.IsKnown() { // it may become the secret
				sensitive = append(sensitive, cty.PathValueMarks{Path: m.Path, Marks: cty.NewValueMarks(sensitiveMark{})})
			}
		}
	}
	var err error
	if len(waits)+len(later) > 0 && !bare.IsWhollyKnown() {
		if bare, err = markDeferred(bare, waits, later); err != nil {
			return cty.DynamicVal, err
		}
	}
	bare, err = cty.Transform(bare, func(_ cty.Path, v cty.Value) (cty.Value, error) { return markTokens(v, marked) })
	if err != nil {
		return cty.DynamicVal, err
	}
	return bare.MarkWithPaths(sensitive), nil
}

// markTokens marks a string that holds tokens. marked says whether a generated
// secret went into the whole value.
func markTokens(v cty.Value, marked bool) (cty.Value, error) {
	if v.IsNull() || !v.IsKnown() {
		return v, nil
	}
	if v.Type().IsObjectType() || v.Type().IsMapType() {
		for it := v.ElementIterator(); it.Next(); {
			if key, _ := it.Element(); strings.ContainsAny(key.AsString(), tokenRunes) {
				return v, errors.New("a key cannot be made from a generated secret")
			}
		}
	}
	if v.Type() != cty.String || !strings.ContainsAny(v.AsString(), tokenRunes) {
		return v, nil
	}
	if !marked {
		return v, errors.New("the characters U+EFE0 and U+EFE1 are reserved")
	}
	text, err := parts(v.AsString(), false)
	if err != nil {
		return v, err
	}
	for _, ref := range text.Refs() {
		v = v.Mark(generatedMark{ref})
	}
	return v, nil
}

// elements are the members of a list, set or tuple; marks of the whole are on
// each of them.
func elements(list cty.Value) []cty.Value {
	list, marks := list.Unmark()
	var out []cty.Value
	for it := list.ElementIterator(); it.Next(); {
		_, v := it.Element()
		out = append(out, v.WithMarks(marks))
	}
	return out
}

// member is an entry of a map or an object.
type member struct {
	key   string
	value cty.Value
}

// members are the entries of a map or an object, in order of keys; marks of the
// whole are on each value.
func members(m cty.Value) []member {
	m, marks := m.Unmark()
	var out []member
	for it := m.ElementIterator(); it.Next(); {
		k, v := it.Element()
		out = append(out, member{k.AsString(), v.WithMarks(marks)})
	}
	return out
}

func isMap(v cty.Value) bool { return v.Type().IsObjectType() || v.Type().IsMapType() }
func isList(v cty.Value) bool {
	return v.Type().IsTupleType() || v.Type().IsListType() || v.Type().IsSetType()
}

// SecretsIn lists the generated secrets that a value is made of, each once, in order.
func SecretsIn(value cty.Value) []SecretRef {
	_, marks := value.UnmarkDeep()
	var out []SecretRef
	for mark := range marks {
		if generated, ok := mark.(generatedMark); ok && !slices.Contains(out, generated.ref) {
			out = append(out, generated.ref)
		}
	}
	slices.SortFunc(out, func(a, b SecretRef) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Secret, b.Secret), cmp.Compare(a.Key, b.Key))
	})
	return out
}

// Hidden reports whether a value itself, not only something in it, must not be shown
// to anybody. One that is only known after the apply need not be hidden.
func Hidden(value cty.Value) bool {
	_, marks := value.Unmark()
	for mark := range marks {
		if _, ok := mark.(deferredMark); !ok {
			return true
		}
	}
	return false
}

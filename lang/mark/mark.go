// Package mark implements the properties of a value besides its content: it must not be shown,
// it is made from a generated secret, or it is known only after the apply. These properties are
// marks of cty, which travel through expressions with the values.
//
// A generated secret has no value when expressions are evaluated. A token takes its place: a
// text that passes through the functions of the language, and that Split finds again. Settle
// corrects the marks after an expression is evaluated, because libraries mark too much and too
// little.
package mark

import (
	"errors"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// The value of a generated secret does not exist yet when expressions are evaluated. A token
// takes its place: a string with the name of the secret between two characters that have no
// other use. Templates, join, format, jsonencode and similar functions keep the token
// unchanged. Split finds the tokens in a string.
const (
	tokenStart = '\uefe0' // both are private-use characters
	tokenEnd   = '\uefe1'
)

// Sensitive marks values that come from sensitive variables.
type Sensitive struct{}

// Generated marks values that are made from a generated secret, and names the secret.
type Generated struct {
	Service string // whose definition declares the secret; empty: it is declared outside of services
	Secret  string // name of the secret block, or the kind of pod field; see Field
	Key     string // one of the secret's values
	// Within is the place of the value in a text of another language; see lang/escape.
	Within string
}

// fields replaces the service in tokens for facts that only a pod knows about itself. No
// service can have this name.
const fields = "@pod"

// Field returns a token for a fact that only a pod knows about itself, such as ip of "node".
func Field(of, name string) Generated { return Generated{Service: fields, Secret: of, Key: name} }

// Field returns the name of a fact that only a pod knows about itself, such as "node.ip". It
// returns an empty text for a secret.
func (g Generated) Field() string {
	if g.Service != fields {
		return ""
	}
	return g.Secret + "." + g.Key
}

// IsGenerated reports whether any part of a value is made from a generated secret.
func IsGenerated(v cty.Value) bool {
	if v.Type().IsPrimitiveType() && !v.IsMarked() {
		return false
	}
	_, marks := v.UnmarkDeep()
	for mark := range marks {
		if _, ok := mark.(Generated); ok {
			return true
		}
	}
	return false
}

// IsSensitive reports whether any part of a value comes from a sensitive variable.
func IsSensitive(v cty.Value) bool {
	_, marks := v.UnmarkDeep()
	_, ok := marks[Sensitive{}]
	return ok
}

// Sensitives calls text with each known string, and each number as text, that comes from a
// sensitive variable. text may be nil.
func Sensitives(v cty.Value, text func(string)) {
	if text == nil || !IsSensitive(v) {
		return
	}
	bare, places := v.UnmarkDeepWithPaths()
	for _, place := range places {
		part, err := place.Path.Apply(bare)
		if _, sensitive := place.Marks[Sensitive{}]; err != nil || !sensitive {
			continue
		}
		_ = cty.Walk(part, func(_ cty.Path, leaf cty.Value) (bool, error) {
			if leaf.IsKnown() && !leaf.IsNull() {
				switch leaf.Type() {
				case cty.String:
					text(leaf.AsString())
				case cty.Number:
					text(leaf.AsBigFloat().Text('f', -1))
				}
			}
			return true, nil
		})
	}
}

// Token returns the value that takes the place of a generated secret.
func (g Generated) Token() cty.Value {
	return cty.StringVal(g.token()).Mark(g)
}

func (g Generated) token() string {
	fields := []string{g.Service, g.Secret, g.Key}
	if g.Within != "" {
		fields = append(fields, g.Within)
	}
	return string(tokenStart) + strings.Join(fields, "/") + string(tokenEnd)
}

// Within returns v with a new place for each of its tokens. The function place gets the string
// that contains a token, and the token's present place, and returns the new one.
func Within(v cty.Value, place func(text, within string) string) (cty.Value, error) {
	return cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		bare, marks := v.Unmark()
		if bare.IsNull() || !bare.IsKnown() || bare.Type() != cty.String || !HasToken(bare.AsString()) {
			return v, nil
		}
		var b strings.Builder
		err := Split(bare.AsString(),
			func(literal string) { b.WriteString(literal) },
			func(ref Generated) {
				ref.Within = place(bare.AsString(), ref.Within)
				b.WriteString(ref.token())
			})
		return cty.StringVal(b.String()).WithMarks(marks), err
	})
}

// ErrComputed means that a value was computed from a generated secret.
var ErrComputed = errors.New("the value of a generated secret is not known until apply, so it can be part of a string, but expressions cannot compute with it")

// Split calls literal with each text between the tokens of a string, and secret with the secret
// of each token, in order. It returns ErrComputed if the string contains a damaged token,
// because something was computed from it.
func Split(s string, literal func(string), secret func(Generated)) error {
	for {
		before, rest, found := strings.Cut(s, string(tokenStart))
		if strings.ContainsRune(before, tokenEnd) {
			return ErrComputed
		}
		if before != "" {
			literal(before)
		}
		if !found {
			return nil
		}
		name, after, closed := strings.Cut(rest, string(tokenEnd))
		fields := strings.Split(name, "/")
		if !closed || len(fields) < 3 || len(fields) > 4 {
			return ErrComputed
		}
		ref := Generated{Service: fields[0], Secret: fields[1], Key: fields[2]}
		if len(fields) == 4 {
			ref.Within = fields[3]
		}
		secret(ref)
		s = after
	}
}

// HasToken reports whether a string contains a token, or a part of one.
func HasToken(s string) bool {
	return strings.ContainsRune(s, tokenStart) || strings.ContainsRune(s, tokenEnd)
}

// Settle checks and corrects the marks of an evaluated value. Afterwards exactly the strings
// that contain a token are marked as generated. HCL marks more, such as the result of a
// conditional with one secret branch. Marks of sensitive variables stay in place. Unknown parts
// get their own Deferred marks, or the marks in later if they have none.
func Settle(value cty.Value, later cty.ValueMarks) (cty.Value, error) {
	bare, marks := value.UnmarkDeepWithPaths()
	marked := false
	var sensitive, waits []cty.PathValueMarks
	for _, m := range marks {
		for mark := range m.Marks {
			switch mark.(type) {
			case Deferred:
				waits = append(waits, cty.PathValueMarks{Path: m.Path, Marks: cty.NewValueMarks(mark)})
				continue
			case Generated:
			default:
				sensitive = append(sensitive, cty.PathValueMarks{Path: m.Path, Marks: cty.NewValueMarks(Sensitive{})})
				continue
			}
			marked = true
			v, err := m.Path.Apply(bare)
			if err == nil && (v.Type() == cty.Bool || v.Type() == cty.Number) {
				return cty.DynamicVal, ErrComputed
			}
			if err == nil && !v.IsKnown() { // the unknown value may become the secret
				sensitive = append(sensitive, cty.PathValueMarks{Path: m.Path, Marks: cty.NewValueMarks(Sensitive{})})
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

// markTokens marks a string that contains tokens. marked reports whether the whole value
// contains a generated secret.
func markTokens(v cty.Value, marked bool) (cty.Value, error) {
	if v.IsNull() || !v.IsKnown() {
		return v, nil
	}
	if v.Type().IsObjectType() || v.Type().IsMapType() {
		for it := v.ElementIterator(); it.Next(); {
			if key, _ := it.Element(); HasToken(key.AsString()) {
				return v, errors.New("a key cannot be made from a generated secret")
			}
		}
	}
	if v.Type() != cty.String || !HasToken(v.AsString()) {
		return v, nil
	}
	if !marked {
		return v, errors.New("the characters U+EFE0 and U+EFE1 are reserved")
	}
	out := v
	if err := Split(v.AsString(), func(string) {}, func(ref Generated) { out = out.Mark(ref) }); err != nil {
		return v, err
	}
	return out, nil
}

// Elements returns the elements of a list, set or tuple. Each of them also gets the marks of
// the whole.
func Elements(list cty.Value) []cty.Value {
	list, marks := list.Unmark()
	var out []cty.Value
	for it := list.ElementIterator(); it.Next(); {
		_, v := it.Element()
		out = append(out, v.WithMarks(marks))
	}
	return out
}

// Member is an entry of a map or an object.
type Member struct {
	Key   string
	Value cty.Value
}

// Members returns the entries of a map or an object, sorted by key. Each value also gets the
// marks of the whole.
func Members(m cty.Value) []Member {
	m, marks := m.Unmark()
	var out []Member
	for it := m.ElementIterator(); it.Next(); {
		k, v := it.Element()
		out = append(out, Member{k.AsString(), v.WithMarks(marks)})
	}
	return out
}

// Hidden reports whether the value itself must not be shown. It ignores marks of the value's
// parts. A value that is only known after the apply need not be hidden.
func Hidden(value cty.Value) bool {
	_, marks := value.Unmark()
	for mark := range marks {
		if _, ok := mark.(Deferred); !ok {
			return true
		}
	}
	return false
}

// Package mark knows what is special about a value besides what it is: that nobody may
// see it, that it is made of a generated secret, or that it is known only after the
// apply. These are marks of cty, which travel through expressions with the values.
//
// A generated secret has no value when expressions are evaluated; a token stands for it,
// a text that the functions of the language carry and Split finds again. Settle puts the
// marks right when an expression is evaluated, because libraries mark too much and too
// little.
package mark

import (
	"errors"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// The value of a generated secret does not exist yet when expressions are
// evaluated. A token stands for it: a string that names the secret between two
// characters that have no other use, so that templates, join, format, jsonencode
// and the like carry it through unchanged. Split takes such a string apart.
const (
	tokenStart = '\uefe0' // both are private-use characters
	tokenEnd   = '\uefe1'
)

// Sensitive is on values that came from sensitive variables.
type Sensitive struct{}

// Generated is on values that were made from a generated secret, and names it.
type Generated struct {
	Service string // whose definition declares it; empty: it stands beside the services
	Secret  string // name of the secret block, or what stands for one
	Key     string // which of its values
	// Within is where in a text of another language the value stands; see lang/escape.
	Within string
}

// fields stands in the place of a service, whose name it cannot be, in tokens of what only
// a pod knows of itself.
const fields = "@pod"

// Field stands for something that only a pod knows of itself, such as ip of "node".
func Field(of, name string) Generated { return Generated{Service: fields, Secret: of, Key: name} }

// Field names what only a pod knows of itself, "node.ip"; empty: it is a secret.
func (g Generated) Field() string {
	if g.Service != fields {
		return ""
	}
	return g.Secret + "." + g.Key
}

// IsGenerated reports whether anything in a value was made from a generated secret.
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

// IsSensitive reports whether anything in a value came from a sensitive variable.
func IsSensitive(v cty.Value) bool {
	_, marks := v.UnmarkDeep()
	_, ok := marks[Sensitive{}]
	return ok
}

// Token is the value that stands for a generated secret.
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

// Within gives the value with all its tokens at a place: place gets the string that holds
// a token, and where the token stands so far.
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

// ErrComputed says that a value was computed from a generated secret.
var ErrComputed = errors.New("the value of a generated secret is not known until apply, so it can be put into a text, but nothing can be computed from it")

// Split calls literal with what stands between the tokens of a string, and secret
// with what the tokens stand for, in order. It is an error if something was computed
// from a token.
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

// HasToken reports whether a string holds a token, or a part of one.
func HasToken(s string) bool {
	return strings.ContainsRune(s, tokenStart) || strings.ContainsRune(s, tokenEnd)
}

// Settle checks and cleans the marks of what an expression evaluated to: what
// is marked as generated afterwards are the strings that hold a token, and only
// those. HCL marks more, such as the result of a conditional one branch of which
// is secret. Marks of sensitive variables stay where they are. What is known only
// after the apply is marked so, and only that: by its own mark, or by those in later.
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
			if err == nil && !v.IsKnown() { // it may become the secret
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

// markTokens marks a string that holds tokens. marked says whether a generated
// secret went into the whole value.
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

// Elements are the members of a list, set or tuple; marks of the whole are on
// each of them.
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

// Members are the entries of a map or an object, in order of keys; marks of the
// whole are on each value.
func Members(m cty.Value) []Member {
	m, marks := m.Unmark()
	var out []Member
	for it := m.ElementIterator(); it.Next(); {
		k, v := it.Element()
		out = append(out, Member{k.AsString(), v.WithMarks(marks)})
	}
	return out
}

// Hidden reports whether a value itself, not only something in it, must not be shown
// to anybody. One that is only known after the apply need not be hidden.
func Hidden(value cty.Value) bool {
	_, marks := value.Unmark()
	for mark := range marks {
		if _, ok := mark.(Deferred); !ok {
			return true
		}
	}
	return false
}

package ansible

import (
	"regexp"
	"slices"
	"strings"
)

// Scope looks variables up in layers, the strongest first.
type Scope []Variables

// Value is the value of a variable, after its references were followed.
type Value struct {
	Variable
	Text string
	// Secret says that the text contains a password.
	Secret bool
	// Unresolved says that the value is an expression, a list or a map, of which Text has nothing.
	Unresolved bool
}

// maxReferences is how many references of a value are followed.
const maxReferences = 50

var (
	// template matches what Jinja replaces.
	template = regexp.MustCompile(`(?s)\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}`)
	// reference matches an expression that names a variable. The filters change no text.
	reference = regexp.MustCompile(`^\{\{-?\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\|\s*(?:bool|int|string|trim)\s*)?-?\}\}$`)
)

// Find returns a variable; ok is false if no layer has it.
func (s Scope) Find(name string) (Variable, bool) {
	for _, layer := range s {
		if v, ok := layer[name]; ok {
			return v, true
		}
	}
	return Variable{}, false
}

// Value returns the value of a variable; ok is false if no layer has it.
func (s Scope) Value(name string) (Value, bool) {
	v, ok := s.Find(name)
	if !ok {
		return Value{}, false
	}
	return s.Expand(v), true
}

// Expand follows the references in the value of a variable.
func (s Scope) Expand(v Variable) Value {
	left := maxReferences
	return s.expand(v, nil, &left)
}

func (s Scope) expand(v Variable, path []string, left *int) Value {
	out := Value{Variable: v, Secret: v.Secret}
	text, ok := v.Text()
	*left--
	if !ok || *left < 0 || slices.Contains(path, v.Name) {
		out.Unresolved = true
		return out
	}
	out.Text = template.ReplaceAllStringFunc(text, func(found string) string {
		name := reference.FindStringSubmatch(found)
		if name == nil {
			out.Unresolved = true
			return ""
		}
		next, known := s.Find(name[1])
		if !known {
			out.Unresolved = true
			return ""
		}
		value := s.expand(next, append(slices.Clip(path), v.Name), left)
		out.Secret, out.Unresolved = out.Secret || value.Secret, out.Unresolved || value.Unresolved
		return value.Text
	})
	if out.Unresolved {
		out.Text = ""
	}
	return out
}

// Bool reads a text as Ansible's filter "bool" does.
func (v Value) Bool() bool {
	switch strings.ToLower(strings.TrimSpace(v.Text)) {
	case "yes", "true", "on", "1", "y", "t":
		return true
	}
	return false
}

// IsExpression reports whether a text has a template of Jinja.
func IsExpression(text string) bool { return template.MatchString(text) }

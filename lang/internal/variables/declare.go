package variables

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// Variable is a declared variable of a module, or a declared input of a definition.
type Variable struct {
	configs.Variable
	Block    *source.Block
	Default  cty.Value // cty.NilVal if the declaration has no default
	Nullable bool      // the value may be null

	constraint cty.Type
	defaults   *typeexpr.Defaults
	literal    bool // a value that comes as text is a string and not an expression
	// broken suppresses the error about a missing value, because an error in the declaration
	// or in the source of the value was reported.
	broken bool
	asked  bool // a person gave the value, and it has the right type
	given  *given
}

// Declare reads the declaration of a variable or an input. The environment knows no names.
// Files are the sources of the configuration.
func Declare(e *eval.Env, files map[string]*hcl.File, b *source.Block) *Variable {
	v := &Variable{
		Variable: configs.Variable{
			Name:        b.Label,
			Description: eval.String(e, b, "description"),
			Type:        "any",
			Sensitive:   eval.Bool(e, b, "sensitive"),
			Range:       b.Header,
		},
		Block:      b,
		constraint: cty.DynamicPseudoType,
		literal:    true,
		Nullable:   eval.Bool(e, b, "nullable"),
	}
	if attr := b.Attributes["type"]; attr != nil {
		constraint, defaults, diags := typeexpr.TypeConstraintWithDefaults(attr.Expr)
		for _, d := range diags {
			explainType(files, d)
		}
		e.Report.Add(diags...)
		v.broken = diags.HasErrors()
		if !v.broken {
			v.constraint, v.defaults = constraint, defaults
			v.Type = source.Text(files, attr.Expr.Range())
			v.literal = constraint == cty.String
		}
	}
	if b.Type == schema.InputType && (schema.ServiceType.Attribute(v.Name) != nil || schema.ServiceType.Block(v.Name) != nil) {
		v.broken = true
		e.Report.Error(b.LabelRange, "Name taken by service blocks", "An input cannot be called %q: in a service block that means something else. Rename it.", v.Name)
	}
	if b.Type != schema.InputType && schema.ModuleType.Attribute(v.Name) != nil {
		e.Report.Error(b.LabelRange, "Name taken by module blocks", "A variable cannot be called %q: in a module block that argument means something else. Rename it.", v.Name)
	}
	if attr := b.Attributes["default"]; attr != nil {
		if v.Sensitive {
			e.Report.Hide(attr.Expr.Range())
		}
		v.Default = e.Value(attr.Expr)
		here := values.Place{Name: "default", Expr: attr.Expr, Key: attr.NameRange, Literal: true}
		if converted, ok := Fit(e.Report, v, v.Default, here, fmt.Sprintf("Unsuitable default of %s %q", b.Type.Label, v.Name), ""); ok {
			v.Default = converted
		} else {
			v.Default = cty.DynamicVal
		}
	}
	return v
}

// typeNames are the words of type expressions.
var typeNames = []string{"any", "bool", "list", "map", "number", "object", "optional", "set", "string", "tuple"}

// explainType improves the detail of an error in a type expression if the source shows the
// mistake.
func explainType(files map[string]*hcl.File, d *hcl.Diagnostic) {
	text := source.Text(files, *d.Subject)
	name := strings.Trim(text, `"`)
	switch {
	case name != text && slices.Contains(typeNames, strings.TrimRight(name, "()")):
		d.Detail = fmt.Sprintf("A type is written without quotes: type = %s.", name)
	case hclsyntax.ValidIdentifier(name) && !slices.Contains(typeNames, name):
		d.Detail = words.WithHint(words.DidYouMean(name, typeNames),
			fmt.Sprintf("There is no type %q. Types are string, number, bool and any, and list(TYPE), set(TYPE), map(TYPE), tuple([TYPE, ...]) and object({ NAME = TYPE }).", name))
	}
}

// MayLack reports whether an error explains why the variable has no value: a broken
// declaration or a misspelt default was reported.
func (v *Variable) MayLack() bool { return v.broken || v.Block.Misspelt("default") }

// HasDefault reports whether the declaration has a default.
func (v *Variable) HasDefault() bool { return v.Default != cty.NilVal }

// convert converts a value to the type of the variable.
func (v *Variable) convert(value cty.Value) (cty.Value, error) {
	if v.defaults != nil {
		value = v.defaults.Apply(value)
	}
	if _, err := budget.SizeOf(value); err != nil {
		return cty.DynamicVal, err
	}
	return budget.Convert(value, v.constraint)
}

// typeAt returns a sentence with the place of the type, for types that are too long to repeat.
func (v *Variable) typeAt() string {
	attr := v.Block.Attributes["type"]
	if attr == nil || v.constraint.IsPrimitiveType() {
		return ""
	}
	return fmt.Sprintf(" The type of the %s is at %s.", v.Block.Type.Label, diag.Position(attr.NameRange))
}

// Fit converts a value to the type of a variable. It reports each part that has another type
// with the summary, and with a detail that starts with before. It warns of attributes without
// effect.
func Fit(report *diag.Reporter, v *Variable, value cty.Value, p values.Place, summary, before string) (converted cty.Value, ok bool) {
	converted, err := v.convert(value)
	if v.Sensitive || value.ContainsMarked() {
		if err != nil {
			report.Error(p.At(), summary, "%s%s must be of type %s. What is wrong is not shown, because the value is sensitive.", before, p.Name, v.Type)
		}
		return converted, err == nil
	}
	found := values.TypeErrors(value, v.constraint, p)
	wrong := 0
	for _, m := range found {
		if m.Surplus {
			report.Warn(m.At, "Unknown attribute", "%s%s.", before, m.Why)
			continue
		}
		wrong++
		report.Error(m.At, summary, "%s%s.%s", before, m.Why, v.typeAt())
	}
	if err != nil && wrong == 0 {
		name := p.Name
		var inside cty.PathError
		if errors.As(err, &inside) {
			name += values.PathText(inside.Path)
		}
		report.Error(p.At(), summary, "%s%s does not fit: %s.%s", before, name, err, v.typeAt())
	}
	return converted, err == nil
}

// Checked returns the value of a variable as expressions read it. If null is not allowed, the
// default replaces it, or else null is an error. A sensitive variable marks its value.
func Checked(report *diag.Reporter, v *Variable, value cty.Value) cty.Value {
	if value.IsKnown() && value.IsNull() && !v.Nullable {
		if v.HasDefault() {
			value = v.Default
		}
		if value.IsKnown() && value.IsNull() {
			report.Error(v.Range, fmt.Sprintf("Variable %q has no value", v.Name), "Its value is null, which it does not allow (nullable = false).")
			value = cty.DynamicVal
		}
	}
	if v.Sensitive {
		value = value.Mark(mark.Sensitive{})
		mark.Sensitives(value, report.Secret)
	}
	return value
}

// Described returns the description of the variable in parentheses, or empty.
func (v *Variable) Described() string {
	if v.Description == "" {
		return ""
	}
	return " (" + strings.TrimSuffix(v.Description, ".") + ")"
}

// Validate checks the conditions of the validation blocks in a scope that knows the value.
// At is the place of the value. Refused collects the messages about answers of a person.
func Validate(e *eval.Env, v *Variable, at hcl.Range, refused map[string]string) {
	for _, b := range eval.Expanded(e, v.Block).All("validation") {
		ok, message := eval.Condition(e, b)
		if ok {
			continue
		}
		if v.asked && message != "" {
			refused[v.Name] = message
		}
		eval.UnmetCondition(e, hcl.DiagError, at, b, fmt.Sprintf("Unsuitable value for %s %q", v.Block.Type.Label, v.Name),
			fmt.Sprintf("%s\n\nThe condition is at %s.", message, diag.Position(b.AttributeRange("condition"))))
	}
}

// SourceRange returns the place of the value of a variable of the root module.
func (v *Variable) SourceRange() hcl.Range {
	switch attr := v.Block.Attributes["default"]; {
	case v.given != nil && v.given.expr != nil:
		return values.Place{Expr: v.given.expr, Key: v.given.at}.At()
	case v.given != nil || attr == nil:
		return v.Range
	default:
		return values.Place{Expr: attr.Expr, Key: attr.NameRange}.At()
	}
}

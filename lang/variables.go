package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
	"kolla.openstack.org/kolla/lang/syntax"
)

// variable is a declared variable on its way to a value.
type variable struct {
	configs.Variable
	block      *source.Block
	constraint cty.Type
	literal    bool // a value that comes as text is taken as it is, not as an expression
	defaults   *typeexpr.Defaults
	fallback   cty.Value // cty.NilVal: there is none
	nullable   bool
	// broken: that it has no value may come from what was reported of its declaration, or
	// of what was to give it one.
	broken bool
	asked  bool // somebody was asked for the value, and it fits the type
	given  *given
}

// answered is the source of what a person said.
const answered = "the answer"

// addVariables makes the nodes of the variables of a module. Those of the root get
// their values from outside, others from the module block.
func (g *graph) addVariables(m *module) {
	for _, b := range m.written.Document.All("variable") {
		m.vars = append(m.vars, g.declare(b))
	}
	if m.written.Call == nil {
		g.giveAll(m.vars)
	}
	for _, v := range m.vars {
		n := &node{id: m.written.Path() + "var." + v.Name, module: m, root: "var", name: v.Name, at: v.Range}
		if m.written.Call != nil && m.written.Call.Attributes[v.Name] != nil {
			n.needs = g.reach(m.parent).edges(m.written.Call.Attributes[v.Name].Expr)
		}
		n.evaluate = func(f *frame) cty.Value {
			if f.parent != nil {
				return g.variableValue(v, g.passedValue(f, v))
			}
			value := g.variableValue(v, g.chosenValue(v))
			g.recordVariable(v, value)
			return value
		}
		g.add(n)
		if len(v.block.All("validation")) > 0 || v.block.HasDynamic {
			needs := append(g.reach(m).blockEdges(v.block), edge{to: n.id, at: v.Range})
			g.add(&node{id: m.written.Path() + "validation." + v.Name, module: m, root: "validation", at: v.Range, needs: needs, evaluate: func(f *frame) cty.Value {
				g.validate(f, v)
				return cty.NilVal
			}})
		}
	}
}

// constant evaluates expressions in which nothing can be referred to.
func (l *loader) constant() *evaluator {
	return &evaluator{report: l.report, decisions: l.decisions, memo: l.memo, scope: newScope(nil), functions: l.functions}
}

// literal evaluates a string that is needed before anything else is evaluated.
func (l *loader) literal(b *source.Block, name string) string {
	attr := b.Attributes[name]
	if attr != nil && len(attr.Expr.Variables()) > 0 {
		l.report.Error(attr.Expr.Range(), fmt.Sprintf("Unsuitable value for %q", name), "It must be a plain string in quotes, because it is read before anything is evaluated.")
		return ""
	}
	return l.constant().string(b, name)
}

func (l *loader) declare(b *source.Block) *variable {
	e := l.constant()
	v := &variable{
		Variable: configs.Variable{
			Name:        b.Label,
			Description: e.string(b, "description"),
			Type:        "any",
			Sensitive:   e.bool(b, "sensitive"),
			Range:       b.Header,
		},
		block:      b,
		constraint: cty.DynamicPseudoType,
		literal:    true,
		nullable:   e.bool(b, "nullable"),
	}
	if attr := b.Attributes["type"]; attr != nil {
		constraint, defaults, diags := typeexpr.TypeConstraintWithDefaults(attr.Expr)
		for _, d := range diags {
			l.aboutType(d)
		}
		l.report.Add(diags...)
		v.broken = diags.HasErrors()
		if !v.broken {
			v.constraint, v.defaults = constraint, defaults
			v.Type = source.Text(l.config.Files, attr.Expr.Range())
			v.literal = constraint == cty.String
		}
	}
	if b.Type == schema.InputType && (schema.ServiceType.Attribute(v.Name) != nil || schema.ServiceType.Block(v.Name) != nil) {
		v.broken = true
		l.report.Error(b.LabelRange, "Name taken by service blocks", "An input cannot be called %q: in a service block that means something else. Rename it.", v.Name)
	}
	if b.Type != schema.InputType && schema.ModuleType.Attribute(v.Name) != nil {
		l.report.Error(b.LabelRange, "Name taken by module blocks", "A variable cannot be called %q: in a module block that argument means something else. Rename it.", v.Name)
	}
	if attr := b.Attributes["default"]; attr != nil {
		if v.Sensitive {
			l.report.Hide(attr.Expr.Range())
		}
		v.fallback = e.value(attr.Expr)
		here := values.Place{Name: "default", Expr: attr.Expr, Key: attr.NameRange, Literal: true}
		if converted, ok := l.fit(v, v.fallback, here, fmt.Sprintf("Unsuitable default of %s %q", b.Type.Label, v.Name), ""); ok {
			v.fallback = converted
		} else {
			v.fallback = cty.DynamicVal
		}
	}
	return v
}

// typeNames are what types are made of.
var typeNames = []string{"any", "bool", "list", "map", "number", "object", "optional", "set", "string", "tuple"}

// aboutType says more about an error in a type, if what stands there shows it.
func (l *loader) aboutType(d *hcl.Diagnostic) {
	text := source.Text(l.config.Files, *d.Subject)
	name := strings.Trim(text, `"`)
	switch {
	case name != text && slices.Contains(typeNames, strings.TrimRight(name, "()")):
		d.Detail = fmt.Sprintf("A type is written without quotes: type = %s.", name)
	case hclsyntax.ValidIdentifier(name) && !slices.Contains(typeNames, name):
		d.Detail = words.WithHint(words.DidYouMean(name, typeNames),
			fmt.Sprintf("There is no type %q. Types are string, number, bool and any, and list(TYPE), set(TYPE), map(TYPE), tuple([TYPE, ...]) and object({ NAME = TYPE }).", name))
	}
}

// convert makes a value fit the variable's type.
func (v *variable) convert(value cty.Value) (cty.Value, error) {
	if v.defaults != nil {
		value = v.defaults.Apply(value)
	}
	return convert.Convert(value, v.constraint)
}

// variableValue is the value of a variable: null only if it may be, and marked if
// it is sensitive.
func (l *loader) variableValue(v *variable, value cty.Value) cty.Value {
	if value.IsKnown() && value.IsNull() && !v.nullable {
		if v.fallback != cty.NilVal {
			value = v.fallback
		}
		if value.IsKnown() && value.IsNull() {
			l.report.Error(v.Range, fmt.Sprintf("Variable %q has no value", v.Name), "Its value is null, which it does not allow (nullable = false).")
			value = cty.DynamicVal
		}
	}
	if v.Sensitive {
		value = value.Mark(mark.Sensitive{})
	}
	return value
}

// chosenValue is the value from the strongest source, converted.
func (l *loader) chosenValue(v *variable) cty.Value {
	if v.given == nil && v.fallback != cty.NilVal {
		return v.fallback
	}
	if v.given == nil {
		if v.broken || l.varsBroken || v.block.Misspelt("default") {
			return cty.DynamicVal
		}
		if l.options.Unset {
			l.config.Unset = append(l.config.Unset, v.Name)
			return cty.UnknownVal(v.constraint.WithoutOptionalAttributesDeep()).Mark(mark.Deferred{By: "var." + v.Name, Unset: true})
		}
		return l.askedValue(v)
	}
	return l.givenValue(v)
}

// askedValue asks for a value until it fits the type of the variable.
func (l *loader) askedValue(v *variable) cty.Value {
	for {
		if !l.prompt(v) {
			return cty.DynamicVal
		}
		attempt := &loader{report: diag.New(), decisions: newDecisions(), functions: l.functions, memo: l.memo, config: l.config}
		value := attempt.givenValue(v)
		if !attempt.report.All().HasErrors() {
			v.asked = true
			l.report.Add(attempt.report.All()...)
			return value
		}
		var why []string
		for _, d := range attempt.report.All() {
			if d.Severity == hcl.DiagError {
				why = append(why, d.Detail)
			}
		}
		v.Refused = strings.Join(why, "\n")
	}
}

// givenValue is the value that a source gives, converted.
func (l *loader) givenValue(v *variable) cty.Value {
	value, here := cty.StringVal(v.given.text), values.Place{Name: "var." + v.Name, Key: v.Range, Literal: true}
	before := fmt.Sprintf("The value comes from %s. ", v.given.source)
	if v.given.source == answered {
		before = ""
	}
	switch {
	case v.given.expr != nil:
		value, before = l.constant().value(v.given.expr), ""
		here.Expr, here.Key = v.given.expr, v.given.at
	case !v.literal:
		var ok bool
		if value, ok = l.parseValue(v); !ok {
			return cty.DynamicVal
		}
	}
	converted, ok := l.fit(v, value, here, fmt.Sprintf("Unsuitable value for variable %q", v.Name), before)
	if !ok {
		return cty.DynamicVal
	}
	return converted
}

// passedValue is the value that the module block gives, converted.
func (g *graph) passedValue(f *frame, v *variable) cty.Value {
	value, ok := g.passed(f, v)
	switch {
	case !ok && v.fallback == cty.NilVal && (v.broken || v.block.Misspelt("default") || f.module.written.Misspelt(v.Name)):
		return cty.DynamicVal
	case !ok && v.fallback == cty.NilVal:
		g.report.Error(f.module.written.Call.Header, "Missing argument", "Module %q needs a value for its variable %q%s: %s = ....", f.module.written.Name, v.Name, described(v.Description), v.Name)
		return cty.DynamicVal
	case !ok:
		return v.fallback
	}
	attr := f.module.written.Call.Attributes[v.Name]
	here := values.Place{Name: v.Name, Expr: attr.Expr, Key: attr.NameRange, Literal: true}
	converted, ok := g.fit(v, value, here, fmt.Sprintf("Unsuitable value for variable %q", v.Name), "")
	if !ok {
		return cty.DynamicVal
	}
	return converted
}

func described(description string) string {
	if description == "" {
		return ""
	}
	return " (" + strings.TrimSuffix(description, ".") + ")"
}

// prompt asks for a value that nothing gives.
func (l *loader) prompt(v *variable) bool {
	if l.options.Prompt != nil {
		text, err := l.options.Prompt(v.Variable)
		if err == nil {
			v.given = &given{text: text, source: answered}
			return true
		}
		l.report.Error(v.Range, fmt.Sprintf("Variable %q has no value", v.Name), "Asking for it failed: %s.", err)
		return false
	}
	l.report.Error(v.Range, fmt.Sprintf("Variable %q has no value", v.Name),
		"Give it one with -var '%s=...', with %s%s, in %s or in a file named with -var-file, or give the variable a default.", v.Name, environPrefix, v.Name, varsFile)
	return false
}

// parseValue reads a value that came as text as an expression.
func (l *loader) parseValue(v *variable) (cty.Value, bool) {
	expr, diags := syntax.Expression([]byte(v.given.text), v.given.source, hcl.InitialPos)
	if !diags.HasErrors() {
		var value cty.Value
		value, diags = syntax.Constant(expr)
		if !diags.HasErrors() {
			return value, true
		}
	}
	why := strings.TrimSuffix(diags[0].Detail, ".")
	switch v.constraint {
	case cty.Bool:
		why = fmt.Sprintf("%q is neither true nor false", v.given.text)
	case cty.Number:
		why = fmt.Sprintf("%q is not a number", v.given.text)
	}
	l.unsuitableVariable(v, v.Range, why)
	return cty.DynamicVal, false
}

func (l *loader) unsuitableVariable(v *variable, at hcl.Range, why string) {
	if v.Sensitive {
		why = "what is wrong is not shown, because the variable is sensitive"
	}
	source := "The value from " + v.given.source
	if v.given.source == answered {
		source = "The value"
	}
	l.report.Error(at, fmt.Sprintf("Unsuitable value for variable %q", v.Name), "%s must be of type %s: %s.", source, v.Type, why)
}

// validate checks the conditions of a variable's validation blocks.
func (g *graph) validate(f *frame, v *variable) {
	e := g.evaluator(f)
	source := v.Range
	if attr := v.block.Attributes["default"]; attr != nil {
		source = values.Place{Expr: attr.Expr, Key: attr.NameRange}.At()
	}
	if f.parent != nil {
		if attr := f.module.written.Call.Attributes[v.Name]; attr != nil {
			source = values.Place{Expr: attr.Expr, Key: attr.NameRange}.At()
		}
	} else if v.given != nil {
		source = values.Place{Expr: v.given.expr, Key: v.given.at}.At()
		if v.given.expr == nil {
			source = v.Range
		}
	}
	for _, b := range e.expanded(v.block).All("validation") {
		if ok, message := e.condition(b); !ok {
			if v.asked && message != "" {
				g.config.Refused[v.Name] = message
			}
			e.unmetCondition(hcl.DiagError, source, b, fmt.Sprintf("Unsuitable value for variable %q", v.Name),
				fmt.Sprintf("%s\n\nThe condition is at %s.", message, diag.Position(b.AttributeRange("condition"))))
		}
	}
}

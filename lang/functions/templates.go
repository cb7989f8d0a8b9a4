package functions

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/syntax"
)

// templates renders templates.
type templates struct {
	functions map[string]function.Function // that a template can call
	budget    *budget.Budget
}

// ofTexts returns the function that renders a text as a template.
func (t templates) ofTexts() entry {
	return carries("templatestring", t.rendering("template", func(text string) (string, string, error) {
		return text, "template", nil
	}), "Renders a string as a template with the given variables. ${...} and %{...} in the string are evaluated. In a string literal, write $${...} and %%{...} to pass them to the template.",
		`templatestring("Hello, $${name}!", { name = "you" })`, `"Hello, you!"`)
}

// ofFiles returns the function that renders a file as a template.
func (t templates) ofFiles(f *Files) entry {
	return carries("templatefile", t.rendering("path", func(name string) (string, string, error) {
		source, err := f.readText(name)
		return source, f.Path(name), err
	}), "Renders a file as a template with the given variables. ${...} and %{...} in the file are evaluated.",
		`templatefile("greeting.tmpl", { names = ["a", "b"] })`, `"Hello, a! Hello, b! "`)
}

// noTemplates returns replacements for the template functions within templates. They always
// fail, because a template that renders itself would never end.
func noTemplates() []entry {
	rest := anyParam("args")
	f := function.New(&function.Spec{
		VarParam: &rest,
		Type: func([]cty.Value) (cty.Type, error) {
			return cty.NilType, errors.New("a template cannot render another template; render the other template first, and pass the result as a variable")
		},
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return cty.UnknownVal(cty.String), nil },
	})
	return []entry{{name: "templatefile", function: f}, {name: "templatestring", function: f}}
}

// rendering returns a function that renders a template. source returns the text and the name of
// the template.
func (t templates) rendering(param string, source func(string) (text, name string, err error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{passed(function.Parameter{Name: param, Type: cty.String}), anyParam("vars")},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			unknown := cty.UnknownVal(cty.String)
			template, marks := args[0].Unmark()
			vars, varMarks := args[1].Unmark()
			switch {
			case mark.IsGenerated(args[0]):
				return unknown, function.NewArgError(0, mark.ErrComputed)
			case template.IsNull():
				return unknown, function.NewArgErrorf(0, "argument must not be null")
			case vars.IsNull() && vars.IsKnown():
				return unknown, function.NewArgErrorf(1, "argument must not be null")
			case !template.IsKnown() || !vars.IsKnown():
				return unknown.WithMarks(marks, varMarks), nil
			case !hasKeys(vars.Type()):
				return unknown, function.NewArgErrorf(1, "a map is required")
			}
			text, name, err := source(template.AsString())
			if err != nil {
				return unknown, function.NewArgError(0, err)
			}
			v, err := t.render(text, name, args[1])
			if err != nil {
				return unknown, err
			}
			return v.WithMarks(marks, varMarks), nil
		},
	})
}

// render evaluates a template with a map of variables.
func (t templates) render(text, name string, vars cty.Value) (cty.Value, error) {
	unknown := cty.UnknownVal(cty.String)
	if err := t.budget.Spend(len(text)); err != nil {
		return unknown, err
	}
	expr, diags := syntax.Template([]byte(text), name, hcl.InitialPos)
	if diags.HasErrors() {
		return unknown, templateError(diags, t.functions)
	}
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: t.functions}
	for _, m := range mark.Members(vars) {
		ctx.Variables[m.Key] = m.Value
	}
	t.budget.Into(ctx)
	v, diags := expr.Value(ctx)
	switch err := t.budget.Err(); {
	case err != nil:
		return unknown, err
	case diags.HasErrors():
		return unknown, templateError(diags, t.functions)
	}
	return convert.Convert(v, cty.String)
}

// templateError returns the first error in a template, as the end of a sentence.
func templateError(diags hcl.Diagnostics, functions map[string]function.Function) error {
	for _, d := range diags {
		if syntax.Decides(d) {
			return mark.ErrComputed
		}
		if unknown, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](d); ok {
			called := unknown.CalledFunctionNamespace() + unknown.CalledFunctionName()
			d.Summary, d.Detail = "There is no function \""+called+"\"", Instead(called, slices.Collect(maps.Keys(functions)))
		}
	}
	return errors.New(strings.TrimSuffix(diags.Error(), "."))
}

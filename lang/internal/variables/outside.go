package variables

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Option is an option of the command line that gives values to variables. It has one of the
// two fields.
type Option struct {
	Assignment string // of -var: "name=value"
	File       string // of -var-file: its path
}

// Outside says where the variables of the root module get their values.
type Outside struct {
	FS      fs.FS  // has the files of the configuration
	Dir     string // of the configuration
	Environ []string
	Options []Option // in the order of the command line
	// Prompt asks a person for the value of a variable. Nil: nobody is there.
	Prompt func(v configs.Variable) (string, error)
	Unset  bool // variables without a value are unknown, which is no error
	// Keep stores the source of a parsed file for diagnostics and returns its body.
	Keep func(files map[string]*hcl.File, diags hcl.Diagnostics) (body hcl.Body, ok bool)
	// Hide removes the source of a file, because the file may hold secrets.
	Hide     func(name string)
	Constant *eval.Env // knows no names

	broken bool // a file with values could not be read
}

// answered is the source of a value that a person typed.
const answered = "the answer"

// Value returns the value of a variable of the root module from the strongest source, converted to
// the type of the variable. Unset is true if no source has a value and Outside permits that.
func (o *Outside) Value(v *Variable) (value cty.Value, unset bool) {
	switch {
	case v.given != nil:
		return v.givenValue(o.Constant), false
	case v.HasDefault():
		return v.Default, false
	case o.broken || v.MayLack():
		return cty.DynamicVal, false
	case o.Unset:
		return cty.UnknownVal(v.constraint.WithoutOptionalAttributesDeep()).Mark(mark.Deferred{By: "var." + v.Name, Unset: true}), true
	}
	return o.askedValue(v), false
}

// askedValue asks for a value until it has the type of the variable.
func (o *Outside) askedValue(v *Variable) cty.Value {
	for o.prompt(v) {
		attempt := *o.Constant
		attempt.Report, attempt.Decisions = diag.New(), eval.NewDecisions()
		value := v.givenValue(&attempt)
		if !attempt.Report.All().HasErrors() {
			v.asked = true
			o.Constant.Report.Add(attempt.Report.All()...)
			return value
		}
		var why []string
		for _, d := range attempt.Report.All() {
			if d.Severity == hcl.DiagError {
				why = append(why, d.Detail)
			}
		}
		v.Refused = strings.Join(why, "\n")
	}
	return cty.DynamicVal
}

// prompt asks for a value. If there is no answer, it reports that the value is missing.
func (o *Outside) prompt(v *Variable) bool {
	summary := fmt.Sprintf("Variable %q has no value", v.Name)
	if o.Prompt != nil {
		text, err := o.Prompt(v.Variable)
		if err == nil {
			v.given = &given{text: text, source: answered}
			return true
		}
		o.Constant.Report.Error(v.Range, summary, "Asking for it failed: %s.", err)
		return false
	}
	o.Constant.Report.Error(v.Range, summary,
		"Give it one with -var '%s=...', with %s%s, in %s or in a file named with -var-file, or give the variable a default.", v.Name, environPrefix, v.Name, varsFile)
	return false
}

// givenValue returns the value that a source gives, converted to the type of the variable.
func (v *Variable) givenValue(e *eval.Env) cty.Value {
	value, here := cty.StringVal(v.given.text), values.Place{Name: "var." + v.Name, Key: v.Range, Literal: true}
	before := fmt.Sprintf("The value comes from %s. ", v.given.source)
	if v.given.source == answered {
		before = ""
	}
	switch {
	case v.given.expr != nil:
		value, before = e.Value(v.given.expr), ""
		here.Expr, here.Key = v.given.expr, v.given.at
	case !v.literal:
		var ok bool
		if value, ok = v.parse(e.Report); !ok {
			return cty.DynamicVal
		}
	}
	converted, ok := Fit(e.Report, v, value, here, fmt.Sprintf("Unsuitable value for variable %q", v.Name), before)
	if !ok {
		return cty.DynamicVal
	}
	return converted
}

// parse reads a value that came as text as an expression.
func (v *Variable) parse(report *diag.Reporter) (cty.Value, bool) {
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
	if v.Sensitive {
		why = "what is wrong is not shown, because the variable is sensitive"
	}
	from := "The value from " + v.given.source
	if v.given.source == answered {
		from = "The value"
	}
	report.Error(v.Range, fmt.Sprintf("Unsuitable value for variable %q", v.Name), "%s must be of type %s: %s.", from, v.Type, why)
	return cty.DynamicVal, false
}

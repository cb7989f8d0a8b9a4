package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// addOutputs adds the nodes of the outputs of a module.
func addOutputs(a *assembly, m *graph.Module) {
	for _, b := range m.Written.Document.All("output") {
		a.graph.AddBlock(m, b, func(f *graph.Frame) cty.Value {
			f.Outputs[b.Label] = output(a, f, b)
			return f.Outputs[b.Label]
		})
	}
}

// output evaluates an output. Outputs of the root module are for people.
func output(a *assembly, f *graph.Frame, b *source.Block) cty.Value {
	e := f.Env()
	b = eval.Expanded(e, b)
	eval.Preconditions(e, b)
	attr := b.Attributes["value"]
	if attr == nil {
		return cty.DynamicVal
	}
	value, sensitive := e.Value(attr.Expr), eval.Bool(e, b, "sensitive")
	if f.Parent == nil {
		_, marks := value.UnmarkDeep()
		if !sensitive && !outputMarks(e, marks, attr.Expr.Range()) {
			value = cty.DynamicVal
		}
		a.config.Outputs = append(a.config.Outputs, configs.Output{
			Name: b.Label, Description: eval.String(e, b, "description"), Value: value, Sensitive: sensitive, Range: b.Header,
		})
	}
	if sensitive {
		value = value.Mark(mark.Sensitive{})
	}
	return value
}

// outputMarks reports secrets that an output would show.
func outputMarks(e *eval.Env, marks cty.ValueMarks, at hcl.Range) bool {
	for m := range marks {
		switch made := m.(type) {
		case mark.Generated:
			ref := configs.SecretRef(made)
			if ref.Public() {
				e.Report.Error(at, "A secret would be shown", "The value of %s cannot be used in an output%s", ref.Describe(), eval.Instead("an output", ref))
			} else {
				e.Report.Error(at, "A secret would be shown", "The value of %s cannot be shown. Set sensitive = true, and the output stays hidden.", ref.Describe())
			}
			return false
		case mark.Sensitive:
			e.Report.Error(at, "A secret would be shown", "The value is sensitive. Set sensitive = true to hide it, or write nonsensitive(...) if everybody may see it.")
			return false
		}
	}
	return true
}

// addChecks adds the nodes of the check blocks of a module.
func addChecks(a *assembly, m *graph.Module) {
	for _, b := range m.Written.Document.All("check") {
		a.graph.AddBlock(m, b, func(f *graph.Frame) cty.Value {
			e := f.Env()
			check := configs.Check{Address: f.Address + b.ID(), Status: configs.CheckPassed}
			for _, assert := range eval.Expanded(e, b).All("assert") {
				ok, message := eval.Condition(e, assert)
				if !ok {
					eval.UnmetCondition(e, hcl.DiagWarning, assert.AttributeRange("condition"), assert, fmt.Sprintf("Check %q does not hold", b.Label), message)
				}
				addAssertion(&check, ok, eval.AllKnown(e, assert, "condition"), message)
			}
			a.config.Checks = append(a.config.Checks, check)
			return cty.NilVal
		})
	}
}

// addAssertion counts the result of an assertion. A failed assertion outweighs an unknown one.
func addAssertion(c *configs.Check, holds, known bool, message string) {
	switch {
	case !holds:
		c.Status, c.Problems = configs.CheckFailed, append(c.Problems, message)
	case !known && c.Status == configs.CheckPassed:
		c.Status = configs.CheckUnknown
	}
}

package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

func (g *graph) addOutputs(m *module) {
	for _, b := range m.written.Document.All("output") {
		g.addBlock(m, b, func(f *frame) cty.Value {
			f.outputs[b.Label] = g.output(f, b)
			return f.outputs[b.Label]
		})
	}
}

// output evaluates an output. Those of the root are for people.
func (g *graph) output(f *frame, b *source.Block) cty.Value {
	e := g.evaluator(f)
	b = e.expanded(b)
	e.preconditions(b)
	attr := b.Attributes["value"]
	if attr == nil {
		return cty.DynamicVal
	}
	value, sensitive := e.value(attr.Expr), e.bool(b, "sensitive")
	if f.parent == nil {
		_, marks := value.UnmarkDeep()
		if !sensitive && !e.outputMarks(marks, attr.Expr.Range()) {
			value = cty.DynamicVal
		}
		g.config.Outputs = append(g.config.Outputs, configs.Output{
			Name: b.Label, Description: e.string(b, "description"), Value: value, Sensitive: sensitive, Range: b.Header,
		})
	}
	if sensitive {
		value = value.Mark(mark.Sensitive{})
	}
	return value
}

// outputMarks reports what an output would show.
func (e *evaluator) outputMarks(marks cty.ValueMarks, at hcl.Range) bool {
	for m := range marks {
		switch made := m.(type) {
		case mark.Generated:
			ref := configs.SecretRef(made)
			if ref.Public() {
				e.report.Error(at, "A secret would be shown", "The value of %s cannot be used in an output%s", ref.Describe(), instead("an output", ref))
			} else {
				e.report.Error(at, "A secret would be shown", "The value of %s cannot be shown. Set sensitive = true, and the output stays hidden.", ref.Describe())
			}
			return false
		case mark.Sensitive:
			e.report.Error(at, "A secret would be shown", "The value is sensitive. Set sensitive = true to hide it, or write nonsensitive(...) if everybody may see it.")
			return false
		}
	}
	return true
}

func (g *graph) addChecks(m *module) {
	for _, b := range m.written.Document.All("check") {
		g.addBlock(m, b, func(f *frame) cty.Value {
			e := g.evaluator(f)
			check := configs.Check{Address: f.address + b.ID(), Status: configs.CheckPassed}
			for _, assert := range e.expanded(b).All("assert") {
				ok, message := e.condition(assert)
				if !ok {
					e.unmetCondition(hcl.DiagWarning, assert.AttributeRange("condition"), assert, fmt.Sprintf("Check %q does not hold", b.Label), message)
				}
				addAssertion(&check, ok, e.settled(assert, "condition"), message)
			}
			g.config.Checks = append(g.config.Checks, check)
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

// condition evaluates a block with a condition, and says what is wrong when it is not
// met. One that is not known yet is.
func (e *evaluator) condition(b *source.Block) (ok bool, message string) {
	condition, ok := e.attribute(b, "condition", cty.Bool)
	condition, _ = condition.Unmark()
	if !ok || condition.True() {
		return true, ""
	}
	text, ok := e.attribute(b, "error_message", cty.String)
	switch {
	case !ok:
		return false, "It does not meet the condition."
	case text.ContainsMarked():
		return false, "It does not meet the condition. The message is not shown, because it holds a sensitive value."
	}
	return false, text.AsString()
}

// preconditions reports those of a block that are not met.
func (e *evaluator) preconditions(b *source.Block) {
	for _, p := range b.All("precondition") {
		if ok, message := e.condition(p); !ok {
			e.unmetCondition(hcl.DiagError, p.AttributeRange("condition"), p, "Precondition not met", message)
		}
	}
}

package view

import (
	"encoding/json"
	"fmt"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// outputs shows the outputs that change, under Terraform's heading.
func (v *planView) outputs() []line {
	if !output.Changes(v.plan.Outputs) {
		return nil
	}
	out := []line{text("Changes to Outputs:")}
	names := 0
	for _, c := range v.plan.Outputs {
		if c.Action() != output.NoOp {
			names = max(names, columns(c.Name))
		}
	}
	for _, c := range v.plan.Outputs {
		sign, look := "+", added
		switch c.Action() {
		case output.NoOp:
			continue
		case output.Update:
			sign, look = "~", changed
		case output.Delete:
			sign, look = "-", removed
		}
		name := styled(look, "  "+sign+" ").then(text(c.Name)).pad(4 + names)
		out = append(out, name.then(text(" = "+v.outputChange(c, names))))
	}
	if v.plan.Counts() == (plans.Counts{}) {
		out = append(out, nil)
		for _, part := range wrap("An apply saves these output values to the state, and changes nothing in the cluster.", v.Out.prose()) {
			out = append(out, text(part))
		}
	}
	return out
}

// outputCounts says, as a sentence after others, how many outputs change; empty: none.
func outputCounts(plan *plans.Plan) string {
	n := 0
	for _, c := range plan.Outputs {
		if c.Action() != output.NoOp {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s %s.", count(n, "output"), plural(n, "changes", "change"))
}

// outputChange shows the value of an output, or both where it changes.
func (v *planView) outputChange(c output.Change, names int) string {
	before, after := outputText(c.Before, nil), outputText(c.After, c.Unknown)
	room := max(v.width-names-7, 30)
	if v.options.Full {
		room = max(len(before), len(after))
	}
	switch {
	case c.Before == nil:
		return shorten(after, len([]rune(after)), room)
	case c.After == nil:
		return shorten(before, len([]rune(before)), room)
	}
	before, after = shortenPair(before, after, len([]rune(before)), len([]rune(after)), room/2-2)
	return before + " → " + after
}

// outputText is the value of an output on one line.
func outputText(o *state.Output, unknown any) string {
	switch {
	case o == nil:
		return ""
	case o.Sensitive:
		return plans.Masked
	case unknown != nil:
		return plans.Unknown
	}
	return formatValue(valueOf(o))
}

// valueOf is the value of an output as JSON has it; nil for one that is not kept.
func valueOf(o *state.Output) any {
	if o == nil || o.Sensitive || len(o.Value) == 0 {
		return nil
	}
	return o.Value
}

// OutputJSON is an output in the shape of Terraform's state and plan.
type OutputJSON struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     any             `json:"value"` // null: it is sensitive, or not known
}

// OutputsJSON are outputs by name.
func OutputsJSON(outputs []state.Output) map[string]OutputJSON {
	out := map[string]OutputJSON{}
	for i := range outputs {
		o := &outputs[i]
		out[o.Name] = OutputJSON{Sensitive: o.Sensitive, Type: o.Type, Value: valueOf(o)}
	}
	return out
}

// addOutputs adds the outputs, checks and variables of a plan.
func (p *planJSON) addOutputs(plan *plans.Plan) {
	var before, after []state.Output
	for _, c := range plan.Outputs {
		if c.Before != nil {
			before = append(before, *c.Before)
		}
		if c.After != nil {
			after = append(after, *c.After)
		}
		p.OutputChanges[c.Name] = outputChangeOf(c)
	}
	p.PriorState.Values.Outputs, p.PlannedValues.Outputs = OutputsJSON(before), OutputsJSON(after)
	p.Checks = ChecksJSON(plan.Checks)
	for name, typed := range plan.Variables {
		var value struct {
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal(typed, &value) == nil {
			p.Variables[name] = variableJSON{value.Value}
		}
	}
}

type variableJSON struct {
	Value json.RawMessage `json:"value"`
}

func outputChangeOf(c output.Change) changeJSON {
	out := changeJSON{
		Actions: []string{string(c.Action())}, Before: valueOf(c.Before), After: valueOf(c.After), AfterUnknown: false,
		BeforeSensitive: c.Before != nil && c.Before.Sensitive, AfterSensitive: c.After != nil && c.After.Sensitive,
	}
	if out.BeforeSensitive == true {
		out.Before = plans.Masked
	}
	switch {
	case c.Unknown != nil:
		out.AfterUnknown = c.Unknown
		if c.Unknown == true {
			out.After = nil
		}
	case out.AfterSensitive == true:
		out.After = plans.Masked
	}
	return out
}

// CheckJSON is a check in the shape of Terraform's plan and state.
type CheckJSON struct {
	Address   checkAddress    `json:"address"`
	Status    string          `json:"status"`
	Instances []checkInstance `json:"instances"`
}

type checkAddress struct {
	Kind    string `json:"kind"` // always "check"
	Name    string `json:"name"`
	Module  string `json:"module,omitempty"`
	Display string `json:"to_display"`
}

type checkInstance struct {
	Address struct {
		Display string `json:"to_display"`
	} `json:"address"`
	Status   string         `json:"status"`
	Problems []checkProblem `json:"problems,omitempty"`
}

type checkProblem struct {
	Message string `json:"message"`
}

// ChecksJSON are checks in the shape of Terraform's plan and state. Each has one
// instance: one for each module that it is in.
func ChecksJSON(checks []state.CheckResult) []CheckJSON {
	var out []CheckJSON
	for _, c := range checks {
		parts := addrs.SplitBlock(c.Address)
		instance := checkInstance{Status: c.Status}
		instance.Address.Display = c.Address
		for _, p := range c.Problems {
			instance.Problems = append(instance.Problems, checkProblem{p})
		}
		out = append(out, CheckJSON{
			Address:   checkAddress{Kind: "check", Name: parts.Name, Module: parts.Module, Display: c.Address},
			Status:    c.Status,
			Instances: []checkInstance{instance},
		})
	}
	return out
}

// outputEvent is one output in an event: what is planned for it, or its value.
type outputEvent struct {
	Sensitive bool            `json:"sensitive"`
	Action    string          `json:"action,omitempty"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     any             `json:"value,omitempty"`
}

// plannedOutputs writes what a plan does to outputs, if it does anything.
func (e *events) plannedOutputs(plan *plans.Plan) {
	if !output.Changes(plan.Outputs) {
		return
	}
	outputs := map[string]outputEvent{}
	for _, c := range plan.Outputs {
		o := c.After
		if o == nil {
			o = c.Before
		}
		action := string(c.Action())
		if c.Action() == output.NoOp {
			action = "noop" // as events have it
		}
		outputs[c.Name] = outputEvent{Sensitive: o.Sensitive, Action: action}
	}
	e.write(event{Type: "outputs", Message: fmt.Sprintf("Outputs: %d", len(outputs)), Outputs: outputs})
}

// Outputs writes the outputs at the end of an apply as an event. People see them in
// another form.
func (p *Printer) Outputs(outputs []state.Output) {
	if p.events == nil || len(outputs) == 0 {
		return
	}
	values := map[string]outputEvent{}
	for i := range outputs {
		o := &outputs[i]
		values[o.Name] = outputEvent{Sensitive: o.Sensitive, Type: o.Type, Value: valueOf(o)}
	}
	p.events.write(event{Type: "outputs", Message: fmt.Sprintf("Outputs: %d", len(values)), Outputs: values})
}

package jsonview

import (
	"cmp"
	"encoding/json"
	"fmt"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// Output is an output in the format of Terraform's state and plan.
type Output struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     any             `json:"value"` // null: it is sensitive, or not known
}

// Outputs converts outputs, by name.
func Outputs(outputs []state.Output) map[string]Output {
	out := map[string]Output{}
	for i := range outputs {
		o := &outputs[i]
		out[o.Name] = Output{Sensitive: o.Sensitive, Type: o.Type, Value: report.OutputValue(o)}
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
	p.PriorState.Values.Outputs, p.PlannedValues.Outputs = Outputs(before), Outputs(after)
	p.Checks = Checks(plan.Checks)
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
		Actions: []string{string(c.Action())}, Before: report.OutputValue(c.Before), After: report.OutputValue(c.After), AfterUnknown: c.Unknown,
		BeforeSensitive: c.Before != nil && c.Before.Sensitive, AfterSensitive: c.After != nil && c.After.Sensitive,
	}
	if out.BeforeSensitive == true {
		out.Before = plans.Masked
	}
	if out.AfterSensitive == true && !c.Unknown {
		out.After = plans.Masked
	}
	return out
}

// Check is a check in the format of Terraform's plan and state.
type Check struct {
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

// Checks converts checks. Each has one instance for each module that contains it.
func Checks(checks []state.CheckResult) []Check {
	var out []Check
	for _, c := range checks {
		parts := addrs.SplitBlock(c.Address)
		instance := checkInstance{Status: c.Status}
		instance.Address.Display = c.Address
		for _, p := range c.Problems {
			instance.Problems = append(instance.Problems, checkProblem{p})
		}
		out = append(out, Check{
			Address:   checkAddress{Kind: "check", Name: parts.Name, Module: parts.Module, Display: c.Address},
			Status:    c.Status,
			Instances: []checkInstance{instance},
		})
	}
	return out
}

// outputEvent is an output in an event: its planned action, or its value.
type outputEvent struct {
	Sensitive bool            `json:"sensitive"`
	Action    string          `json:"action,omitempty"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     any             `json:"value,omitempty"`
}

// plannedOutputs returns the event about the outputs of a plan.
func plannedOutputs(plan *plans.Plan) event {
	outputs := map[string]outputEvent{}
	for _, c := range plan.Outputs {
		o := cmp.Or(c.After, c.Before)
		action := string(c.Action())
		if c.Action() == output.NoOp {
			action = "noop" // as events have it
		}
		outputs[c.Name] = outputEvent{Sensitive: o.Sensitive, Action: action}
	}
	return event{Type: "outputs", Message: fmt.Sprintf("Outputs: %d", len(outputs)), Outputs: outputs}
}

// Outputs writes the outputs at the end of an apply.
func (e *Events) Outputs(outputs []state.Output) {
	if e == nil || len(outputs) == 0 {
		return
	}
	values := map[string]outputEvent{}
	for i := range outputs {
		o := &outputs[i]
		values[o.Name] = outputEvent{Sensitive: o.Sensitive, Type: o.Type, Value: report.OutputValue(o)}
	}
	e.write(event{Type: "outputs", Message: fmt.Sprintf("Outputs: %d", len(values)), Outputs: values})
}

package report

import (
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// outputs are the outputs that a plan changes.
func outputs(plan *plans.Plan) []Output {
	if !output.Changes(plan.Outputs) {
		return nil
	}
	var out []Output
	for _, c := range plan.Outputs {
		o := Output{Name: c.Name, Sign: Add, Before: outputText(c.Before, nil), After: outputText(c.After, c.Unknown)}
		switch c.Action() {
		case output.NoOp:
			continue
		case output.Update:
			o.Sign = Change
		case output.Delete:
			o.Sign = Remove
		}
		out = append(out, o)
	}
	return out
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
	return Value(OutputValue(o))
}

// OutputValue is the value of an output in JSON; nil if the state does not contain it.
func OutputValue(o *state.Output) any {
	if o == nil || o.Sensitive || len(o.Value) == 0 {
		return nil
	}
	return o.Value
}

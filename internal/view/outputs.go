package view

import (
	"kolla.openstack.org/kolla/internal/jsonview"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// outputs shows the outputs that change, under Terraform's heading.
func (v *planView) outputs() []screen.Line {
	if !output.Changes(v.plan.Outputs) {
		return nil
	}
	out := []screen.Line{screen.Text("Changes to Outputs:")}
	names := 0
	for _, c := range v.plan.Outputs {
		if c.Action() != output.NoOp {
			names = max(names, screen.Columns(c.Name))
		}
	}
	for _, c := range v.plan.Outputs {
		sign, look := "+", screen.Added
		switch c.Action() {
		case output.NoOp:
			continue
		case output.Update:
			sign, look = "~", screen.Changed
		case output.Delete:
			sign, look = "-", screen.Removed
		}
		name := screen.Styled(look, "  "+sign+" ").Then(screen.Text(c.Name)).Pad(4 + names)
		out = append(out, name.Then(screen.Text(" = "+v.outputChange(c, names))))
	}
	if v.plan.Counts() == (plans.Counts{}) {
		out = append(out, nil)
		for _, part := range screen.Wrap("An apply saves these output values to the state, and changes nothing in the cluster.", v.Out.ProseWidth()) {
			out = append(out, screen.Text(part))
		}
	}
	return out
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
	return formatValue(jsonview.ValueOf(o))
}

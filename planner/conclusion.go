package planner

import (
	"cmp"
	"slices"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/state"
)

// conclude adds what the plan makes of outputs and checks. A restricted plan leaves them
// alone: an output may be about what it leaves out. A destroy has neither.
func (p *Plan) conclude(in *Input) (err error) {
	if in.Selection.Restricts() {
		return nil
	}
	declared := in.Outputs
	if in.Destroy {
		declared = nil
	} else {
		p.Checks = Checks(in.Checks)
	}
	var recorded []state.Output
	if in.State != nil {
		recorded = in.State.Outputs
	}
	p.Outputs, err = output.Compare(recorded, declared)
	return err
}

// Checks are checks as a state has them, by address.
func Checks(checks []lang.Check) []state.CheckResult {
	var out []state.CheckResult
	for _, c := range checks {
		out = append(out, state.CheckResult{Address: c.Address, Status: string(c.Status), Problems: c.Problems})
	}
	slices.SortFunc(out, func(a, b state.CheckResult) int { return cmp.Compare(a.Address, b.Address) })
	return out
}

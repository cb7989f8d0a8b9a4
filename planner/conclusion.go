package planner

import (
	"cmp"
	"slices"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// addOutputsAndChecks adds the results of outputs and checks to the plan. A restricted plan has
// neither, because an output may depend on an object that is left out. A destroy has no
// checks, and removes all outputs.
func addOutputsAndChecks(plan *plans.Plan, in *Input) (err error) {
	if in.Selection.Restricts() {
		return nil
	}
	declared := in.Outputs
	if in.Destroy {
		declared = nil
	} else {
		plan.Checks = Checks(in.Checks)
	}
	var recorded []state.Output
	if in.State != nil {
		recorded = in.State.Outputs
	}
	plan.Outputs, err = output.Compare(recorded, declared)
	return err
}

// Checks are checks as a state has them, by address.
func Checks(checks []configs.Check) []state.CheckResult {
	var out []state.CheckResult
	for _, c := range checks {
		out = append(out, state.CheckResult{Address: c.Address, Status: string(c.Status), Problems: c.Problems})
	}
	slices.SortFunc(out, func(a, b state.CheckResult) int { return cmp.Compare(a.Address, b.Address) })
	return out
}

package outcome

import (
	"slices"

	"kolla.openstack.org/kolla/planner/plans"
)

// Refuse takes the action back, because of a problem.
func (o *Outcome) Refuse(problem plans.Problem) {
	o.Withheld, o.Action.Verb = true, ""
	o.Problems = append(slices.Clip(o.Problems), problem)
}

package report

import "kolla.openstack.org/kolla/planner/plans"

// replacedValues are the values of a Secret that kolla had generated and somebody
// replaced.
func ReplacedValues(a *plans.Action) []plans.Change {
	var changes []plans.Change
	for _, r := range a.Reasons {
		if r.Kind == plans.ReasonReplaced {
			changes = append(changes, plans.Change{
				Path: r.Path, Before: plans.Masked, After: plans.Masked,
				Sensitive: true, Drift: true, Manager: r.Manager, Time: r.Time,
			})
		}
	}
	return changes
}

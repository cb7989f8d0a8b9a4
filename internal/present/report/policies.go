package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/planner/plans"
)

// policies returns the results of the policies of a plan.
func policies(plan *plans.Plan) *Policies {
	if len(plan.Policies) == 0 {
		return nil
	}
	out := &Policies{}
	order := []plans.PolicyStatus{plans.PolicyPassed, plans.PolicyDenied, plans.PolicyOverridden, plans.PolicyWarned}
	counts := map[plans.PolicyStatus]int{}
	for _, r := range plan.Policies {
		counts[r.Status]++
		if r.Status != plans.PolicyPassed {
			out.Unmet = append(out.Unmet, Policy{
				Name: r.Name, Source: r.Source, Verdict: string(r.Status), Denies: r.Status == plans.PolicyDenied,
				Message: strings.Join(strings.Fields(r.Message), " "),
			})
		}
	}
	var counted []string
	for _, status := range order {
		if n := counts[status]; n > 0 {
			counted = append(counted, fmt.Sprintf("%d %s", n, status))
		}
	}
	out.Title = "Policies: " + strings.Join(counted, ", ") + "."
	slices.SortStableFunc(out.Unmet, func(a, b Policy) int {
		at := func(p Policy) int { return slices.Index(order, plans.PolicyStatus(p.Verdict)) }
		return cmp.Compare(at(a), at(b))
	})
	return out
}

// Denies reports whether a policy denies the plan.
func (p *Policies) Denies() bool {
	return slices.ContainsFunc(p.Unmet, func(policy Policy) bool { return policy.Denies })
}

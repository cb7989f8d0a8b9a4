package view_test

import (
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/planner/plans"
)

// serviceGone is a plan that would lose data which the operator did not name.
func serviceGone() *plans.Plan {
	secret := action(plans.Delete, "service.heat/Secret/heat-auth-encryption-key")
	secret.Holds, secret.Reasons = "generated values", []plans.Reason{{Kind: plans.ReasonUndeclared}}
	api := action(plans.Delete, "service.heat/Deployment/heat-api")
	api.Reasons = []plans.Reason{{Kind: plans.ReasonUndeclared}}
	p := newPlan(60, api, secret)
	p.Impact = []plans.Impact{disturbs("service.heat", plans.Effect{Kind: plans.EffectStop, Pods: 2, Grave: true})}
	p.Errors = []plans.Notice{{
		Address: secret.Address,
		Summary: "Secret openstack/heat-auth-encryption-key is no longer declared, and holds generated values",
		Text:    "To keep it, put its declaration back. To leave it in the cluster without kolla, declare:\n\n  removed {\n    from = \"service.heat/Secret/heat-auth-encryption-key\"\n  }",
	}, {
		Source:  "cloud.hcl:12",
		Summary: "another error",
	}}
	return p
}

// onlyErrors is a plan whose only change cannot be planned.
func onlyErrors() *plans.Plan {
	p := newPlan(60)
	p.Errors = []plans.Notice{{Source: "cloud.hcl:12", Summary: "a field belongs to another manager"}}
	return p
}

// refused prints a plan and its errors, as the commands do.
func refused(sample func() *plans.Plan) func(*view.Printer) {
	return func(p *view.Printer) {
		plan(sample, view.PlanOptions{})(p)
		var problems []plans.Problem
		for _, n := range sample().Errors {
			problem := n.Problem()
			problem.Warning = false
			problems = append(problems, problem)
		}
		p.Problems(problems)
	}
}

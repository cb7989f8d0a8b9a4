package view_test

import (
	"fmt"

	"kolla.openstack.org/kolla/planner/plans"
)

// servicesRemoved is a plan that deletes services, with deletions that lose nothing, and changes an
// environment that contains JSON.
func servicesRemoved() *plans.Plan {
	var actions []plans.Action
	var impact []plans.Impact
	for _, name := range []string{"heat", "barbican"} {
		for _, kind := range []string{"Deployment", "ConfigMap", "Job", "Job"} {
			a := action(plans.Delete, fmt.Sprintf("service.%[1]s/%[2]s/%[1]s-%[3]d", name, kind, len(actions)))
			a.Reasons = []plans.Reason{{Kind: plans.ReasonUndeclared}}
			a.Finished = kind == "Job" && len(actions) < 7
			actions = append(actions, a)
		}
		impact = append(impact, disturbs("service."+name, plans.Effect{Kind: plans.EffectStop, Pods: 2, Grave: true}, plans.Effect{Kind: plans.EffectJob, Name: name + "-leave"}))
	}
	const rules = `containers["api"].env["POLICY"].value`
	actions = append(actions, action(plans.Update, "service.keystone/Deployment/keystone-api", plans.Change{
		Path:   rules,
		Before: `{"identity:get_user": {"roles": ["admin"], "limit": 9007199254740993}, "identity:list_users": {"roles": ["admin"]}, "default": "deny"}`,
		After:  `{"identity:get_user": {"roles": ["admin", "reader"], "limit": 9007199254740993}, "identity:list_users": {"roles": ["admin"]}, "default": "deny"}`,
	}, plans.Change{Path: `containers["api"].env["TEXT"].value`, Before: "{no JSON", After: `{"is": "JSON"}`},
		plans.Change{Path: `containers["api"].env["BLANKS"].value`, Before: `{"a":1}`, After: `{"a": 1}`}))
	p := newPlan(10, actions...)
	p.Impact = impact
	return p
}

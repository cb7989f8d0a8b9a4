package view_test

import "kolla.openstack.org/kolla/planner/plans"

// judged is a plan with every result of a policy.
func judged() *plans.Plan {
	gone := because(action(plans.Delete, "service.glance/PersistentVolumeClaim/glance"), plans.Reason{Kind: plans.ReasonUndeclared})
	gone.Holds = "the images"
	p := newPlan(3, gone)
	p.Policies = []plans.PolicyResult{
		{Name: "small", Source: "cloud.hcl:12", Status: plans.PolicyPassed},
		{Name: "few-restarts", Source: "cloud.hcl:17", Status: plans.PolicyWarned, Message: "4 workloads restart at once."},
		{Name: "no-deletes", Source: "/srv/platform/policies.hcl:3", Status: plans.PolicyOverridden, Message: "Deleted: service.glance/PersistentVolumeClaim/glance."},
		{Name: "volumes-stay", Source: "/srv/platform/policies.hcl:9", Status: plans.PolicyDenied, Message: "Volumes are deleted. Name the change in the review,\nand override this policy."},
	}
	return p
}

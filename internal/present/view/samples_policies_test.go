package view_test

import (
	"time"

	"kolla.openstack.org/kolla/planner/plans"
)

// upgraded is a plan with an upgrade of OpenStack. One service does not change its release.
func upgraded() *plans.Plan {
	p := newPlan(3, action(plans.Update, "service.keystone/Deployment/keystone-api",
		plans.Change{Path: `spec.template.spec.containers["api"].image`, Before: "quay.io/openstack.kolla/keystone:2025.1-rocky-9", After: "quay.io/openstack.kolla/keystone:2025.2-rocky-10"}))
	old, coming := plans.Images{Release: "2025.1", Distro: "rocky-9"}, plans.Images{Release: "2025.2", Distro: "rocky-10"}
	p.Upgrade = &plans.Upgrade{
		From: old, To: coming, Databases: []string{"keystone"}, Processors: "x86-64-v3", Waiting: []string{"ovn-controller-controller"},
		Disturbs: []string{"servers of the node lose their network (openvswitch-ovs)"},
		Backup:   &plans.Backup{CronJob: "openstack/backup", At: now.Add(-29 * time.Hour)},
		Versions: []plans.VersionChange{{Program: "MariaDB", From: "10.11", To: "11.4"}},
		Services: []plans.ServiceUpgrade{
			{Name: "keystone", Block: "service.keystone", From: old, To: coming},
			{Name: "mariadb", Block: "service.mariadb", From: old, To: plans.Images{Release: "2025.2", Distro: "debian-bookworm"}},
		},
	}
	return p
}

// downgraded is a plan with a downgrade of OpenStack.
func downgraded() *plans.Plan {
	p := upgraded()
	u := p.Upgrade
	u.From, u.To, u.Backward, u.Processors, u.Services, u.Versions = u.To, u.From, true, "", nil, nil
	return p
}

// judged is a plan with policy results of every status.
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

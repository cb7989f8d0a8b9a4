package view_test

import (
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// waits makes an action wait for data blocks.
func waits(a plans.Action, data ...string) plans.Action {
	a.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: "it depends on " + data[0] + ", which is known after the apply"}
	a.Object.Deferred = data
	return a
}

// deferredPlan has objects with values that are known only after the apply.
func deferredPlan() *plans.Plan {
	text := "[DEFAULT]\nhost = " + configs.KnownAfterApply + "\n"
	file := create("service.glance/ConfigMap/glance.conf-"+providers.UnknownVersion, "cloud.hcl:52", m{"data": m{"glance.conf": text}})
	file.Object.Family = address("service.glance/ConfigMap/glance.conf")
	next := because(action(plans.Create, "service.keystone/ConfigMap/keystone.conf-"+providers.UnknownVersion,
		plans.Change{Path: `data["keystone.conf"]`, Before: "[DEFAULT]\nhost = old\n", After: text, Text: true}), plans.Reason{Kind: plans.ReasonConfig})
	next.Supersedes = address("service.keystone/ConfigMap/keystone.conf-4be2a1")
	next.Object = &providers.Object{Address: next.Address, Family: address("service.keystone/ConfigMap/keystone.conf")}
	key := action(plans.Update, "manifest.copy/Secret/copy",
		plans.Change{Path: `data["key"]`, Before: plans.Masked, After: plans.Unknown, Sensitive: true})
	key.Object = &providers.Object{Address: key.Address, Data: map[string]providers.SecretData{"key": {Parts: []providers.DataPart{{Sensitive: configs.KnownAfterApply}}}}}
	return newPlan(12,
		create("manifest.registry/ConfigMap/registry", "cloud.hcl:4", m{"data": m{"host": "registry.example.org"}}),
		waits(create("manifest.copy/ConfigMap/copy", "cloud.hcl:30", m{"data": m{"host": configs.KnownAfterApply, "port": "5000"}}), "data.registry"),
		waits(key, "data.credentials"),
		waits(file, "data.registry"),
		waits(next, "data.credentials", "data.registry"),
	)
}

// appliedWaiting prints an apply that could not finish, because the objects of data blocks were
// missing.
func appliedWaiting(p *view.Printer) {
	p.Reading([]string{"data.credentials", "data.registry"})
	_ = p.Applied(applied.Result{Added: 1, Skipped: []applied.Skipped{
		{Address: address("manifest.copy/ConfigMap/copy"), Data: []string{"data.registry"}},
		{Address: address("service.glance/Job/glance-sync"), Data: []string{}},
	}})
}

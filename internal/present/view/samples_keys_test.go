package view_test

import (
	"fmt"
	"slices"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// keys is a plan of blocks with keys and of modules. It has equal changes in many blocks, an object
// that is replaced because of another one, and objects that are deleted because their service was
// renamed.
func keys() *plans.Plan {
	var actions []plans.Action
	var impact []plans.Impact
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		block := fmt.Sprintf("module.edge[%q].service.site", key)
		update := action(plans.Update, fmt.Sprintf("%s/Deployment/site-%s-web", block, key),
			plans.Change{Path: `spec.template.spec.containers["web"].image`, Before: "quay.io/site:1", After: "quay.io/site:2"},
			plans.Change{Path: `spec.template.spec.containers["web"].env["HOST"].value`, Before: nil, After: fmt.Sprintf("site-%s.openstack", key)})
		update.Reasons = []plans.Reason{{Kind: plans.ReasonConfig}}
		object := create(update.Address.String(), "edge/main.hcl:3", m{"metadata": m{
			"name": update.Address.Name, "namespace": "openstack", "labels": m{providers.LabelService: "site-" + key},
		}})
		update.Object = object.Object
		actions = append(actions, update)
		impact = append(impact, disturbs(block, restarts(3, plans.Cause{Kind: plans.CauseFile, Name: fmt.Sprintf("site-%s.conf", key)})))
	}
	successor := secret("service.store[0]/Secret/vault-admin", "cloud.hcl:31", map[string]providers.SecretData{
		"password": {Carried: true, Parts: []providers.DataPart{{From: &providers.SecretKey{Namespace: "openstack", Name: "store-0-admin", Key: "password"}}}},
	})
	inherited := action(plans.Delete, "service.store[0]/Secret/store-0-admin")
	inherited.ValuesCopiedTo = successor.Address
	renamed := plans.Reason{Kind: plans.ReasonRenamed}
	actions = append(actions,
		because(action(plans.Replace, `service.redis["cache"]/Deployment/redis-cache`), plans.Reason{Kind: plans.ReasonTriggered, Detail: `module.edge["a"]`}),
		because(action(plans.Delete, "service.store[0]/Deployment/store-0"), renamed),
		successor,
		because(inherited, renamed),
		because(action(plans.Forget, "service.old/ConfigMap/old"), plans.Reason{Kind: plans.ReasonMoved, Detail: `service.old["x"]/ConfigMap/old`}),
		because(action(plans.Forget, "service.old/ConfigMap/older"), plans.Reason{Kind: plans.ReasonMoved, Detail: `service.old["x"]/ConfigMap/older`}),
		because(action(plans.Update, `service.old["x"]/ConfigMap/older`,
			plans.Change{Path: `data["a"]`, Before: "1", After: "2"},
			plans.Change{Path: `metadata.annotations["kolla.openstack.org/address"]`, Before: "service.old/ConfigMap/older", After: `service.old["x"]/ConfigMap/older`}),
			plans.Reason{Kind: plans.ReasonConfig}, plans.Reason{Kind: plans.ReasonMoved, Detail: "service.old/ConfigMap/older"}),
		because(action(plans.Update, `service.old["x"]/ConfigMap/old`,
			plans.Change{Path: `metadata.annotations["kolla.openstack.org/address"]`, Before: "service.old/ConfigMap/old", After: `service.old["x"]/ConfigMap/old`}),
			plans.Reason{Kind: plans.ReasonMoved, Detail: "service.old/ConfigMap/old"}),
	)
	p := newPlan(12, actions...)
	p.Selection.Targets = []string{`module.edge["a"]`, "service.store"}
	triggered := plans.Reason{Kind: plans.ReasonTriggered, Detail: `module.edge["a"]`}
	p.Impact = slices.Concat(impact, []plans.Impact{
		disturbs(`service.redis["cache"]`, plans.Effect{Kind: plans.EffectRecreate, Pods: 1, Why: []plans.Reason{triggered}, Grave: true}),
		disturbs("service.store[0]", stops(1)),
	})
	return p
}

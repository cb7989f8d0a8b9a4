package view_test

import (
	"fmt"
	"slices"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// keys is a plan of blocks with keys, and of modules: what is the same in many of them,
// what is replaced because of others, and what goes because its service is called
// something else.
func keys() *planner.Plan {
	var actions []planner.Action
	var impact []planner.Impact
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		block := fmt.Sprintf("module.edge[%q].service.site", key)
		update := action(planner.Update, fmt.Sprintf("%s/Deployment/site-%s-web", block, key),
			planner.Change{Path: `spec.template.spec.containers["web"].image`, Before: "quay.io/site:1", After: "quay.io/site:2"},
			planner.Change{Path: `spec.template.spec.containers["web"].env["HOST"].value`, Before: nil, After: fmt.Sprintf("site-%s.openstack", key)})
		update.Reasons = []planner.Reason{{Kind: planner.ReasonConfig}}
		object := create(update.Address.String(), "edge/main.hcl:3", m{"metadata": m{
			"name": update.Address.Name, "namespace": "openstack", "labels": m{providers.LabelService: "site-" + key},
		}})
		update.Object = object.Object
		actions = append(actions, update)
		impact = append(impact, disturbs(block, restarts(3, planner.Cause{Kind: planner.CauseFile, Name: fmt.Sprintf("site-%s.conf", key)})))
	}
	heir := secret("service.store[0]/Secret/vault-admin", "cloud.hcl:31", map[string]providers.SecretData{
		"password": {Carried: true, Parts: []providers.DataPart{{From: &providers.SecretKey{Namespace: "openstack", Name: "store-0-admin", Key: "password"}}}},
	})
	inherited := action(planner.Delete, "service.store[0]/Secret/store-0-admin")
	inherited.Heir = heir.Address
	renamed := planner.Reason{Kind: planner.ReasonRenamed}
	actions = append(actions,
		because(action(planner.Replace, `service.redis["cache"]/Deployment/redis-cache`), planner.Reason{Kind: planner.ReasonTriggered, Detail: `module.edge["a"]`}),
		because(action(planner.Delete, "service.store[0]/Deployment/store-0"), renamed),
		heir,
		because(inherited, renamed),
		because(action(planner.Forget, "service.old/ConfigMap/old"), planner.Reason{Kind: planner.ReasonMoved, Detail: `service.old["x"]/ConfigMap/old`}),
		because(action(planner.Forget, "service.old/ConfigMap/older"), planner.Reason{Kind: planner.ReasonMoved, Detail: `service.old["x"]/ConfigMap/older`}),
		because(action(planner.Update, `service.old["x"]/ConfigMap/older`,
			planner.Change{Path: `data["a"]`, Before: "1", After: "2"},
			planner.Change{Path: `metadata.annotations["kolla.openstack.org/address"]`, Before: "service.old/ConfigMap/older", After: `service.old["x"]/ConfigMap/older`}),
			planner.Reason{Kind: planner.ReasonConfig}, planner.Reason{Kind: planner.ReasonMoved, Detail: "service.old/ConfigMap/older"}),
		because(action(planner.Update, `service.old["x"]/ConfigMap/old`,
			planner.Change{Path: `metadata.annotations["kolla.openstack.org/address"]`, Before: "service.old/ConfigMap/old", After: `service.old["x"]/ConfigMap/old`}),
			planner.Reason{Kind: planner.ReasonMoved, Detail: "service.old/ConfigMap/old"}),
	)
	p := newPlan(12, actions...)
	p.Selection.Targets = []string{`module.edge["a"]`, "service.store"}
	triggered := planner.Reason{Kind: planner.ReasonTriggered, Detail: `module.edge["a"]`}
	p.Impact = slices.Concat(impact, []planner.Impact{
		disturbs(`service.redis["cache"]`, planner.Effect{Kind: planner.EffectRecreate, Pods: 1, Why: []planner.Reason{triggered}, Grave: true}),
		disturbs("service.store[0]", stops(1)),
	})
	return p
}

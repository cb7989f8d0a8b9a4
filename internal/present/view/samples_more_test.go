package view_test

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// replaceAndDelete loses objects: one is forced, two were taken out of the
// configuration, two are old versions; a node gives up a role.
func replaceAndDelete() *plans.Plan {
	replaced := because(action(plans.Replace, "service.keystone/Service/keystone",
		plans.Change{Path: "spec.clusterIP", Before: "None", After: nil},
		plans.Change{Path: `spec.ports["public"].nodePort`, Before: int64(30500), After: int64(30501)}),
		plans.Reason{Kind: plans.ReasonImmutable, Path: "spec.clusterIP"})
	replaced.Object = &providers.Object{Address: replaced.Address, Source: "cloud.hcl:41"}
	replaced.Holds = "the address that clients have cached"
	undeclared := plans.Reason{Kind: plans.ReasonUndeclared}
	superseded := plans.Reason{Kind: plans.ReasonSuperseded}
	role := because(action(plans.Delete, "role.compute/Node/hv-9",
		plans.Change{Path: `metadata.labels["kolla.openstack.org/role-compute"]`, Before: "true"}), undeclared)
	role.Partial = true
	job := because(action(plans.Replace, "service.keystone/Job/keystone-bootstrap-77d0"),
		plans.Reason{Kind: plans.ReasonFailedJob, Detail: "BackoffLimitExceeded"})
	p := newPlan(40,
		replaced,
		job,
		because(action(plans.Delete, "service.redis/StatefulSet/redis"), undeclared),
		because(action(plans.Delete, "service.redis/Service/redis"), undeclared),
		because(action(plans.Delete, "service.keystone/ConfigMap/keystone.conf-4be2a1"), superseded),
		because(action(plans.Delete, "service.glance/ConfigMap/glance-api.conf-0a77c2"), superseded),
		role,
	)
	for _, claim := range []string{"data-redis-0", "data-redis-1"} {
		p.Kept = append(p.Kept, plans.Kept{
			Address: address("service.redis/PersistentVolumeClaim/" + claim),
			Ref:     providers.Ref{GVK: schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}, Namespace: "openstack", Name: claim},
			Holds:   "the data of redis, which takes it up again if it comes back",
		})
	}
	service := action(plans.Replace, "service.keystone/Service/keystone").Ref
	p.Impact = []plans.Impact{
		disturbs("service.keystone", plans.Effect{Kind: plans.EffectUnreachable, Ref: service, Downtime: true, Grave: true}, plans.Effect{Kind: plans.EffectPorts, Ref: service, Grave: true}),
		disturbs("service.redis", stops(3), plans.Effect{Kind: plans.EffectJob, Name: "redis-backup"}),
	}
	return p
}

// destroyAll destroys a cloud, but not its data.
func destroyAll() *plans.Plan {
	var actions []plans.Action
	destroy := plans.Reason{Kind: plans.ReasonDestroy}
	for _, service := range []string{"horizon", "glance", "keystone"} {
		for _, kind := range []string{"Deployment", "Service", "ConfigMap", "Job"} {
			actions = append(actions, because(action(plans.Delete, fmt.Sprintf("service.%s/%s/%s-api", service, kind, service)), destroy))
		}
	}
	node := because(action(plans.Delete, "role.control/Node/ctl-1",
		plans.Change{Path: `metadata.labels["kolla.openstack.org/role-control"]`, Before: "true"}), destroy)
	node.Partial = true
	p := newPlan(0, append(actions, node)...)
	p.Destroy = true
	p.Kept = []plans.Kept{
		{Address: address("service.mariadb/PersistentVolumeClaim/data-mariadb-0"), Holds: "the databases of every service"},
		{Address: address("service.keystone/Secret/keystone-fernet"), Holds: "generated values"},
		{Address: address("cloud.prod/Namespace/openstack"), Holds: "everything in it"},
	}
	return p
}

// manyUpdates updates a cloud of some size to a new release, and changes an option of all services.
func manyUpdates() *plans.Plan {
	var actions []plans.Action
	var impact []plans.Impact
	for i := range 100 {
		service := fmt.Sprintf("svc%03d", i)
		conf := action(plans.Create, fmt.Sprintf("service.%s/ConfigMap/%s.conf-9f02", service, service), plans.Change{
			Path:   fmt.Sprintf("data[%q]", service+".conf"),
			Before: fmt.Sprintf("[DEFAULT]\ndebug = false\nhost = %s\n", service),
			After:  fmt.Sprintf("[DEFAULT]\ndebug = true\nhost = %s\n", service),
			Text:   true,
		})
		conf.Supersedes = address(fmt.Sprintf("service.%s/ConfigMap/%s.conf-11aa", service, service))
		conf.Object = &providers.Object{Address: conf.Address, Family: address(fmt.Sprintf("service.%s/ConfigMap/%s.conf", service, service))}
		api := action(plans.Update, fmt.Sprintf("service.%s/Deployment/%s-api", service, service),
			plans.Change{Path: `spec.template.spec.containers["api"].image`, Before: image("openstack-base"), After: "quay.io/openstack.kolla/openstack-base:2025.2-rocky-10"},
			plans.Change{Path: fmt.Sprintf(`spec.template.spec.volumes["%s.conf"].configMap.name`, service), Before: service + ".conf-11aa", After: service + ".conf-9f02"})
		budget := action(plans.Update, fmt.Sprintf("service.%s/PodDisruptionBudget/%s-api", service, service),
			plans.Change{Path: "spec.maxUnavailable", Before: int64(1), After: int64(2), Drift: true, Manager: "kubectl-patch", Time: now.Add(-3 * time.Hour)})
		actions = append(actions, conf, api, budget)
		impact = append(impact, disturbs("service."+service, restarts(3, plans.Cause{Kind: plans.CauseFile, Name: service + ".conf", Settings: []string{"[DEFAULT] debug"}})))
	}
	p := newPlan(700, actions...)
	p.Impact = impact
	p.Elapsed = 2100 * time.Millisecond
	return p
}

// unverified has objects whose changes the server could not verify.
func unverified() *plans.Plan {
	webhook := plans.Evidence{Kind: plans.Unverified, Detail: `the webhook "policy.example.org" refuses dry runs`}
	a := action(plans.Update, "service.keystone/Deployment/keystone-api", plans.Change{Path: "spec.replicas", Before: int64(3), After: int64(5)})
	b := create("manifest.dashboards/ConfigMap/monitoring/grafana", "extra.hcl:3", m{"data": m{"dashboard.json": "{\n}\n", "theme": "dark"}})
	a.Evidence, b.Evidence = webhook, webhook
	a.Force = true
	c := create("manifest.tunnels/Tunnel/tunnel", "extra.hcl:9", m{"spec": m{"mtu": int64(1450)}})
	c.Evidence = plans.Evidence{Kind: plans.Schema, Detail: "checked with the schema of CustomResourceDefinition/tunnels.example.org in this plan; its rules in CEL are only checked when it is written"}
	d := because(action(plans.Update, "manifest.tunnels/Peer/peer", plans.Change{Path: "spec.keepalive", After: int64(25)}),
		plans.Reason{Kind: plans.ReasonDefinition, Detail: "CustomResourceDefinition/peers.example.org"})
	d.Evidence = plans.Evidence{Kind: plans.Schema, Detail: "checked with the schema that CustomResourceDefinition/peers.example.org has after this plan"}
	p := newPlan(3, a, b, c, d, unread())
	const violation = `would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "api" must set securityContext.allowPrivilegeEscalation=false)`
	p.Warnings = []plans.Notice{
		{Address: a.Address, Text: violation},
		{Text: "v1 Endpoints is deprecated in v1.33+"},
		{Address: b.Address, Source: "extra.hcl:3", Summary: "ConfigMap monitoring/grafana stays", Text: "Others use it."},
		{Address: address("service.glance/Deployment/glance-api"), Text: violation},
	}
	return p
}

// unread has an object that could not be read.
func unread() plans.Action {
	a := action(plans.None, "manifest.metrics/Rule/latency")
	a.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: "objects of kind Rule in metrics.example.org/v1 cannot be read: the server behind metrics.example.org/v1 does not answer", Advice: "Ask whoever runs it."}
	return a
}

// unreadOnly has no changes, and an object that could not be read.
func unreadOnly() *plans.Plan { return newPlan(3, unread()) }

// adoptAndForget adopts an object and forgets another one.
func adoptAndForget() *plans.Plan {
	released := because(action(plans.Forget, "service.redis/StatefulSet/redis"),
		plans.Reason{Kind: plans.ReasonUndeclared, Detail: "a removed block (cloud.hcl:90) leaves it in the cluster, and kolla's labels and annotations are taken off it"})
	released.Releases = true
	return newPlan(10,
		because(action(plans.Adopt, "service.keystone/Deployment/keystone-api",
			plans.Change{Path: "spec.replicas", Before: int64(1), After: int64(3)},
			plans.Change{Path: `spec.template.spec.containers["api"].env["OLD"].value`, Before: "yes"}),
			plans.Reason{Kind: plans.ReasonUnowned}),
		released,
	)
}

// longValues has values that are too long, sensitive values and control characters.
func longValues() *plans.Plan {
	script := "#!/bin/sh\nset -e\nexec keystone-manage bootstrap\n"
	token := plans.Change{Path: `data["password"]`, Before: plans.Masked, After: plans.Masked, Sensitive: true, Drift: true, Manager: "kubectl-client-side-apply", Time: now.Add(-90 * 24 * time.Hour)}
	annotation := strings.Repeat("0123456789", 30)
	p := newPlan(1,
		action(plans.Update, "service.keystone/ServiceAccount/keystone",
			plans.Change{Path: `metadata.annotations["example.org/fingerprint"]`, Before: annotation + "old" + annotation, After: annotation + "new" + annotation},
			plans.Change{Path: `metadata.annotations["example.org/certificate-authority"]`, After: annotation},
			plans.Change{Path: `metadata.annotations["steer"]`, Before: "\x1b[2Jcleared", After: "日本語 と \u202eكلمة"},
			plans.Change{Path: `secrets`, Before: []any{m{"name": "a"}, m{"name": "b"}}, After: []any{m{"name": "a"}}},
			plans.Change{Path: `spec.sidecars`, After: []any{m{"name": "log", "image": image("fluentd"), "args": []any{"--quiet"}}}},
			plans.Change{Path: `metadata.uid`, After: plans.Unknown}),
		action(plans.Update, "service.keystone/Secret/keystone-admin", token),
		action(plans.Update, "manifest.scripts/ConfigMap/scripts",
			plans.Change{Path: `data["run.sh"]`, Before: script, After: strings.Replace(script, "set -e", "set -eu  ", 1) + "# done", Text: true},
			plans.Change{Path: `data["short"]`, Before: "x", After: "y", Text: true},
			plans.Change{Path: `data["long"]`, Before: strings.Repeat(annotation, 10), After: strings.Repeat(annotation, 10) + "0123456789", Text: true},
			plans.Change{Path: `data["minified.json"]`, Before: "{\n" + strings.Repeat(annotation, 4) + "old\n}\n", After: "{\n" + strings.Repeat(annotation, 4) + "new\n}\n", Text: true}),
		create("service.keystone/Deployment/keystone-api", "cloud.hcl:41", m{"spec": m{"replicas": int64(1), "template": m{"spec": pod("control", "api",
			"registry.example.org:5000/mirrors/quay.io/openstack.kolla/keystone@sha256:"+strings.Repeat("ab", 32))}}}),
	)
	p.Actions[len(p.Actions)-1].Object.Holds = "nothing"
	return p
}

// unchanged is a plan without changes. Some of its objects are not ready yet.
func unchanged(objects, pending int) func() *plans.Plan {
	return func() *plans.Plan {
		p := newPlan(objects)
		for i := range pending {
			p.Actions[i].Pending = true
		}
		return p
	}
}

// nothingToDestroy is the plan of a second destroy.
func nothingToDestroy() *plans.Plan {
	p := newPlan(0)
	p.Destroy = true
	p.Cluster = providers.Identity{Server: "https://10.0.0.10:6443"}
	return p
}

// haystack is a large plan with one danger of each kind near its end.
func haystack() *plans.Plan {
	p := manyUpdates()
	undeclared := plans.Reason{Kind: plans.ReasonUndeclared}
	volume := because(action(plans.Delete, "service.mariadb/PersistentVolumeClaim/data-mariadb-0"), undeclared)
	volume.Holds = "the data on its volume"
	forced := because(action(plans.Update, "service.svc050/Service/svc050",
		plans.Change{Path: "spec.type", Before: "ClusterIP", After: "NodePort"}), plans.Reason{Kind: plans.ReasonConfig})
	forced.Force = true
	for i := range 8 {
		name := fmt.Sprintf("svc%03d", 20+i)
		gone := create("service."+name+"/Service/"+name, "cloud.hcl:81", m{"spec": m{"ports": []any{m{"name": "api", "port": int64(8000)}}}})
		p.Actions = append(p.Actions, because(gone, plans.Reason{Kind: plans.ReasonGone}))
	}
	p.Impact = append(p.Impact, disturbs("service.redis", stops(3)))
	p.Actions = append(p.Actions,
		because(action(plans.Delete, "service.redis/StatefulSet/redis"), undeclared),
		because(action(plans.Replace, "service.svc099/Deployment/svc099-api"), plans.Reason{Kind: plans.ReasonImmutable, Path: "spec.selector"}),
		volume, forced)
	return p
}

// requested replaces an object at the operator's request, in a plan for a part of the cloud.
func requested() *plans.Plan {
	p := newPlan(3, because(action(plans.Replace, "service.nova/Deployment/nova-api"), plans.Reason{Kind: plans.ReasonRequested}))
	p.Selection = plans.Selection{Targets: []string{"service.nova"}, Excludes: []string{"service.nova/Job/nova-cell-map"}}
	return p
}

// refreshOnly shows drift and does not revert it.
func refreshOnly() *plans.Plan {
	p := newPlan(3,
		because(action(plans.None, "service.glance/Deployment/glance-api",
			plans.Change{Path: "spec.replicas", Before: int64(3), After: int64(5), Drift: true, Manager: "kubectl", Time: now.Add(-50 * time.Minute)}),
			plans.Reason{Kind: plans.ReasonDrift}),
		because(action(plans.Forget, "service.nova/Service/nova-metadata"), plans.Reason{Kind: plans.ReasonGone}),
		action(plans.Refresh, "service.nova/Deployment/nova-api"))
	p.RefreshOnly = true
	return p
}

// lossesAndOthers has data that is lost, data that is left behind, fields that other controllers
// own, and fields that other clients added.
func lossesAndOthers() *plans.Plan {
	ref := func(kind, name string) providers.Ref {
		return providers.Ref{GVK: schema.GroupVersionKind{Version: "v1", Kind: kind}, Namespace: "openstack", Name: name}
	}
	gone := plans.Reason{Kind: plans.ReasonGone}
	keys := because(create("service.keystone/Secret/keystone-fernet", "cloud.hcl:41", m{}), gone)
	keys.Ref = ref("Secret", "keystone-fernet")
	database := because(create("service.mariadb/StatefulSet/mariadb-server", "cloud.hcl:30", m{}), gone)
	left := because(action(plans.Delete, "service.rabbitmq/Service/rabbitmq"), plans.Reason{Kind: plans.ReasonRenamed, Detail: "service.rabbit2"})
	too := because(action(plans.Delete, "service.rabbitmq/Secret/rabbitmq-cookie"), plans.Reason{Kind: plans.ReasonRenamed, Detail: "service.rabbit2"})
	yields := action(plans.None, "service.glance/Deployment/glance-api")
	yields.Object = &providers.Object{Manifest: &unstructured.Unstructured{Object: m{"spec": m{"replicas": int64(10), "paused": true}}}}
	yields.Prior.UID = "1"
	yields.Yields = []plans.Yield{
		{Path: "spec.replicas", Manager: "horizontal-pod-autoscaler", Want: int64(10), Live: int64(6)},
		{Path: "spec.paused", Declared: true, Want: true},
	}
	p := newPlan(20, keys, database, left, too, yields)
	p.Losses = []plans.Loss{
		{Address: keys.Address, Refs: []providers.Ref{keys.Ref}, Holds: "generated values", Means: "all tokens become invalid"},
		{
			Address: database.Address, Refs: []providers.Ref{ref("PersistentVolumeClaim", "data-mariadb-server-0")}, Holds: "the data on its volumes",
			Jobs: []addrs.Object{address("service.keystone/Job/keystone-db-create"), address("service.keystone/Job/keystone-db-sync")},
		},
		{
			Address: address("service.rabbit2/StatefulSet/rabbit2-server"), Kept: true, Holds: "the data on its volumes",
			Refs: []providers.Ref{ref("PersistentVolumeClaim", "data-rabbitmq-server-0"), ref("PersistentVolumeClaim", "data-rabbitmq-server-1")},
		},
	}
	p.Foreign = []plans.Foreign{{Address: p.Actions[0].Address, Ref: p.Actions[0].Ref, Fields: []plans.Change{
		{Path: "metadata.labels.team", Before: "blue", Manager: "k9s", Time: p.Created.Add(-time.Hour)},
		{Path: `spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]`, Before: "2026-11-20T08:00:00Z", Manager: "kubectl-rollout", Time: p.Created.Add(-20 * time.Hour)},
	}}}
	return p
}

// mixedDrift has special cases of drift: together with a change of the declaration, without a known
// author, and replicas that an autoscaler will change again.
func mixedDrift() *plans.Plan {
	at := now.Add(-50 * time.Minute)
	return newPlan(3,
		action(plans.Update, "manifest.web/ConfigMap/conf",
			plans.Change{Path: `data["app.conf"]`, Before: "[a]\ndebug = true\nsize = 5\n", After: "[a]\ndebug = false\nsize = 50\n", Text: true, Drift: true, Edited: true, Manager: "kubectl-edit", Time: at}),
		action(plans.Update, "manifest.web/Deployment/web",
			plans.Change{Path: "spec.minReadySeconds", Before: int64(5), After: int64(3), Drift: true, Edited: true, Manager: "k9s", Time: at},
			plans.Change{Path: "spec.paused", Before: true, Drift: true},
			plans.Change{Path: "spec.replicas", Before: int64(0), After: int64(3), Drift: true}),
		because(action(plans.Replace, "manifest.api/Deployment/api",
			plans.Change{Path: "spec.replicas", Before: int64(6), After: int64(3), Manager: "horizontal-pod-autoscaler", Time: at}),
			plans.Reason{Kind: plans.ReasonRequested}),
	)
}

// keptDrift has drift that an apply does not revert: a reported field, and a generated value that
// another client replaced.
func keptDrift() *plans.Plan {
	reported := withValues(action(plans.None, "service.glance/Deployment/glance-api"), &plans.Values{
		Before:  &extract.Part{Values: m{"spec": m{"paused": true}}},
		Written: &extract.Part{Values: m{"spec": m{}}},
	})
	reported.Reported = true
	secret := &extract.Part{Values: m{"data": m{"value": plans.Masked}}, Sensitive: m{"data": m{"value": true}}}
	replaced := withValues(because(action(plans.None, "service.keystone/Secret/keystone-admin"),
		plans.Reason{Kind: plans.ReasonReplaced, Path: `data["value"]`, Manager: "kubectl-edit", Time: now.Add(-50 * time.Minute)}),
		&plans.Values{Before: secret})
	p := newPlan(2, reported, replaced)
	p.ForeignPolicy = plans.ReportForeign
	p.Foreign = []plans.Foreign{{Address: reported.Address, Ref: reported.Ref, Reported: true, Fields: []plans.Change{
		{Path: "spec.paused", Before: true, Drift: true, Manager: "k9s", Time: now.Add(-time.Hour)},
		{Path: `spec.template.spec.containers["api"].env`, Before: []any{m{"name": "EXTRA", "value": "1"}}, Drift: true, Manager: "kubectl-set", Time: now.Add(-time.Hour)},
	}}}
	return p
}

// partlyUnchanged is a plan without changes for a part of the cloud.
func partlyUnchanged() *plans.Plan {
	p := newPlan(2)
	p.Selection.Targets = []string{"service.nova"}
	return p
}

// debugged has a Pod with an added ephemeral container, which only a replacement removes.
func debugged() *plans.Plan {
	a := action(plans.None, "manifest.tools/Pod/tool")
	a.Reported = true
	p := newPlan(2, a)
	p.Foreign = []plans.Foreign{{Address: a.Address, Ref: a.Ref, Reported: true, Stuck: true, Fields: []plans.Change{
		{Path: "spec.ephemeralContainers", Before: []any{m{"name": "debugger", "image": "busybox"}}, Drift: true, Manager: "kubectl-debug", Time: p.Created.Add(-time.Hour)},
	}}}
	return p
}

// notCompared is a plan with foreign = "ignore": added fields are not compared.
func notCompared() *plans.Plan {
	p := newPlan(2)
	p.ForeignPolicy = plans.IgnoreForeign
	return p
}

// nothingSelected excludes all objects.
func nothingSelected() *plans.Plan {
	p := newPlan(0)
	p.Selection.Excludes = []string{"cloud.prod"}
	return p
}

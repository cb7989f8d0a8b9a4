package view_test

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/planner/plans"
)

// within puts the object of an action into another namespace, or into none.
func within(a plans.Action, namespace string) plans.Action {
	a.Ref.Namespace = namespace
	return a
}

// rule returns a rule of a Role.
func rule(resource string, verbs ...any) m {
	return m{"apiGroups": []any{""}, "resources": []any{resource}, "verbs": verbs}
}

// everything returns the rule that grants all rights.
func everything() m { return m{"apiGroups": []any{"*"}, "resources": []any{"*"}, "verbs": []any{"*"}} }

// otherKinds creates kinds of objects that the catalogue does not use: roles, policies, a
// privileged pod and a custom resource.
func otherKinds() *plans.Plan {
	const source = "third.yaml:1"
	agent := pod("compute", "agent", "example.org/agent:1")
	agent["hostNetwork"], agent["automountServiceAccountToken"] = true, true
	agent["volumes"] = []any{m{"name": "run", "hostPath": m{"path": "/run"}}}
	agent["containers"].([]any)[0].(m)["securityContext"] = m{"runAsUser": int64(0), "capabilities": m{"add": []any{"SYS_ADMIN"}}}
	peer := create("manifest.peer/Peer/peer", source, m{"spec": m{"name": "one", "with": []any{m{"address": "10.0.0.1", "port": int64(1)}}}})
	peer.Ref.GVK = schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Peer"}
	peer.Object.Manifest.SetAPIVersion("example.org/v1")
	return newPlan(3,
		within(create("manifest.third/ClusterRole/operator", source, m{"rules": []any{rule("secrets", "get"), everything()}}), ""),
		within(create("manifest.third/ClusterRoleBinding/operator", source, m{
			"roleRef":  m{"kind": "ClusterRole", "name": "operator"},
			"subjects": []any{m{"kind": "ServiceAccount", "name": "operator", "namespace": "openstack"}},
		}), ""),
		create("manifest.third/NetworkPolicy/db", source, m{"spec": m{
			"podSelector": m{"matchLabels": m{"app": "db"}},
			"ingress":     []any{m{"from": []any{m{"podSelector": m{"matchLabels": m{"app": "web"}}}}, "ports": []any{m{"port": int64(3306)}}}},
		}}),
		create("manifest.third/CronJob/backup", source, m{"spec": m{"schedule": "0 3 * * *", "jobTemplate": m{"spec": m{"template": m{"spec": pod("control", "backup", "example.org/backup:1", "sh", "-c", "set -e\ntar c /data | curl -T - https://example.org/a/long/path/where/backups/are/kept\n")}}}}}),
		within(workload("DaemonSet", "manifest.third/DaemonSet/agent", source, 0, agent), "kube-system"),
		create("manifest.third/ServiceAccount/operator", source, nil),
		peer,
	)
}

// changedLists changes elements of lists without keys.
func changedLists() *plans.Plan {
	role := because(action(plans.Update, "manifest.third/Role/operator",
		plans.Change{Path: "rules", Before: []any{rule("pods", "get", "list"), rule("secrets", "get"), rule("events", "create")}, After: []any{rule("pods", "get", "list"), everything(), rule("configmaps", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")}}))
	agent := because(action(plans.Update, "manifest.third/DaemonSet/agent",
		plans.Change{Path: `spec.template.spec.containers["agent"].args`, Before: []any{"--verbose", "--server=https://one.example.org", "--insecure=false"}, After: []any{"--server=https://one.example.org", "--insecure=true"}},
		plans.Change{Path: `spec.template.spec.containers["agent"].command`, After: []any{"/agent"}},
		plans.Change{Path: `spec.template.spec.containers["debug"]`, Before: m{"name": "debug", "image": "example.org/debug:1", "args": []any{"a", "b"}}},
		plans.Change{Path: `spec.template.spec.containers["script"].args`, Before: []any{"-c", "set -e\nrun one\nrun two\n"}, After: []any{"-c", "set -e\nrun one\nrun three\n"}},
		plans.Change{Path: "spec.template.spec.dnsConfig.searches", Before: []any{"a.example.org", "b.example.org"}, After: []any{"b.example.org", "a.example.org"}},
		plans.Change{Path: "spec.template.spec.tolerations", Before: []any{m{"key": "a", "operator": "Exists"}}, After: []any{m{"key": "a", "operator": "Equal", "value": "x"}, m{"operator": "Exists"}}, Drift: true, Manager: "kubectl-edit"}))
	policy := because(action(plans.Update, "manifest.third/NetworkPolicy/db",
		plans.Change{
			Path:   "spec.ingress",
			Before: []any{m{"from": []any{m{"ipBlock": m{"cidr": "10.0.0.0/8", "except": []any{"10.1.0.0/16", "10.2.0.0/16"}}}, m{"podSelector": m{"matchLabels": m{"app": "web"}}}}}},
			After:  []any{m{"from": []any{m{"ipBlock": m{"cidr": "0.0.0.0/0", "except": []any{"10.1.0.0/16", "10.2.0.0/16"}}}, m{"podSelector": m{"matchLabels": m{"app": "web"}}}}, "ports": []any{m{"port": int64(3306)}}}},
		},
		plans.Change{
			Path:   "spec.podSelector",
			Before: m{"matchLabels": m{"app": "db", "example.org/a-long-name": "which leaves no room"}},
			After:  m{"matchLabels": m{"app": "db", "example.org/a-long-name": "which leaves no room on the line"}},
		}))
	return newPlan(3, role, agent, policy)
}

// wideCommand is longer than the width of a screen.
var wideCommand = "cleanup " + strings.Repeat("--keep=one-of-many ", 8) + "--then=exfiltrate"

// question prints the summary above the question whether to carry out a plan.
func question(sample func() *plans.Plan, context string) func(*view.Printer) {
	return func(p *view.Printer) { p.About(sample(), "https://10.0.0.10:6443", context, view.PlanOptions{}) }
}

// knownSecrets has Secrets whose values other clients may know: one is adopted, and one was
// replaced.
func knownSecrets() *plans.Plan {
	planted := secret("service.mariadb/Secret/mariadb-root", "cloud.hcl:38", password())
	planted.Verb, planted.Reasons = plans.Adopt, []plans.Reason{{Kind: plans.ReasonUnowned}}
	planted.Changes = []plans.Change{{Path: `metadata.labels["app.kubernetes.io/managed-by"]`, After: "kolla"}}
	replaced := because(action(plans.Update, "service.web/Secret/web-admin"),
		plans.Reason{Kind: plans.ReasonReplaced, Path: `data["value"]`, Manager: "kubectl-edit"})
	return newPlan(3, planted, replaced)
}

// destroyWithData destroys objects with data, and pods with running servers in another namespace.
func destroyWithData() *plans.Plan {
	p := replaceAndDelete()
	p.Destroy = true
	p.Actions = append(p.Actions, within(because(action(plans.Delete, "manifest.third/DaemonSet/agent"), plans.Reason{Kind: plans.ReasonDestroy}), "kube-system"))
	p.Impact = append(p.Impact, disturbs("manifest.third", plans.Effect{Kind: plans.EffectCutOff, Data: "running servers", Grave: true, Carried: []plans.Carried{
		{Node: "node-1", Items: []string{"db (5c1f)", "web-1 (2b0a)"}},
		{Node: "node-2", Unknown: "the node is down"},
	}}))
	return p
}

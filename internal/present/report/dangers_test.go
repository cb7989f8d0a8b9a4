package report_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestDangers checks which changes of rights and of addresses count as dangers.
func TestDangers(t *testing.T) {
	rule := func(resources, verbs, names []any) map[string]any {
		out := map[string]any{"apiGroups": []any{""}, "resources": resources, "verbs": verbs}
		if names != nil {
			out["resourceNames"] = names
		}
		return out
	}
	pods := rule([]any{"pods"}, []any{"get", "list"}, nil)
	subject := func(name string) map[string]any { return map[string]any{"kind": "User", "name": name} }
	const rights, addresses = "rights of accounts grow: manifest.x/", "addresses that clients use change: manifest.x/"
	for name, test := range map[string]struct {
		group, kind string
		verb        plans.Verb
		change      plans.Change
		want        string
	}{
		"another verb":      {"rbac.authorization.k8s.io", "Role", plans.Update, plans.Change{Path: "rules", Before: []any{pods}, After: []any{rule([]any{"pods"}, []any{"get", "list", "watch"}, nil)}}, rights},
		"fewer verbs":       {"rbac.authorization.k8s.io", "Role", plans.Update, plans.Change{Path: "rules", Before: []any{pods}, After: []any{rule([]any{"pods"}, []any{"get"}, nil)}}, ""},
		"one name":          {"rbac.authorization.k8s.io", "Role", plans.Update, plans.Change{Path: "rules", Before: []any{pods}, After: []any{rule([]any{"pods"}, []any{"get"}, []any{"a"})}}, ""},
		"all names":         {"rbac.authorization.k8s.io", "Role", plans.Update, plans.Change{Path: "rules", Before: []any{rule([]any{"pods"}, []any{"get"}, []any{"a"})}, After: []any{rule([]any{"pods"}, []any{"get"}, nil)}}, rights},
		"within everything": {"rbac.authorization.k8s.io", "ClusterRole", plans.Update, plans.Change{Path: "rules", Before: []any{rule([]any{"*"}, []any{"*"}, nil)}, After: []any{pods}}, ""},
		"a new role":        {"rbac.authorization.k8s.io", "ClusterRole", plans.Create, plans.Change{Path: "rules", After: []any{pods}}, rights},
		"another subject":   {"rbac.authorization.k8s.io", "RoleBinding", plans.Update, plans.Change{Path: "subjects", Before: []any{subject("a")}, After: []any{subject("a"), subject("b")}}, rights},
		"fewer subjects":    {"rbac.authorization.k8s.io", "RoleBinding", plans.Update, plans.Change{Path: "subjects", Before: []any{subject("a"), subject("b")}, After: []any{subject("a")}}, ""},
		"put back":          {"rbac.authorization.k8s.io", "RoleBinding", plans.Update, plans.Change{Path: "subjects", After: []any{subject("a")}, Drift: true}, ""},
		"another group":     {"example.org", "Role", plans.Update, plans.Change{Path: "rules", After: []any{pods}}, ""},
		"a port":            {"", "Service", plans.Update, plans.Change{Path: `spec.ports[80/TCP].nodePort`, Before: int64(1), After: int64(2)}, addresses},
		"a selector":        {"", "Service", plans.Update, plans.Change{Path: `spec.selector.app`, Before: "a", After: "b"}, ""},
		"a host":            {"networking.k8s.io", "Ingress", plans.Update, plans.Change{Path: `spec.rules[0].host`, Before: "a", After: "b"}, addresses},
		"a new address":     {"", "Service", plans.Create, plans.Change{Path: `spec.type`, After: "NodePort"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			address := addrs.Object{Block: "manifest.x", Kind: test.kind, Name: "x"}
			plan := &plans.Plan{Actions: []plans.Action{{
				Address: address, Verb: test.verb, Changes: []plans.Change{test.change},
				Ref: providers.Ref{GVK: schema.GroupVersionKind{Group: test.group, Version: "v1", Kind: test.kind}, Namespace: "openstack", Name: "x"},
			}}}
			var want []string
			if test.want != "" {
				want = []string{test.want + test.kind + "/x"}
			}
			if got := report.Of(plan, report.Moment{}).Dangers(false); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

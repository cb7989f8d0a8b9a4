package policy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/run/policy"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

const group = "rbac.authorization.k8s.io"

func action(t *testing.T, verb plans.Verb, group, at string, changes ...plans.Change) plans.Action {
	t.Helper()
	address, err := addrs.ParseObject(at)
	if err != nil {
		t.Fatal(err)
	}
	return plans.Action{
		Address: address, Verb: verb, Evidence: plans.Evidence{Kind: plans.DryRun}, Changes: changes,
		Ref: providers.Ref{GVK: schema.GroupVersionKind{Group: group, Version: "v1", Kind: address.Kind}, Namespace: "openstack", Name: address.Name},
	}
}

// TestFacts compares the facts about a plan of many kinds of actions and effects.
func TestFacts(t *testing.T) {
	changed := action(t, plans.Update, "apps", "service.keystone/Deployment/keystone-api",
		plans.Change{Path: "spec.replicas", Before: 5, After: 3, Drift: true, Manager: "kubectl"})
	changed.Reasons = []plans.Reason{{Kind: plans.ReasonDrift, Path: "spec.replicas"}}
	deleted := action(t, plans.Delete, "", `module.edge["west"].service.mariadb["a"]/PersistentVolumeClaim/data-0`)
	deleted.Holds, deleted.Reasons = "the data on it", []plans.Reason{{Kind: plans.ReasonUndeclared}}
	old := action(t, plans.Delete, "", "service.keystone/ConfigMap/keystone.conf-1")
	old.Reasons = []plans.Reason{{Kind: plans.ReasonSuperseded}}
	part := action(t, plans.Delete, "", "role.control/Node/ctl-1")
	part.Partial = true
	moved := action(t, plans.Update, "", "manifest.new/ConfigMap/x",
		plans.Change{Path: `metadata.annotations["` + providers.AnnotationAddress + `"]`, Before: "manifest.old/ConfigMap/x", After: "manifest.new/ConfigMap/x"})
	moved.Reasons = []plans.Reason{{Kind: plans.ReasonMoved, Detail: "manifest.old/ConfigMap/x"}}
	left := action(t, plans.Forget, "", "manifest.old/ConfigMap/x")
	left.Reasons = []plans.Reason{{Kind: plans.ReasonMoved, Detail: "manifest.new/ConfigMap/x"}}
	gone := action(t, plans.Create, "", "service.nova/Service/nova")
	gone.Reasons, gone.Evidence = []plans.Reason{{Kind: plans.ReasonGone}}, plans.Evidence{Kind: plans.Unverified}
	same := action(t, plans.None, "", "service.nova/ConfigMap/same")
	unread := action(t, plans.None, "", "service.nova/ConfigMap/unread")
	unread.Evidence.Kind = plans.Unverified
	plan := &plans.Plan{
		Cloud: "prod", Namespace: "openstack", Selection: plans.Selection{Targets: []string{"service.keystone"}},
		Actions: []plans.Action{changed, deleted, old, part, moved, left, gone, same, unread},
		Foreign: []plans.Foreign{{Address: same.Address, Reported: true, Fields: []plans.Change{{Path: "data.x", Manager: "helm"}}}},
		Impact: []plans.Impact{{Block: "service.keystone", Effects: []plans.Effect{
			{Kind: plans.EffectRestart, Name: "keystone-api", Pods: 3, Strategy: plans.Rolling, AtATime: 1, Data: "nobody logs in", Causes: []plans.Cause{{Kind: plans.CauseImage, Before: "a:1", After: "a:2"}}},
			{Kind: plans.EffectStop, Pods: 2, Downtime: true},
			{Kind: plans.EffectLoss, Loss: &plans.Loss{}},
			{Kind: plans.EffectLoss, Loss: &plans.Loss{Kept: true}},
			{Kind: plans.EffectCutOff, Data: "servers", Items: []string{"a", "b"}, Carried: []plans.Carried{{Node: "a", Items: []string{"web-1"}}, {Node: "b", Items: []string{"web-2"}}}},
			{Kind: plans.EffectUnreachable, Downtime: true},
			{Kind: plans.EffectJob, Name: "sync"},
			{Kind: plans.EffectDeploy, Pods: 1},
		}}},
	}
	got := policy.Facts(plan)
	var actions []string
	for _, a := range got.Actions {
		actions = append(actions, strings.Join([]string{a.Block, a.Service, a.Kind, a.Name, a.Verb, strings.Join(a.Reasons, "+"), strings.Join(a.Changes, "+"), strings.Join(a.Dangers, "+"), a.Evidence}, " "))
	}
	want := []string{
		"service.keystone keystone Deployment keystone-api update drift spec.replicas  dry-run",
		`module.edge["west"].service.mariadb["a"] mariadb PersistentVolumeClaim data-0 delete undeclared  data+destroy dry-run`,
		"service.keystone keystone ConfigMap keystone.conf-1 prune superseded   dry-run",
		"role.control  Node ctl-1 update    dry-run",
		`manifest.new  ConfigMap x move moved metadata.annotations["` + providers.AnnotationAddress + `"]  dry-run`,
		"service.nova nova Service nova create gone  unverified unverified",
	}
	if diff := cmp.Diff(want, actions); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]configs.DriftFacts{
		{Address: "service.keystone/Deployment/keystone-api", Path: "spec.replicas", Manager: "kubectl"},
		{Address: "service.nova/Service/nova"},
		{Address: "service.nova/ConfigMap/same", Path: "data.x", Manager: "helm"},
	}, got.Drift); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	names := func(effects []configs.EffectFacts) string {
		var out []string
		for _, e := range effects {
			out = append(out, e.Effect)
		}
		return strings.Join(out, " ")
	}
	for _, list := range []struct{ name, got, want string }{
		{"restarts", names(got.Impact.Restarts), "restart"},
		{"stops", names(got.Impact.Stops), "stop"},
		{"downtime", names(got.Impact.Downtime), "stop unreachable"},
		{"data_at_risk", names(got.Impact.DataAtRisk), "loss"},
		{"cut_off", names(got.Impact.CutOff), "cut-off"},
		{"endpoints", names(got.Impact.Endpoints), "unreachable"},
		{"jobs", names(got.Impact.Jobs), "job"},
		{"items", strings.Join(got.Impact.CutOff[0].Items, " "), "web-1 web-2"},
		{"not compared", strings.Join(got.NotCompared, " "), "service.nova/ConfigMap/unread"},
	} {
		if list.got != list.want {
			t.Errorf("%s: got %q, want %q", list.name, list.got, list.want)
		}
	}
	if !got.Restricted || got.Counts.Destroy != 1 || got.Counts.Move != 1 || got.Counts.Prune != 1 {
		t.Errorf("got %+v", got)
	}
	if e := got.Impact.Restarts[0]; e.Disruption != "nobody logs in" || e.Causes[0].After != "a:2" {
		t.Errorf("got %+v", e)
	}
}

// TestUpgrade checks the facts about a change of the release.
func TestUpgrade(t *testing.T) {
	images := func(release string) plans.Images { return plans.Images{Release: release} }
	for name, test := range map[string]struct {
		upgrade *plans.Upgrade
		want    configs.UpgradeFacts
	}{
		"none":        {nil, configs.UpgradeFacts{Supported: true}},
		"supported":   {&plans.Upgrade{From: images("2025.1"), To: images("2026.1")}, configs.UpgradeFacts{From: "2025.1", To: "2026.1", Supported: true}},
		"too far":     {&plans.Upgrade{From: images("2025.1"), To: images("2026.2")}, configs.UpgradeFacts{From: "2025.1", To: "2026.2"}},
		"not known":   {&plans.Upgrade{To: images("2026.1")}, configs.UpgradeFacts{To: "2026.1", Supported: true}},
		"one service": {&plans.Upgrade{From: images("2026.1"), To: images("2026.1"), Backward: true, Services: []plans.ServiceUpgrade{{Name: "nova", From: images("2026.1"), To: images("2025.2")}}}, configs.UpgradeFacts{From: "2026.1", To: "2026.1", Backward: true, Services: []string{"nova"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, policy.Facts(&plans.Plan{Upgrade: test.upgrade}).Upgrade); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestFactsHoldNoValues puts a value into every place of a plan that holds values.
func TestFactsHoldNoValues(t *testing.T) {
	const secret = "hunter2"
	a := action(t, plans.Update, "", "service.keystone/Secret/keystone-admin",
		plans.Change{Path: `data["password"]`, Before: secret, After: secret, Drift: true}, plans.Change{Path: `data["other"]`, After: secret, Sensitive: true})
	a.Object = &providers.Object{
		Address: a.Address, Manifest: &unstructured.Unstructured{Object: map[string]any{"stringData": map[string]any{"password": secret}}},
		Data: map[string]providers.SecretData{"password": {Parts: []providers.DataPart{{Literal: secret}, {Sensitive: secret}}}},
	}
	a.Values = &plans.Values{Before: &extract.Part{Values: map[string]any{"data": secret}}}
	a.Yields = []plans.Yield{{Path: "data", Value: secret, Want: secret, Live: secret}}
	plan := &plans.Plan{
		Actions: []plans.Action{a}, Variables: map[string]json.RawMessage{"password": json.RawMessage(`"` + secret + `"`)},
		Foreign: []plans.Foreign{{Address: a.Address, Reported: true, Fields: []plans.Change{{Path: "data", Before: secret}}}},
	}
	text, err := json.Marshal(policy.Facts(plan))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), secret) || !strings.Contains(string(text), "password") {
		t.Errorf("facts are %s", text)
	}
}

// TestEndpoints checks that a changed address of a service counts as a changed endpoint.
func TestEndpoints(t *testing.T) {
	host := plans.Change{Path: "spec.rules[0].host", Before: "a.example.org", After: "b.example.org"}
	ingress := action(t, plans.Update, "networking.k8s.io", "manifest.web/Ingress/web", host)
	drifted := ingress
	drifted.Changes = []plans.Change{host}
	drifted.Changes[0].Drift = true
	facts := policy.Facts(&plans.Plan{Actions: []plans.Action{ingress}})
	if len(facts.Impact.Endpoints) != 1 || facts.Impact.Endpoints[0].Name != "web" || facts.Impact.Endpoints[0].Effect != "address" {
		t.Errorf("the endpoints that change are %+v", facts.Impact.Endpoints)
	}
	if facts := policy.Facts(&plans.Plan{Actions: []plans.Action{drifted}}); len(facts.Impact.Endpoints) != 0 {
		t.Errorf("an apply that takes a change back changes the endpoints %+v", facts.Impact.Endpoints)
	}
}

// TestRights checks which changes of roles and bindings grant more rights.
func TestRights(t *testing.T) {
	rule := func(verbs ...any) map[string]any {
		return map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": verbs}
	}
	named := func(names ...any) map[string]any {
		r := rule("get")
		r["resourceNames"] = names
		return r
	}
	who := func(name string) map[string]any { return map[string]any{"kind": "User", "name": name} }
	rules := func(before, after []any) plans.Change {
		return plans.Change{Path: "rules", Before: before, After: after}
	}
	role := func(verb plans.Verb, changes ...plans.Change) plans.Action {
		return action(t, verb, group, "service.x/Role/x", changes...)
	}
	for name, test := range map[string]struct {
		action plans.Action
		want   bool
	}{
		"a new role":              {role(plans.Create), true},
		"a role made again":       {role(plans.Replace), true},
		"a role that goes":        {role(plans.Delete), false},
		"another verb":            {role(plans.Update, rules([]any{rule("get")}, []any{rule("get", "list")})), true},
		"one verb less":           {role(plans.Update, rules([]any{rule("get", "list")}, []any{rule("get")})), false},
		"one rule less":           {role(plans.Update, rules([]any{rule("get"), rule("list")}, []any{rule("list")})), false},
		"a verb of all":           {role(plans.Update, rules([]any{rule("*")}, []any{rule("get"), rule("list")})), false},
		"all verbs":               {role(plans.Update, rules([]any{rule("get")}, []any{rule("*")})), true},
		"no names any more":       {role(plans.Update, rules([]any{named("a")}, []any{rule("get")})), true},
		"fewer names":             {role(plans.Update, rules([]any{named("a", "b")}, []any{named("a")})), false},
		"names where were none":   {role(plans.Update, rules([]any{rule("get")}, []any{named("a")})), false},
		"all rules gone":          {role(plans.Update, plans.Change{Path: "rules", Before: []any{rule("get")}}), false},
		"a part of a rule":        {role(plans.Update, plans.Change{Path: "rules[0].verbs", Before: []any{"get"}, After: []any{"get", "list"}}), true},
		"the names of a rule":     {role(plans.Update, plans.Change{Path: "rules[0].resourceNames", Before: []any{"a"}}), true},
		"a label":                 {role(plans.Update, plans.Change{Path: "metadata.labels.x", After: "y"}), false},
		"rules put back":          {role(plans.Update, plans.Change{Path: "rules", Before: []any{}, After: []any{rule("get")}, Drift: true}), false},
		"rules put back and more": {role(plans.Update, plans.Change{Path: "rules", Before: []any{}, After: []any{rule("get")}, Drift: true, Edited: true}), true},
		"another subject":         {action(t, plans.Update, group, "service.x/RoleBinding/x", plans.Change{Path: "subjects", Before: []any{who("a")}, After: []any{who("a"), who("b")}}), true},
		"one subject less":        {action(t, plans.Update, group, "service.x/RoleBinding/x", plans.Change{Path: "subjects", Before: []any{who("a"), who("b")}, After: []any{who("b")}}), false},
		"aggregation":             {action(t, plans.Update, group, "service.x/ClusterRole/x", plans.Change{Path: "aggregationRule", After: map[string]any{}}), true},
		"a Role of others":        {action(t, plans.Create, "example.org", "service.x/Role/x"), false},
	} {
		facts := policy.Facts(&plans.Plan{Actions: []plans.Action{test.action}})
		if got := len(facts.Impact.Rights) > 0; got != test.want {
			t.Errorf("%s: more rights: %v, want %v", name, got, test.want)
		}
	}
}

var fenced = regexp.MustCompile("(?ms)^```hcl\n(.*?)^```$")

// TestExamples evaluates the policies of docs/policies.md on plans.
func TestExamples(t *testing.T) {
	text, err := os.ReadFile("../../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	config := "cloud \"prod\" {\n  release = \"2025.1\"\n}\n"
	for _, match := range fenced.FindAllStringSubmatch(string(text), -1) {
		config += match[1]
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	loaded, diags := lang.Load(dir, lang.Options{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	restart := func(name, disruption string, causes ...string) configs.EffectFacts {
		e := configs.EffectFacts{Name: name, Disruption: disruption}
		for _, kind := range causes {
			e.Causes = append(e.Causes, configs.CauseFacts{Kind: kind})
		}
		return e
	}
	restarts := func(all ...configs.EffectFacts) configs.PlanFacts {
		return configs.PlanFacts{Impact: configs.ImpactFacts{Restarts: all}}
	}
	tests := map[string]struct {
		met, unmet configs.PlanFacts
		want       string
	}{
		"no-data-loss": {
			configs.PlanFacts{},
			configs.PlanFacts{Impact: configs.ImpactFacts{DataAtRisk: []configs.EffectFacts{{Name: "mariadb"}}}},
			"Data is lost: mariadb.",
		},
		"volumes-stay": {
			configs.PlanFacts{Actions: []configs.ActionFacts{{Kind: "PersistentVolumeClaim", Verb: "create"}, {Kind: "ConfigMap", Verb: "delete"}}},
			configs.PlanFacts{Actions: []configs.ActionFacts{{Kind: "PersistentVolumeClaim", Verb: "delete"}}},
			"Volumes are deleted.",
		},
		"data-plane": {
			restarts(restart("ovn", "no new ports"), restart("keystone", ""), restart("glance", ""), restart("libvirt", "no new servers")),
			restarts(restart("ovn", "x"), restart("ovs", "x"), restart("api", ""), restart("libvirt", "x")), "Too much at once: ovn, ovs, libvirt.",
		},
		"rights": {
			configs.PlanFacts{},
			configs.PlanFacts{Impact: configs.ImpactFacts{Rights: []string{"service.x/Role/x"}}},
			"More rights: service.x/Role/x.",
		},
		"one-thing-at-a-time": {
			restarts(restart("a", "", "image"), restart("b", "", "file", "environment")),
			restarts(restart("a", "", "image", "file")), "Image and config change together: a.",
		},
	}
	if len(loaded.Policies) != len(tests) {
		t.Errorf("%d policies, and %d tests", len(loaded.Policies), len(tests))
	}
	for _, p := range loaded.Policies {
		test := tests[p.Name]
		if d := p.Judge(test.met); d != nil {
			t.Errorf("%s: %s", p.Name, d.Detail)
		}
		if d := p.Judge(test.unmet); d == nil || !strings.Contains(d.Detail, test.want) {
			t.Errorf("%s: got %v, want %q", p.Name, d, test.want)
		}
	}
}

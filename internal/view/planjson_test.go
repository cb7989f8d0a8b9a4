package view_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"kolla.openstack.org/kolla/internal/golden"
	"kolla.openstack.org/kolla/internal/jsonview"
	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/plans"
)

// samplePlans are plans of every kind.
var samplePlans = map[string]func() *plans.Plan{
	"first": firstPlan, "drift": driftAndConfig, "replace": replaceAndDelete, "destroy": destroyAll,
	"many": manyUpdates, "unverified": unverified, "deferred": deferredPlan, "adopt": adoptAndForget, "long": longValues,
	"unchanged": unchanged(3, 1), "requested": requested, "refresh": refreshOnly, "part": partlyUnchanged,
	"losses": lossesAndOthers, "mixed": mixedDrift, "keys": keys,
	"outputs": outputsOnly, "replace-outputs": replaceWithOutputs, "kept drift": keptDrift, "unread": unreadOnly, "secrets": knownSecrets, "policies": judged, "upgrade": upgraded,
}

// planSchema is docs/plan.schema.json, but no object may have keys that it does
// not name: so that none is left undocumented. To readers it leaves them open.
func planSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	file, err := os.ReadFile("../../docs/plan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	closed(document)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("plan.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// closed forbids keys beyond the named ones in all objects of a schema.
func closed(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, named := s["properties"].(map[string]any); named {
			s["additionalProperties"] = false
		}
		for _, below := range s {
			closed(below)
		}
	case []any:
		for _, below := range s {
			closed(below)
		}
	}
}

func withValues(a plans.Action, values *plans.Values) plans.Action {
	a.Values = values
	return a
}

func planAsJSON(t *testing.T, plan *plans.Plan) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jsonview.Plan(&b, plan); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlanJSONSchema(t *testing.T) {
	schema := planSchema(t)
	for name, sample := range samplePlans {
		t.Run(name, func(t *testing.T) {
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(planAsJSON(t, sample())))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(document); err != nil {
				t.Error(err)
			}
		})
	}
}

// consumed are the plans of samplePlans that the tests of internal/consumers use.
var consumed = []string{"adopt", "drift", "first", "outputs", "policies", "replace", "replace-outputs", "unchanged"}

// TestPlanJSONGolden keeps plans as JSON. The tests of internal/consumers give them to the
// programs of others.
func TestPlanJSONGolden(t *testing.T) {
	for _, name := range consumed {
		golden.Compare(t, filepath.Join("..", "consumers", "testdata", name+".json"), planAsJSON(t, samplePlans[name]()))
	}
}

// changeOf is the change of one object, as programs read it.
func changeOf(t *testing.T, plan *plans.Plan, list, at string) map[string]any {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal(planAsJSON(t, plan), &document); err != nil {
		t.Fatal(err)
	}
	changes, _ := document[list].([]any)
	if list == "prunes" {
		changes, _ = document["kolla"].(map[string]any)[list].([]any)
		if len(document["resource_changes"].([]any)) > 0 {
			t.Errorf("what is pruned is among the resource changes: %v", document["resource_changes"])
		}
	}
	for _, c := range changes {
		if change, _ := c.(map[string]any); change["address"] == at {
			inner, _ := change["change"].(map[string]any)
			delete(change, "kolla")
			inner["reason"] = change["action_reason"]
			return inner
		}
	}
	t.Fatalf("%s has no %s", list, at)
	return nil
}

func TestPlanJSON(t *testing.T) {
	object := func(apiVersion, kind, name string, more m) m {
		o := m{"apiVersion": apiVersion, "kind": kind, "metadata": m{"name": name, "namespace": "openstack"}}
		for key, v := range more {
			o[key] = v
		}
		return o
	}
	part := func(values m) *extract.Part { return &extract.Part{Values: values} }
	before, after := object("v1", "Secret", "a", m{"data": m{"password": plans.Masked}}), object("v1", "Secret", "a", nil)
	updated := withValues(action(plans.Update, "service.a/Secret/a"), &plans.Values{
		Before:  &extract.Part{Values: before, Sensitive: m{"data": m{"password": true}}},
		After:   &extract.Part{Values: after, Sensitive: m{"data": m{"new": true}}, Unknown: m{"data": m{"password": true}}},
		Written: part(after),
	})
	same := withValues(action(plans.None, "service.a/Secret/a"), &plans.Values{Before: part(before)})
	created := withValues(action(plans.Create, "service.a/Secret/a"), &plans.Values{After: part(after)})
	deleted := withValues(action(plans.Delete, "service.a/Secret/a"), &plans.Values{Before: part(before)})
	deleted.Reasons = []plans.Reason{{Kind: plans.ReasonSuperseded}}
	drifted := updated
	drifted.Changes = []plans.Change{{Path: "x", Drift: true}}
	tests := map[string]struct {
		plan     *plans.Plan
		list, at string
		want     m
	}{
		"update": {newPlan(0, updated), "resource_changes", "service.a/Secret/a", m{
			"actions": []any{"update"}, "reason": nil, "before": before, "after": after,
			"after_unknown": m{"data": m{"password": true}}, "before_sensitive": m{"data": m{"password": true}}, "after_sensitive": m{"data": m{"new": true}},
		}},
		"unchanged": {newPlan(0, same), "resource_changes", "service.a/Secret/a", m{
			"actions": []any{"no-op"}, "reason": nil, "before": before, "after": before,
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
		"created": {newPlan(0, created), "resource_changes", "service.a/Secret/a", m{
			"actions": []any{"create"}, "reason": nil, "before": nil, "after": after,
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
		"pruned": {newPlan(0, deleted), "prunes", "service.a/Secret/a", m{
			"actions": []any{"delete"}, "reason": nil, "before": before, "after": nil,
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
		"drift": {newPlan(0, drifted), "resource_drift", "service.a/Secret/a", m{
			"actions": []any{"update"}, "reason": nil, "before": after, "after": before,
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{"data": m{"password": true}},
		}},
		"reported": {keptDrift(), "resource_drift", "service.glance/Deployment/glance-api", m{
			"actions": []any{"update"}, "reason": nil, "before": m{"spec": m{}}, "after": m{"spec": m{"paused": true}},
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
		"replaced value": {keptDrift(), "resource_drift", "service.keystone/Secret/keystone-admin", m{
			"actions": []any{"update"}, "reason": nil, "before": m{"data": m{"value": plans.Masked}}, "after": m{"data": m{"value": plans.Masked}},
			"after_unknown": m{}, "before_sensitive": m{"data": m{"value": true}}, "after_sensitive": m{"data": m{"value": true}},
		}},
		"imported": {knownSecrets(), "resource_changes", "service.mariadb/Secret/mariadb-root", m{
			"actions": []any{"update"}, "reason": nil, "before": nil, "after": nil,
			"importing":     m{"id": "apiVersion=v1,kind=Secret,namespace=openstack,name=mariadb-root"},
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
		"deleted by others": {driftAndConfig(), "resource_drift", "service.nova/Service/nova-metadata", m{
			"actions": []any{"delete"}, "reason": nil, "before": object("v1", "Service", "nova-metadata", nil), "after": nil,
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
		"replace": {replaceAndDelete(), "resource_changes", "service.keystone/Service/keystone", m{
			"actions": []any{"delete", "create"}, "reason": "replace_because_cannot_update", "replace_paths": []any{[]any{"spec", "clusterIP"}},
			"before": nil, "after": nil, "after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
		"delete": {replaceAndDelete(), "resource_changes", "service.redis/Service/redis", m{
			"actions": []any{"delete"}, "reason": "delete_because_no_resource_config", "before": nil, "after": nil,
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := changeOf(t, test.plan, test.list, test.at)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
		})
	}
}

// TestImpactOfDiff checks that each impact has the lines about its own block, if other blocks
// have lines, too.
func TestImpactOfDiff(t *testing.T) {
	plan := newPlan(0, action(plans.Update, "service.a/ConfigMap/a"), action(plans.Update, "service.b/Deployment/b"))
	plan.Renderings = &plans.Renderings{Base: "main (3f2a1c9)", Head: "the working tree"}
	plan.Impact = []plans.Impact{disturbs("service.b", restarts(3, plans.Cause{Kind: plans.CauseResources}))}
	var out struct {
		Kolla struct {
			Impact []struct {
				Block string
				Lines []string
			}
		}
	}
	if err := json.Unmarshal(planAsJSON(t, plan), &out); err != nil {
		t.Fatal(err)
	}
	got := out.Kolla.Impact
	if len(got) != 1 || got[0].Block != "service.b" || len(got[0].Lines) != 2 || !strings.Contains(got[0].Lines[1], "3 pods restart") {
		t.Errorf("the impact is %+v", got)
	}
}

// driftOnly puts back what somebody scaled.
func driftOnly() *plans.Plan {
	return newPlan(0, because(action(plans.Update, "service.glance/Deployment/glance-api",
		plans.Change{Path: "spec.replicas", Before: int64(5), After: int64(3), Drift: true, Manager: "kubectl", Time: now}),
		plans.Reason{Kind: plans.ReasonDrift}))
}

// TestDriftChanges holds the direction of what others did: from what kolla wrote to what
// is live, whoever puts it back.
func TestDriftChanges(t *testing.T) {
	refresh := refreshOnly()
	refresh.Actions[3].Verb = plans.Refresh
	tests := map[string]struct {
		plan *plans.Plan
		want []any
	}{
		"put back": {driftOnly(), []any{m{"path": "spec.replicas", "before": 3.0, "after": 5.0}}},
		"refresh":  {refresh, []any{m{"path": "spec.replicas", "before": 3.0, "after": 5.0}}},
		"reported": {keptDrift(), []any{m{"path": "spec.paused", "after": true}, m{"path": `spec.template.spec.containers["api"].env`, "after": []any{m{"name": "EXTRA", "value": "1"}}}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var document struct {
				Drift []struct {
					Kolla struct{ Changes []any }
				} `json:"resource_drift"`
			}
			if err := json.Unmarshal(planAsJSON(t, test.plan), &document); err != nil {
				t.Fatal(err)
			}
			got := document.Drift[0].Kolla.Changes
			for _, c := range got {
				for _, key := range []string{"drift", "manager", "time"} {
					delete(c.(m), key)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlanJSONSaysWhatItIs holds what tells plans apart as a whole.
func TestPlanJSONSaysWhatItIs(t *testing.T) {
	type whole struct {
		Applyable bool `json:"applyable"`
		Complete  bool `json:"complete"`
		Kolla     struct {
			Destroy     bool             `json:"destroy"`
			RefreshOnly bool             `json:"refresh_only"`
			Drifted     bool             `json:"drifted"`
			Selection   *plans.Selection `json:"selection"`
		} `json:"kolla"`
	}
	var w whole
	read := func(plan *plans.Plan) whole {
		w = whole{}
		if err := json.Unmarshal(planAsJSON(t, plan), &w); err != nil {
			t.Fatal(err)
		}
		return w
	}
	if w := read(unchanged(3, 0)()); w.Applyable || !w.Complete || w.Kolla.Drifted {
		t.Errorf("an empty plan says %+v", w)
	}
	if w := read(requested()); !w.Applyable || w.Complete || w.Kolla.Selection == nil || w.Kolla.Selection.Targets[0] != "service.nova" {
		t.Errorf("a restricted plan says %+v", w)
	}
	if w := read(refreshOnly()); !w.Kolla.RefreshOnly || !w.Kolla.Drifted {
		t.Errorf("a refresh says %+v", w)
	}
	if w := read(destroyAll()); !w.Kolla.Destroy {
		t.Errorf("a destroy says %+v", w)
	}
}

// TestPlanJSONOfKeys holds where Terraform has modules and keys.
func TestPlanJSONOfKeys(t *testing.T) {
	type named struct {
		Address string `json:"address"`
		Module  string `json:"module_address"`
		Name    string `json:"name"`
		Index   any    `json:"index"`
		Reason  string `json:"action_reason"`
	}
	type module struct {
		Address   string   `json:"address"`
		Resources []named  `json:"resources"`
		Children  []module `json:"child_modules"`
	}
	var got struct {
		Values struct {
			Root module `json:"root_module"`
		} `json:"planned_values"`
		Changes []named `json:"resource_changes"`
	}
	const (
		image = `module.edge["west"].module.web[0].service.site["a.b"]/Deployment/site`
		count = "service.numbered[1]/Deployment/numbered-1"
	)
	there := &plans.Values{After: &extract.Part{Values: m{}}}
	plan := newPlan(0, withValues(create(image, "", m{}), there), withValues(create("module.edge[\"west\"].manifest.note/ConfigMap/note", "", m{}), there), withValues(create(count, "", m{}), there),
		because(action(plans.Replace, "service.plain/Deployment/plain"), plans.Reason{Kind: plans.ReasonTriggered, Detail: "service.numbered"}))
	if err := json.Unmarshal(planAsJSON(t, plan), &got); err != nil {
		t.Fatal(err)
	}
	west := `module.edge["west"]`
	wantRoot := module{
		Resources: []named{{Address: count, Name: "numbered-1", Index: 1.0}},
		Children: []module{{
			Address: west, Resources: []named{{Address: west + ".manifest.note/ConfigMap/note", Name: "note"}},
			Children: []module{{Address: west + ".module.web[0]", Resources: []named{{Address: image, Name: "site", Index: "a.b"}}}},
		}},
	}
	if diff := cmp.Diff(wantRoot, got.Values.Root); diff != "" {
		t.Errorf("planned values (-want +got):\n%s", diff)
	}
	wantChanges := []named{
		{image, west + ".module.web[0]", "site", "a.b", ""},
		{west + ".manifest.note/ConfigMap/note", west, "note", nil, ""},
		{count, "", "numbered-1", 1.0, ""},
		{"service.plain/Deployment/plain", "", "plain", nil, "replace_by_triggers"},
	}
	if diff := cmp.Diff(wantChanges, got.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestPlanJSONNeedsValues has a plan file refused that does not have them.
func TestPlanJSONNeedsValues(t *testing.T) {
	plan := newPlan(1)
	plan.Values = false
	var b bytes.Buffer
	if err := jsonview.Plan(&b, plan); err == nil || !strings.Contains(err.Error(), "Plan again with -out") || b.Len() > 0 {
		t.Errorf("it says %v, and prints %q", err, &b)
	}
}

// TestJSONKeepsSecrets puts values where there should be none.
func TestJSONKeepsSecrets(t *testing.T) {
	leaky := newPlan(0, action(plans.Update, "service.keystone/Secret/keystone-admin",
		plans.Change{Path: `data["password"]`, Before: "hunter2", After: "hunter2", Sensitive: true, Drift: true}))
	var events bytes.Buffer
	p := view.New(&bytes.Buffer{}, &bytes.Buffer{}, true)
	p.Events = jsonview.New(&events, "v1")
	if err := p.Plan(leaky, view.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{"events": events.String(), "plan": string(planAsJSON(t, leaky))} {
		if strings.Contains(out, "hunter2") {
			t.Errorf("the %s have a secret value: %s", name, out)
		}
	}
}

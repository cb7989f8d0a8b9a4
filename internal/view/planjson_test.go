package view_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/planner"
)

// samplePlans are plans of every kind.
var samplePlans = map[string]func() *planner.Plan{
	"first": firstPlan, "drift": driftAndConfig, "replace": replaceAndDelete, "destroy": destroyAll,
	"many": manyUpdates, "unverified": unverified, "deferred": deferredPlan, "adopt": adoptAndForget, "long": longValues,
	"unchanged": unchanged(3, 1), "requested": requested, "refresh": refreshOnly, "part": partlyUnchanged,
	"losses": lossesAndOthers, "mixed": mixedDrift, "keys": keys,
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

func planAsJSON(t *testing.T, plan *planner.Plan) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := view.PlanJSON(&b, plan); err != nil {
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

// changeOf is the change of one object, as programs read it.
func changeOf(t *testing.T, plan *planner.Plan, list, at string) map[string]any {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal(planAsJSON(t, plan), &document); err != nil {
		t.Fatal(err)
	}
	changes, _ := document[list].([]any)
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
	lists := newPlan(0, action(planner.Update, "service.a/Deployment/a",
		planner.Change{Path: `spec.template.spec.containers["api"].image`, Before: "old", After: "new"},
		planner.Change{Path: `spec.template.spec.containers["api"].ports[80/TCP]`, Before: m{"containerPort": 80, "protocol": "TCP"}},
		planner.Change{Path: `spec.template.spec.containers["side"]`, After: m{"name": "side", "image": "x"}},
		planner.Change{Path: `metadata.annotations["example.org/a"]`, After: "1"},
		planner.Change{Path: `spec.hosts[0]`, Before: "a", After: "b"}))
	secretPlan := newPlan(0, secret("service.keystone/Secret/keystone-admin", "cloud.hcl:41", password()))
	generated := newPlan(0, action(planner.Update, "service.a/Secret/a",
		planner.Change{Path: `data["password"]`, Before: planner.Masked, After: planner.Unknown, Sensitive: true}))
	tests := map[string]struct {
		plan     *planner.Plan
		list, at string
		want     m
	}{
		"update with lists": {lists, "resource_changes", "service.a/Deployment/a", m{
			"actions": []any{"update"}, "reason": nil,
			"before": object("v1", "Deployment", "a", m{"spec": m{
				"hosts":    []any{"a"},
				"template": m{"spec": m{"containers": []any{m{"name": "api", "image": "old", "ports": []any{m{"containerPort": 80.0, "protocol": "TCP"}}}}}},
			}}),
			"after": m{
				"apiVersion": "v1", "kind": "Deployment", "metadata": m{"name": "a", "namespace": "openstack", "annotations": m{"example.org/a": "1"}},
				"spec": m{"hosts": []any{"b"}, "template": m{"spec": m{"containers": []any{m{"name": "api", "image": "new"}, m{"name": "side", "image": "x"}}}}},
			},
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
		"generated secret": {secretPlan, "resource_changes", "service.keystone/Secret/keystone-admin", m{
			"actions": []any{"create"}, "reason": nil, "before": nil,
			"after":         object("v1", "Secret", "keystone-admin", m{"type": "Opaque", "data": m{"password": planner.Masked}}),
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{"data": m{"password": true}},
		}},
		"value that is not known yet": {generated, "resource_changes", "service.a/Secret/a", m{
			"actions": []any{"update"}, "reason": nil,
			"before":        object("v1", "Secret", "a", m{"data": m{"password": planner.Masked}}),
			"after":         object("v1", "Secret", "a", nil),
			"after_unknown": m{"data": m{"password": true}}, "before_sensitive": m{"data": m{"password": true}}, "after_sensitive": m{"data": m{"password": true}},
		}},
		"replace": {replaceAndDelete(), "resource_changes", "service.keystone/Service/keystone", m{
			"actions": []any{"delete", "create"}, "reason": "replace_because_cannot_update", "replace_paths": []any{[]any{"spec", "clusterIP"}},
			"before":        object("v1", "Service", "keystone", m{"spec": m{"clusterIP": "None", "ports": []any{m{"name": "public", "nodePort": 30500.0}}}}),
			"after":         object("v1", "Service", "keystone", m{"spec": m{"ports": []any{m{"name": "public", "nodePort": 30501.0}}}}),
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
		"delete": {replaceAndDelete(), "resource_changes", "service.redis/Service/redis", m{
			"actions": []any{"delete"}, "reason": "delete_because_no_resource_config",
			"before": object("v1", "Service", "redis", nil), "after": nil,
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
		"drift, the other way round": {driftOnly(), "resource_drift", "service.glance/Deployment/glance-api", m{
			"actions": []any{"update"}, "reason": nil,
			"before":        object("v1", "Deployment", "glance-api", m{"spec": m{"replicas": 3.0}}),
			"after":         object("v1", "Deployment", "glance-api", m{"spec": m{"replicas": 5.0}}),
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
		"declared, and not applied": {lossesAndOthers(), "resource_changes", "service.glance/Deployment/glance-api", m{
			"actions": []any{"no-op"}, "reason": nil,
			"before":        object("v1", "Deployment", "glance-api", m{"spec": m{"replicas": 6.0}}),
			"after":         object("v1", "Deployment", "glance-api", m{"spec": m{"replicas": 6.0}}),
			"after_unknown": m{}, "before_sensitive": m{}, "after_sensitive": m{},
		}},
		"drift of a refresh": {refreshOnly(), "resource_drift", "service.glance/Deployment/glance-api", m{
			"actions": []any{"update"}, "reason": nil,
			"before":        object("v1", "Deployment", "glance-api", m{"spec": m{"replicas": 3.0}}),
			"after":         object("v1", "Deployment", "glance-api", m{"spec": m{"replicas": 5.0}}),
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

// driftOnly puts back what somebody scaled.
func driftOnly() *planner.Plan {
	return newPlan(0, because(action(planner.Update, "service.glance/Deployment/glance-api",
		planner.Change{Path: "spec.replicas", Before: int64(5), After: int64(3), Drift: true, Manager: "kubectl", Time: now}),
		planner.Reason{Kind: planner.ReasonDrift}))
}

// TestPlanJSONSaysWhatItIs holds what tells plans apart as a whole.
func TestPlanJSONSaysWhatItIs(t *testing.T) {
	type whole struct {
		Applyable bool `json:"applyable"`
		Complete  bool `json:"complete"`
		Kolla     struct {
			Destroy     bool               `json:"destroy"`
			RefreshOnly bool               `json:"refresh_only"`
			Drifted     bool               `json:"drifted"`
			Selection   *planner.Selection `json:"selection"`
		} `json:"kolla"`
	}
	var w whole
	read := func(plan *planner.Plan) whole {
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
	plan := newPlan(0, create(image, "", m{}), create("module.edge[\"west\"].manifest.note/ConfigMap/note", "", m{}), create(count, "", m{}),
		because(action(planner.Replace, "service.plain/Deployment/plain"), planner.Reason{Kind: planner.ReasonTriggered, Detail: "service.numbered"}))
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

// TestJSONKeepsSecrets puts values where there should be none.
func TestJSONKeepsSecrets(t *testing.T) {
	leaky := newPlan(0, action(planner.Update, "service.keystone/Secret/keystone-admin",
		planner.Change{Path: `data["password"]`, Before: "hunter2", After: "hunter2", Sensitive: true, Drift: true}))
	var events bytes.Buffer
	p := view.New(&bytes.Buffer{}, &bytes.Buffer{}, true)
	p.Events(&events, "v1")
	if err := p.Plan(leaky, view.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{"events": events.String(), "plan": string(planAsJSON(t, leaky))} {
		if strings.Contains(out, "hunter2") {
			t.Errorf("the %s have a secret value: %s", name, out)
		}
	}
}

package view_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/planner/plans"
)

// samplePlans contains plans of every kind.
var samplePlans = map[string]func() *plans.Plan{
	"errors": serviceGone, "first": firstPlan, "drift": driftAndConfig, "replace": replaceAndDelete, "destroy": destroyAll,
	"many": manyUpdates, "unverified": unverified, "deferred": deferredPlan, "adopt": adoptAndForget, "long": longValues,
	"unchanged": unchanged(3, 1), "requested": requested, "refresh": refreshOnly, "part": partlyUnchanged,
	"losses": lossesAndOthers, "mixed": mixedDrift, "keys": keys,
	"outputs": outputsOnly, "replace-outputs": replaceWithOutputs, "kept drift": keptDrift, "unread": unreadOnly, "secrets": knownSecrets, "policies": judged, "upgrade": upgraded,
}

// planSchema returns docs/plan.schema.json. Unlike the original, it does not allow additional
// properties, so that the test finds keys that are not documented.
func planSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	file, err := os.ReadFile("../../../docs/plan.schema.json")
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

// closed forbids additional properties in all objects of a schema.
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

// consumed lists the plans in samplePlans that the tests of internal/dev/consumers use.
var consumed = []string{"adopt", "drift", "first", "outputs", "policies", "replace", "replace-outputs", "unchanged"}

// TestPlanJSONGolden compares plans in JSON with golden files. The tests of internal/dev/consumers
// give these files to third-party programs.
func TestPlanJSONGolden(t *testing.T) {
	for _, name := range consumed {
		golden.Compare(t, filepath.Join("..", "..", "dev", "consumers", "testdata", name+".json"), planAsJSON(t, samplePlans[name]()))
	}
}

// TestImpactOfDiff checks that each impact contains only the lines of its own block.
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

// driftOnly is a plan that only reverts a scaled Deployment.
func driftOnly() *plans.Plan {
	return newPlan(0, because(action(plans.Update, "service.glance/Deployment/glance-api",
		plans.Change{Path: "spec.replicas", Before: int64(5), After: int64(3), Drift: true, Manager: "kubectl", Time: now}),
		plans.Reason{Kind: plans.ReasonDrift}))
}

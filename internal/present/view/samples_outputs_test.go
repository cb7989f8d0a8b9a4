package view_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"

	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// outputsOnly changes only outputs.
func outputsOnly() *plans.Plan {
	p := newPlan(3)
	value := func(name, typ, value string) *state.Output {
		return &state.Output{Name: name, Type: json.RawMessage(typ), Value: json.RawMessage(value)}
	}
	p.Outputs = []output.Change{
		{Name: "address", Before: value("address", `"string"`, `"a"`), After: value("address", `"string"`, `"a"`)},
		{Name: "gone", Before: value("gone", `"bool"`, `true`)},
		{Name: "host", After: &state.Output{Name: "host"}, Unknown: true},
		{Name: "hosts", Before: value("hosts", `["list","string"]`, `["a"]`), After: &state.Output{Name: "hosts"}, Unknown: true},
		{Name: "password", After: &state.Output{Name: "password", Sensitive: true}},
		{Name: "size", Before: value("size", `"number"`, "2"), After: value("size", `"number"`, "3")},
	}
	p.Checks = []state.CheckResult{
		{Address: "check.size", Status: "fail", Problems: []string{"It is 3."}},
		{Address: `module.edge["a"].check.spread`, Status: "unknown"},
	}
	p.Variables = map[string]json.RawMessage{"size": json.RawMessage(`{"value":3,"type":"number"}`)}
	return p
}

// replaceWithOutputs deletes objects and changes outputs.
func replaceWithOutputs() *plans.Plan {
	p := replaceAndDelete()
	p.Outputs = outputsOnly().Outputs
	return p
}

// TestPlanJSONForTerraform reads plans with the library that other programs use for Terraform's
// plans.
func TestPlanJSONForTerraform(t *testing.T) {
	for name, sample := range samplePlans {
		t.Run(name, func(t *testing.T) {
			var read tfjson.Plan
			if err := json.Unmarshal(planAsJSON(t, sample()), &read); err != nil {
				t.Fatal(err)
			}
			if err := read.Validate(); err != nil {
				t.Error(err)
			}
			want := sample().Counts()
			got := plans.Counts{Deferred: want.Deferred, Move: want.Move, Import: want.Import}
			for _, c := range read.ResourceChanges {
				switch actions := c.Change.Actions; {
				case c.Change.Importing != nil:
					if actions.Update() {
						got.Change++
					}
				case actions.Create():
					got.Add++
				case actions.Update() && c.PreviousAddress == "":
					got.Change++
				case actions.Delete():
					got.Destroy++
				case actions.Replace():
					got.Add++
					got.Destroy++
				case actions.Forget():
					got.Forget++
				}
			}
			got.Prune = want.Prune
			if name == "keys" { // one object both moves and changes
				got.Change++
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the resource changes do not add up to the text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutputsForTerraform(t *testing.T) {
	var read tfjson.Plan
	if err := json.Unmarshal(planAsJSON(t, outputsOnly()), &read); err != nil {
		t.Fatal(err)
	}
	type change struct {
		Actions                       tfjson.Actions
		Before, After, Unknown        any
		BeforeSensitive, SensitiveNow any
	}
	got := map[string]change{}
	for name, c := range read.OutputChanges {
		got[name] = change{c.Actions, c.Before, c.After, c.AfterUnknown, c.BeforeSensitive, c.AfterSensitive}
	}
	want := map[string]change{
		"address":  {tfjson.Actions{"no-op"}, "a", "a", false, false, false},
		"gone":     {tfjson.Actions{"delete"}, true, nil, false, false, false},
		"host":     {tfjson.Actions{"create"}, nil, nil, true, false, false},
		"hosts":    {tfjson.Actions{"update"}, []any{"a"}, nil, true, false, false},
		"password": {tfjson.Actions{"create"}, nil, plans.Masked, false, false, true},
		"size":     {tfjson.Actions{"update"}, 2.0, 3.0, false, false, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("output changes (-want +got):\n%s", diff)
	}
	if size := read.Variables["size"]; size == nil || size.Value != 3.0 {
		t.Errorf("variables are %v", read.Variables)
	}
	if after := read.PlannedValues.Outputs["size"]; after == nil || after.Value != 3.0 {
		t.Errorf("planned outputs are %v", read.PlannedValues.Outputs)
	}
	if len(read.Checks) != 2 || read.Checks[0].Status != tfjson.CheckStatusFail || read.Checks[0].Instances[0].Problems[0].Message != "It is 3." || read.Checks[1].Address.Module != `module.edge["a"]` {
		t.Errorf("checks are %+v", read.Checks)
	}
}

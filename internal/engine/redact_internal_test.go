package engine

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/redaction"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
)

// A plan keeps no secret value that others wrote into an object, and everything that the
// configuration declares in the open.
func TestRedactPlan(t *testing.T) {
	const value = "hunter2-hunter2"
	secrets := &redaction.Values{}
	secrets.Add(value)
	secrets.Add("mariadb.openstack.svc")
	declared := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"mariadb.openstack.svc": "1", "my.cnf": "host = mariadb.openstack.svc\nport = 3306\n"},
	}}
	plan := &plans.Plan{
		Actions: []plans.Action{{
			Verb: plans.Update, Address: addrs.Object{Block: "manifest.m", Kind: "ConfigMap", Name: "m"},
			Object: &providers.Object{Manifest: declared},
			Changes: []plans.Change{
				{Path: `metadata.annotations["note"]`, Before: "was " + value, Manager: "by-" + value},
				{Path: `metadata.annotations["` + value + `"]`, Before: "1"},
				{Path: `data["mariadb.openstack.svc"]`, After: "1"},
				{Path: `data["my.cnf"]`, Before: "host = mariadb.openstack.svc\nport = 3307\n# " + value + "\n", After: "host = mariadb.openstack.svc\nport = 3306\n"},
			},
			Values: &plans.Values{Before: &extract.Part{
				Values:    map[string]any{"a": []any{value, int64(5)}, value: "1"},
				Sensitive: map[string]any{value: true}, Unknown: map[string]any{value: true},
			}},
			Yields:   []plans.Yield{{Path: "data." + value, Field: `{"f:data":{"f:` + value + `":{}}}`, Live: value, Value: value, Manager: "by-" + value}},
			Reasons:  []plans.Reason{{Kind: plans.ReasonDrift, Path: "data." + value, Manager: "by-" + value, Detail: value}},
			Removes:  `{"f:data":{"f:mariadb.openstack.svc":{},"f:` + value + `":{}}}`,
			Evidence: plans.Evidence{Kind: plans.Unverified, Detail: "it said " + value},
		}},
		Foreign: []plans.Foreign{{Fields: []plans.Change{{Path: "data." + value, Before: map[string]any{"a": value}}}}},
		Impact: []plans.Impact{{Effects: []plans.Effect{{
			Why:    []plans.Reason{{Manager: value}},
			Causes: []plans.Cause{{Name: value, Before: value, After: value, Settings: []string{value}}}, Carried: []plans.Carried{{Items: []string{value}, Unknown: value}},
		}}}},
	}
	was := plan.Actions[0]
	was.Changes, was.Yields = slices.Clone(was.Changes), slices.Clone(was.Yields)
	kept := redactPlan(plan, secrets)
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") {
		t.Errorf("the plan has the value: %s", text)
	}
	if got, want := plan.Actions[0].Changes[3].Before, "host = mariadb.openstack.svc\nport = 3307\n# "+redaction.Mask+"\n"; got != want {
		t.Errorf("before is %q, want %q", got, want)
	}
	if got := plan.Actions[0].Changes[3].After; got != "host = mariadb.openstack.svc\nport = 3306\n" {
		t.Errorf("after is %q", got)
	}
	if got, want := plan.Actions[0].Changes[2].Path, `data["mariadb.openstack.svc"]`; got != want {
		t.Errorf("the path of a declared key is %s", got)
	}
	if got, want := plan.Actions[0].Removes, `{"f:data":{"f:mariadb.openstack.svc":{},"f:`+redaction.Mask+`":{}}}`; got != want {
		t.Errorf("it removes %s, want %s", got, want)
	}
	if part := plan.Actions[0].Values.Before; part.Sensitive[redaction.Mask] != true || part.Unknown[redaction.Mask] != true || part.Values[redaction.Mask] != "1" {
		t.Errorf("the shapes of the sides differ: %+v", part)
	}
	// An apply sends and compares what is there.
	is := carriedOut(plan, kept).Actions[0]
	if !reflect.DeepEqual(is.Changes, was.Changes) || !reflect.DeepEqual(is.Yields, was.Yields) || is.Removes != was.Removes {
		t.Errorf("an apply has %+v, want %+v", is, was)
	}
	if plan.Actions[0].Removes == was.Removes {
		t.Error("carriedOut changes the plan")
	}
	if redaction.Mask != plans.Masked {
		t.Errorf("a value is masked as %q, and in a plan as %q", redaction.Mask, plans.Masked)
	}
}

func TestRedactClaim(t *testing.T) {
	secrets := &redaction.Values{}
	secrets.Add("hunter2-hunter2")
	claim := &planner.Claimant{Claim: trust.Claim{
		Traces: trust.Traces{Writers: []trust.Writer{{Manager: "by-hunter2-hunter2"}}}, Doubts: []string{"hunter2-hunter2"}, Remarks: []string{"by hunter2-hunter2"},
	}}
	redactClaim(claim, secrets)
	if all := claim.Writers[0].Manager + claim.Doubts[0] + claim.Remarks[0]; strings.Contains(all, "hunter2") {
		t.Errorf("the claim has the value: %q", all)
	}
}

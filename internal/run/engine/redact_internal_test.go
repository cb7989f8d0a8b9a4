package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
)

// TestRedactPlan checks that a plan contains no secret value that another client wrote into an
// object, and that everything the configuration declares stays readable.
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
			Causes: []plans.Cause{{Name: value, Before: value, After: value, Settings: []string{value}}},
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
	// An apply sends and compares the real values.
	is := carriedOut(plan, kept).Actions[0]
	for i, y := range is.Yields {
		// The state records path and manager, so they stay masked.
		if text := y.Path + y.Manager; strings.Contains(text, "hunter2") || strings.Count(text, redaction.Mask) != 2 {
			t.Errorf("a record has %s", text)
		}
		is.Yields[i].Path, is.Yields[i].Manager = was.Yields[i].Path, was.Yields[i].Manager
	}
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

// TestDeclaredNamesStay checks that declared keys of Secrets and list elements are not masked, even
// if a secret value is the same text.
func TestDeclaredNamesStay(t *testing.T) {
	secrets := &redaction.Values{}
	for _, value := range []string{"password", "data", "admin", "hunter2-hunter2"} {
		secrets.Add(value)
	}
	secret := author{secrets: secrets, object: &providers.Object{
		Manifest: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}},
		Data:     map[string]providers.SecretData{"password": {}},
	}}
	pod := author{secrets: secrets, object: &providers.Object{Manifest: &unstructured.Unstructured{Object: map[string]any{
		"kind": "Pod", "spec": map[string]any{"containers": []any{map[string]any{"name": "admin"}}, "args": []any{"password"}},
	}}}}
	for text, test := range map[string]struct {
		from author
		want string
	}{
		`data["password"]`:                {secret, `data["password"]`},
		`{"f:data":{"f:password":{}}}`:    {secret, `{"f:data":{"f:password":{}}}`},
		`data["hunter2-hunter2"]`:         {secret, `data["` + redaction.Mask + `"]`},
		`spec.containers["admin"].image`:  {pod, `spec.containers["admin"].image`},
		`{"k:{\"name\":\"admin\"}":{}}`:   {pod, `{"k:{\"name\":\"admin\"}":{}}`},
		`{"v:\"password\"":{}}`:           {pod, `{"v:\"password\"":{}}`},
		`{"v:\"hunter2-hunter2\"":{}}`:    {pod, `{"v:\"` + redaction.Mask + `\"":{}}`},
		`{"k:{\"name\":\"data\"}":{}}`:    {pod, `{"k:{\"name\":\"` + redaction.Mask + `\"}":{}}`},
		`{"k:{\"containerPort\":80}":{}}`: {pod, `{"k:{\"containerPort\":80}":{}}`},
	} {
		if got := test.from.path(text); got != test.want {
			t.Errorf("%s is %s, want %s", text, got, test.want)
		}
	}
}

// TestRedactError checks that errors do not contain names that other clients chose, if these are
// secret values.
func TestRedactError(t *testing.T) {
	secrets := &redaction.Values{}
	for _, value := range []string{"hunter2-hunter2", "s3cret"} {
		secrets.Add(value)
	}
	ref := providers.Ref{Name: "m"}
	object := &providers.Object{Manifest: &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"s3cret": "1"}}}}
	for want, err := range map[string]error{
		"m: fields are owned by others: .data.a by by-" + redaction.Mask: &providers.ConflictError{Ref: ref, Conflicts: []providers.Conflict{{Manager: "by-hunter2-hunter2", Path: ".data.a"}}},
		"m: fields are owned by others: .data.a by " + redaction.Mask:    &providers.ConflictError{Ref: ref, Conflicts: []providers.Conflict{{Manager: "s3cret", Path: ".data.a"}}},
		`would now also change metadata.annotations["` + redaction.Mask:  &executor.MovedError{Ref: ref, Changes: []plans.Change{{Path: `metadata.annotations["hunter2-hunter2"]`}}},
		`would now also change data["s3cret"]`:                           &executor.MovedError{Ref: ref, Changes: []plans.Change{{Path: `data["s3cret"]`}}},
		"it said " + redaction.Mask:                                      errors.New("it said hunter2-hunter2"),
	} {
		got := redactError(fmt.Errorf("apply: %w", err), object, secrets)
		if !strings.Contains(got.Error(), want) || strings.Contains(got.Error(), "hunter2") || !errors.Is(got, err) {
			t.Errorf("%v, want %s", got, want)
		}
	}
	if err := redactError(nil, object, secrets); err != nil {
		t.Errorf("no error is %v", err)
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

package view_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/planner/plans"
)

// TestElements checks the text of each list element.
func TestElements(t *testing.T) {
	tests := map[string]struct {
		at     string
		change plans.Change
		want   string
	}{
		"a rule": {
			"manifest.a/Role/a",
			plans.Change{Path: "rules", Before: []any{rule("secrets", "get")}, After: []any{rule("*", "*")}},
			`~ rules[0]   secrets: get → *: *`,
		},
		"more than a rule": { // a custom resource whose rule has an additional field
			"manifest.a/Role/a",
			plans.Change{Path: "rules", Before: []any{rule("secrets", "get")}, After: []any{m{"verbs": []any{"get"}, "resources": []any{"secrets"}, "apiGroups": []any{""}, "as": "root"}}},
			`+ rules[0].as   "root"`,
		},
		"rules that were not there": {
			"manifest.a/Role/a",
			plans.Change{Path: "rules", After: []any{rule("secrets", "get"), rule("pods", "get")}},
			`+ rules[0]   secrets: get
+ rules[1]   pods: get`,
		},
		"null": {
			"manifest.a/Thing/a",
			plans.Change{Path: "spec.list", Before: []any{}, After: []any{nil}},
			`+ spec.list[0]   null`,
		},
		"another type": {
			"manifest.a/Thing/a",
			plans.Change{Path: "spec.list", Before: []any{"a"}, After: "a"},
			`~ spec.list   ["a"] → "a"`,
		},
		"a sensitive list": {
			"manifest.a/Secret/a",
			plans.Change{Path: "data", Before: []any{"hunter2"}, After: []any{"hunter3"}, Sensitive: true},
			`~ data   (sensitive value)`,
		},
		"lists in a list": {
			"manifest.a/Thing/a",
			plans.Change{Path: "spec.list", Before: []any{[]any{"a", "b"}, []any{"c"}}, After: []any{[]any{"a", "x"}, []any{"c"}}},
			`~ spec.list[0][1]   "b" → "x"`,
		},
		"a new order": {
			"manifest.a/Thing/a",
			plans.Change{Path: "spec.list", Before: []any{"a", "b"}, After: []any{"b", "a"}},
			`~ spec.list   ["a","b"] → ["b","a"]`,
		},
		"a map that has no room": {
			"manifest.a/Thing/a",
			plans.Change{Path: "spec.map", Before: m{"a": strings.Repeat("x", 60), "b.c": "1"}, After: m{"a": strings.Repeat("x", 60), "b.c": "2"}},
			`~ spec.map["b.c"]   "1" → "2"`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sample := func() *plans.Plan { return newPlan(0, action(plans.Update, test.at, test.change)) }
			var got []string
			for _, l := range strings.Split(string(capture(80, false, plan(sample, view.PlanOptions{}))), "\n") {
				if body, ok := strings.CutPrefix(l, "    "); ok {
					got = append(got, body)
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
